// Words to time a model with. An adaptive softmax takes longer the more words come from its tails, so they
// are as frequent here as in text, and every run has the same number of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::measure {

// How many of `count` words are in each cluster, by the shares of WikiText-103, rounded to whole words.
std::vector<int64_t> words_per_cluster(int64_t count, size_t clusters);

// Fills `words` accordingly, in random order; within a cluster the word of rank k has a probability
// proportional to 1 / k (Zipf). `cluster_ends` as in spec::ModelSpec.
void draw_words(std::span<int32_t> words, const std::vector<int64_t>& cluster_ends, uint64_t seed);

}  // namespace heed::measure
