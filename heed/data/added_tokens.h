// Finds added tokens in a text, where each stands for itself: at the first place that has one, the longest.
#pragma once

#include <bitset>
#include <string_view>
#include <vector>

#include "heed/data/tokenizer_json.h"

namespace heed::data {

class AddedTokenFinder {
 public:
  explicit AddedTokenFinder(std::vector<AddedToken> tokens);

  // Calls stretch(begin, end) for what is between the tokens and is not empty, and token(begin, end, id), in
  // the order of the text.
  template <class Stretch, class Token>
  void split(std::string_view text, Stretch&& stretch, Token&& token) const {
    for (size_t begin = 0; begin < text.size();) {
      const Found found = find(text, begin);
      if (found.begin > begin) stretch(begin, found.begin);
      if (found.token) token(found.begin, found.begin + found.token->content.size(), found.token->id);
      begin = found.begin + (found.token ? found.token->content.size() : 0);
    }
  }

 private:
  struct Found {
    size_t begin;             // the end of the text if there is none
    const AddedToken* token;  // null then
  };
  Found find(std::string_view text, size_t from) const;
  size_t next_first_byte(std::string_view text, size_t from) const;

  std::vector<AddedToken> tokens_;  // longest first
  std::bitset<256> first_;          // bytes they begin with
};

}  // namespace heed::data
