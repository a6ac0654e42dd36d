// Proxies from the gradients of one batch's loss by the matrices of the blocks (Abdelfattah and others 2021,
// as Javaheripi and others 2022 use them).
#pragma once

#include "heed/search/proxies/proxies.h"

namespace heed::search {

Proxy grad_norm_proxy();
Proxy snip_proxy();
Proxy grasp_proxy();
Proxy fisher_proxy();

}  // namespace heed::search
