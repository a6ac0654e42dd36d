// Proxies from the activations of a model: how different tokens look inside it, and how much flows through
// its weights.
#pragma once

#include "heed/search/proxies/proxies.h"

namespace heed::search {

Proxy relu_log_det_proxy();  // Mellor and others 2021
Proxy jacob_cov_proxy();     // Mellor and others 2020
Proxy synflow_proxy();       // Tanaka and others 2020

// The random map of words to one number that jacob_cov draws.
std::vector<double> random_map(int64_t vocabulary, uint64_t seed);

}  // namespace heed::search
