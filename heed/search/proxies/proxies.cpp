#include "heed/search/proxies/proxies.h"

#include "heed/search/proxies/counts.h"

namespace heed::search {

// The list of proxies. A new one adds one line.
const Registry<Proxy>& proxies() {
  static const Registry<Proxy> list("proxy", {
                                                 decoder_params_proxy(),
                                                 effective_params_proxy(),
                                                 flops_proxy(),
                                                 total_params_proxy(),
                                             });
  return list;
}

}  // namespace heed::search
