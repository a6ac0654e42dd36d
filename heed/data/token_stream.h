// The tokens of a part, kept in a file so that a text is tokenised once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heed/base/file_reader.h"
#include "heed/data/corpus.h"
#include "heed/data/text_counts.h"
#include "heed/data/tokenizer.h"

namespace heed::data {

class TokenStream {
 public:
  // Called with the bytes of text done and the total, while the text is tokenised.
  using Progress = std::function<void(int64_t done, int64_t all)>;
  // The tokens of `part`. They are read from a file in `cache`, which is made first if it is missing or
  // incomplete. Its name identifies text and vocabulary. Several threads encode at the same time.
  TokenStream(const Part& part, const Tokenizer& tokenizer, const std::filesystem::path& cache,
              const Progress& progress = {});

  const std::string& name() const { return name_; }  // of the part, for messages
  int64_t size() const { return counts_.tokens; }
  const TextCounts& counts() const { return counts_; }
  int32_t end() const { return end_; }  // Tokenizer::end
  // Where the tokens of each slice end; the last is size().
  std::span<const int64_t> slice_ends() const { return slice_ends_; }
  const std::filesystem::path& file() const { return path_; }

  // Reads from the file each time, a few microseconds; nothing stays in memory.
  void copy(int64_t begin, int64_t count, int32_t* out) const;

 private:
  std::string name_;
  int32_t end_;
  std::filesystem::path path_;
  FileReader reader_;
  TextCounts counts_;
  int64_t stored_width_ = 0;  // bytes of each token in the file
  std::vector<int64_t> slice_ends_;
};

}  // namespace heed::data
