#include "heed/cli/version.h"

#include <heed_commit.h>  // made by the build, heed/commit.cmake
#include <sqlite3.h>
#include <utf8proc.h>

#include <CLI/Version.hpp>
#include <sstream>

#include "heed/kernels/gemm.h"
#include "heed/kernels/isa.h"
#include "heed/serve/http_server.h"

namespace heed::cli {

std::string commit() { return HEED_COMMIT; }

Json library_versions() {
  return {{"gemm", kernels::gemm_library()},
          {"sqlite", sqlite3_libversion()},
          {"utf8proc", utf8proc_version()},
          {"libmicrohttpd", serve::http_library_version()},
          {"cli11", CLI11_VERSION},
          {"nlohmann-json", text(NLOHMANN_JSON_VERSION_MAJOR, ".", NLOHMANN_JSON_VERSION_MINOR, ".",
                                 NLOHMANN_JSON_VERSION_PATCH)}};
}

std::string version_text() {
  std::ostringstream out;
  out << "heed " << version() << (commit().empty() ? "" : " (commit " + commit() + ")") << "\n";
  const Json libraries = library_versions();
  for (const auto& [name, value] : libraries.items())
    out << "  " << (name == "gemm" ? "" : name + " ") << value.get<std::string>() << "\n";
  out << "  compiled by GCC " << __VERSION__ << "\n";
  return out.str();
}

}  // namespace heed::cli
