#include "heed/cli/run_record.h"

#include "heed/base/threads.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/isa.h"

namespace heed::cli {

Json run_record() {
  return {{"version", HEED_VERSION},
          {"machine", {{"threads", thread_count()}, {"isa", kernels::name_of(kernels::isa())}}},
          {"libraries", {{"gemm", kernels::gemm_library()}}}};
}

}  // namespace heed::cli
