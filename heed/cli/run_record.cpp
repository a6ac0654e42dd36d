#include "heed/cli/run_record.h"

#include "heed/base/threads.h"
#include "heed/cli/version.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/isa.h"

namespace heed::cli {

Json run_record() {
  return {{"version", version()},
          {"machine", {{"threads", thread_count()}, {"isa", kernels::name_of(kernels::isa())}}},
          {"commit", commit()},
          {"libraries", library_versions()}};
}

}  // namespace heed::cli
