// Continues a text with a model, token by token.
#pragma once

#include <optional>
#include <string>

#include "heed/base/utf8.h"
#include "heed/data/tokenizer.h"
#include "heed/infer/probabilities.h"
#include "heed/infer/sampling.h"
#include "heed/infer/session.h"
#include "heed/spec/recipe.h"

namespace heed::infer {

// What a token adds after the one before it, as bytes: a word has its space only there.
std::string added_bytes(const data::Tokenizer& tokenizer, int32_t before, int32_t token);

struct WrittenToken : TokenProbability {  // by the model alone, before temperature and the other filters
  std::string bytes;
};

class Writer {
 public:
  // `prompt`: at least one token; it is fed at once.
  Writer(Session& session, Sampler& sampler, const data::Tokenizer& tokenizer, std::vector<int32_t> prompt);

  // Text that was not drawn but given, after what was written so far. At least one token.
  void read(std::span<const int32_t> more);
  // The text of the next token, in whole characters; none after the end of the text, unless that is ignored.
  // The token itself is appended to `tokens`.
  std::optional<std::string> next(bool ignore_end = false, std::vector<WrittenToken>* tokens = nullptr);
  // The rest of an incomplete character.
  std::string finish() { return characters_.finish(); }
  int64_t written() const { return static_cast<int64_t>(ids_.size() - given_); }  // tokens

 private:
  Session& session_;
  Sampler& sampler_;
  const data::Tokenizer& tokenizer_;
  std::vector<int32_t> ids_;
  size_t given_;
  std::span<const float> scores_;
  Utf8Stream characters_;
};

}  // namespace heed::infer
