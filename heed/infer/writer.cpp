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

std::optional<std::string> Writer::next(bool ignore_end) {
  const int32_t token = sampler_.sample(scores_.first(static_cast<size_t>(tokenizer_.size())), ids_);
  if (token == tokenizer_.end() && !ignore_end) return std::nullopt;
  // What it adds after the previous token: a word has its space only there.
  const std::array<int32_t, 2> both = {ids_.back(), token};
  const size_t old = tokenizer_.decode({both.data(), 1}).size();
  ids_.push_back(token);
  scores_ = session_.feed({&token, 1});
  return characters_.push(tokenizer_.decode(both).substr(old));
}

int64_t usual_memory(const spec::Recipe& recipe) {
  const int64_t own = std::max(recipe.evaluation.memory, recipe.training.memory);
  return own > 0 ? own : 256;
}

}  // namespace heed::infer
