#include "heed/cli/doctor.h"

#include <cstdio>
#include <cstdlib>

#include "heed/base/threads.h"
#include "heed/base/units.h"
#include "heed/cli/version.h"
#include "heed/kernels/isa.h"
#include "heed/measure/device.h"
#include "heed/measure/timing.h"
#include "heed/store/database.h"

namespace heed::cli {
namespace {

class Doctor : public Verb {
 public:
  void declare(Flags& flags) override { flags.flag("json", json_, "print JSON"); }

  void run() override {
    const measure::Device device = measure::this_device();
    const double peak = measure::peak_flops(), load = measure::load_of_others();
    const std::vector<std::string> advice = advise(device, load);
    if (json_) {
      Json json = to_json(device);
      json["version"] = version();
      json["database"] = store::database_library();
      json["peak_flops"] = peak;
      json["busy_cores"] = load;
      json["advice"] = advice;
      std::printf("%s\n", json.dump(2).c_str());
      return;
    }
    const auto line = [](const char* name, const std::string& value) {
      std::printf("%-14s %s\n", name, value.c_str());
    };
    line("heed", version());
    line("processor", device.cpu);
    line("cores", text(device.cores, ", of which this process may use ", device.allowed,
                       device.quota > 0 ? text(", control group grants ", device.quota) : ""));
    line("threads", text(device.threads));
    line("instructions", device.instructions + instructions_known());
    line("products", text(device.products, ", ", format_flops(peak), "/s at best"));
    line("memory", text(format_bytes(device.memory), ", ", format_bytes(device.available), " available"));
    line("huge pages", device.huge_pages);
    line("database", store::database_library());
    line("others", text(static_cast<int>(100 * load + 0.5), "% of a core in use by others"));
    for (const std::string& sentence : advice) std::printf("! %s\n", sentence.c_str());
  }

 private:
  static std::string instructions_known() {
    std::string known;
    for (const auto isa : {kernels::Isa::kV3, kernels::Isa::kV4}) {
      if (kernels::supported(isa) && isa != kernels::isa())
        known += text(", ", kernels::name_of(isa), " too");
    }
    return known;
  }

  static std::vector<std::string> advise(const measure::Device& device, double load) {
    std::vector<std::string> advice;
    if (load > 0.2) advice.push_back("other programs are busy: measured times will be too long and vary");
    if (device.huge_pages == "never")
      advice.push_back(
          "huge pages are off: large models run up to a quarter slower; "
          "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled` as root turns them on");
    if (device.threads < device.allowed)
      advice.push_back(
          text("only ", device.threads, " of ", device.allowed, " cores are used; --threads sets it"));
    return advice;
  }

  bool json_ = false;
};

}  // namespace

VerbEntry doctor_verb() {
  return entry<Doctor>("doctor", "Reports what heed finds on this machine, and what may slow it down.",
                       {"heed doctor", "heed doctor --json"});
}

}  // namespace heed::cli
