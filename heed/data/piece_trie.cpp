#include "heed/data/piece_trie.h"

#include <algorithm>
#include <bit>

#include "heed/data/utf8.h"

namespace heed::data {

PieceTrie::PieceTrie(const std::vector<std::string>& tokens) : ids_{-1} {
  size_t most = 1;  // edges
  for (const std::string& token : tokens)
    most += static_cast<size_t>(
        std::count_if(token.begin(), token.end(), [](char byte) { return !is_continuation(byte); }));
  edges_.resize(std::bit_ceil(2 * most));
  for (size_t id = 0; id < tokens.size(); ++id) {
    Node node = kRoot;
    for (size_t at = 0; at < tokens[id].size();) {
      const auto [code_point, length] = utf8_at(tokens[id], at);
      at += length;
      Edge& edge = edges_[slot_of(node, code_point)];
      if (edge.from == kNone) {
        edge = {node, static_cast<Node>(ids_.size()), code_point};
        ids_.push_back(-1);
      }
      node = edge.to;
    }
    ids_[node] = static_cast<int32_t>(id);
  }
}

size_t PieceTrie::slot_of(Node from, int32_t code_point) const {
  const size_t mask = edges_.size() - 1;
  const uint64_t key = static_cast<uint64_t>(from) << 32 | static_cast<uint32_t>(code_point);
  for (size_t at = key * 0x9E3779B97F4A7C15u >> 32 & mask;; at = (at + 1) & mask) {
    const Edge& edge = edges_[at];
    if (edge.from == kNone || (edge.from == from && edge.code_point == code_point)) return at;
  }
}

PieceTrie::Node PieceTrie::child(Node node, int32_t code_point) const {
  return node == kNone ? kNone : edges_[slot_of(node, code_point)].to;
}

}  // namespace heed::data
