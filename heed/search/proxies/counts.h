// Proxies that are counted: no weights, no data, no run.
#pragma once

#include "heed/search/proxies/proxies.h"

namespace heed::search {

Proxy decoder_params_proxy();    // Javaheripi and others 2022
Proxy total_params_proxy();      // likewise, for comparison
Proxy flops_proxy();             // of a forward pass
Proxy worth_proxy();             // heed's own: predicted by a law of worth
Proxy effective_params_proxy();  // heed's own: decoder * min(1, embedding / width)^0.3

}  // namespace heed::search
