#include "heed/data/added_tokens.h"

#include <algorithm>

namespace heed::data {

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::stable_sort(tokens_.begin(), tokens_.end(), [](const AddedToken& a, const AddedToken& b) {
    return a.content.size() > b.content.size();
  });
  for (const AddedToken& token : tokens_) first_.set(static_cast<uint8_t>(token.content[0]));
}

size_t AddedTokenFinder::next_first_byte(std::string_view text, size_t from) const {
  // Those of BERT all begin with a bracket, which the library finds faster.
  if (first_.count() == 1) return std::min(text.find(tokens_[0].content[0], from), text.size());
  while (from < text.size() && !first_.test(static_cast<uint8_t>(text[from]))) ++from;
  return from;
}

AddedTokenFinder::Found AddedTokenFinder::find(std::string_view text, size_t from) const {
  for (size_t at = next_first_byte(text, from); at < text.size(); at = next_first_byte(text, at + 1)) {
    for (const AddedToken& token : tokens_) {
      if (text.substr(at).starts_with(token.content)) return {at, &token};
    }
  }
  return {text.size(), nullptr};
}

}  // namespace heed::data
