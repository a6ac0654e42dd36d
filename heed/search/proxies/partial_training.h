// A little training: the loss on held-out text after a few updates (Javaheripi and others 2022, table 1).
#pragma once

#include "heed/search/proxies/proxies.h"

namespace heed::search {

Proxy partial_training_proxy();

}  // namespace heed::search
