#include "heed/infer/writer.h"

#include <algorithm>
#include <array>

namespace heed::infer {

Writer::Writer(Session& session, Sampler& sampler, const data::Tokenizer& tokenizer,
               std::vector<int32_t> prompt)
    : session_(session),
      sampler_(sampler),
      tokenizer_(tokenizer),
      ids_(std::move(prompt)),
      given_(ids_.size()),
      scores_(session.feed(ids_)) {}

void Writer::read(std::span<const int32_t> more) {
  ids_.insert(ids_.end(), more.begin(), more.end());
  given_ += more.size();
  scores_ = session_.feed(more);
}

std::optional<std::string> Writer::next(bool ignore_end, std::vector<WrittenToken>* tokens) {
  const auto known = scores_.first(static_cast<size_t>(tokenizer_.size()));
  const int32_t token = sampler_.sample(known, ids_);
  if (token == tokenizer_.end() && !ignore_end) return std::nullopt;
  const std::string bytes = added_bytes(tokenizer_, ids_.back(), token);
  if (tokens) tokens->push_back({{token, known[static_cast<size_t>(token)] - log_normaliser(known)}, bytes});
  ids_.push_back(token);
  scores_ = session_.feed({&token, 1});
  return characters_.push(bytes);
}

std::string added_bytes(const data::Tokenizer& tokenizer, int32_t before, int32_t token) {
  const std::array<int32_t, 2> both = {before, token};
  return tokenizer.decode(both).substr(tokenizer.decode({both.data(), 1}).size());
}

}  // namespace heed::infer
