// Vectors of texts from an encoder.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "heed/base/fields.h"
#include "heed/model/model.h"

namespace heed {

// Which of the last block's vectors become that of the text.
enum class Pooling { kMean, kFirst };
template <>
struct EnumNames<Pooling> {
  static constexpr std::pair<Pooling, const char*> names[] = {{Pooling::kMean, "mean"},
                                                              {Pooling::kFirst, "first"}};
};

}  // namespace heed

namespace heed::infer {

// Throws for a model that is not an encoder.
void require_encoder(const spec::ModelSpec& spec);

class Embedder {
 public:
  // Of an encoder, whose head is not used.
  Embedder(const spec::ModelSpec& spec, Pooling pooling, bool normalize, const model::Source& weights);

  int64_t width() const { return spec_.width; }
  // The most tokens that a text may have.
  int64_t longest() const { return spec_.embedding.context; }
  // A vector for each text, in the order of the texts. These are tokens as the model reads them, [CLS] and
  // [SEP] included, from 1 to longest(). Texts of about one length are read together, the shorter ones
  // padded; which others are read with a text does not change its vector beyond rounding.
  std::vector<std::vector<float>> embed(std::span<const std::vector<int32_t>> texts);
  // The last block's vector of each token of a text, [tokens, width()].
  std::vector<float> hidden(const std::vector<int32_t>& text);

 private:
  // A program for so many texts of so many tokens; the last one made is kept.
  struct Reader {
    int64_t sequences = 0, length = 0;
    graph::ValueId vectors;
    std::unique_ptr<graph::Program> program;
    std::span<int32_t> tokens, padding;
  };
  void prepare(int64_t sequences, int64_t length);
  // Reads the texts with these indices; the vectors of text i begin at the result + i * length * width.
  const float* read(std::span<const std::vector<int32_t>> texts, std::span<const size_t> which);
  std::vector<float> pooled(const float* vectors, size_t tokens) const;

  spec::ModelSpec spec_;
  Pooling pooling_;
  bool normalize_;
  graph::Variables variables_;
  Reader reader_;
};

}  // namespace heed::infer
