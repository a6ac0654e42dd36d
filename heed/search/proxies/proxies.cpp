#include "heed/search/proxies/proxies.h"

#include "heed/search/proxies/activation_scores.h"
#include "heed/search/proxies/counts.h"
#include "heed/search/proxies/gradient_scores.h"
#include "heed/search/proxies/partial_training.h"

namespace heed::search {

// The list of proxies. A new one adds one line.
const Registry<Proxy>& proxies() {
  static const Registry<Proxy> list("proxy", {
                                                 decoder_params_proxy(),
                                                 effective_params_proxy(),
                                                 fisher_proxy(),
                                                 flops_proxy(),
                                                 grad_norm_proxy(),
                                                 grasp_proxy(),
                                                 jacob_cov_proxy(),
                                                 partial_training_proxy(),
                                                 relu_log_det_proxy(),
                                                 snip_proxy(),
                                                 synflow_proxy(),
                                                 total_params_proxy(),
                                                 worth_proxy(),
                                             });
  return list;
}

}  // namespace heed::search
