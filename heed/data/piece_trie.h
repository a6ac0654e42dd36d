// A vocabulary of word pieces as a tree of characters: the longest piece that a word begins with is found in
// one walk, however large the vocabulary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::data {

class PieceTrie {
 public:
  using Node = uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNone = UINT32_MAX;

  // Tokens are UTF-8; their indices are their ids.
  explicit PieceTrie(const std::vector<std::string>& tokens);
  // kNone if no token continues so, also for kNone itself.
  Node child(Node node, int32_t code_point) const;
  // The id of the token that ends here; -1 if there is none.
  int32_t id(Node node) const { return ids_[node]; }

 private:
  struct Edge {
    Node from = kNone, to = kNone;
    int32_t code_point = 0;
  };
  size_t slot_of(Node from, int32_t code_point) const;

  std::vector<Edge> edges_;   // by hash; a power of two of them, at most half in use
  std::vector<int32_t> ids_;  // by node
};

}  // namespace heed::data
