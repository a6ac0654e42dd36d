// Tables with commas (base/csv.h).
#include "heed/base/csv.h"

#include "tests/fuzz/support.h"

using namespace heed;

namespace {

std::string written(const Csv& csv) {
  std::string out;
  const auto line = [&](const auto& cell) {
    for (size_t i = 0; i < csv.columns().size(); ++i)
      out += (i ? "," : "") + csv_cell(cell(csv.columns()[i]));
    out += "\n";
  };
  line([](const std::string& column) { return column; });
  for (size_t row = 0; row < csv.rows(); ++row)
    line([&](const std::string& column) { return csv.at(row, column); });
  return out;
}

}  // namespace

HEED_FUZZ_TARGET(input) {
  fuzz::answers([&] {
    const Csv csv(input, "table");
    for (size_t row = 0; row < csv.rows(); ++row) {
      for (const std::string& column : csv.columns()) {
        fuzz::answers([&] { csv.number(row, column); });
        fuzz::answers([&] { csv.integer(row, column); });
      }
    }
    // An empty cell that is alone in its line is a blank line, and those are passed over. A first column may
    // begin with the bytes that mark UTF-8 only once.
    if (csv.columns().size() < 2 || csv.columns()[0].starts_with("\xEF\xBB\xBF")) return;
    const std::string once = written(csv);
    constexpr const char* kLaw = "table -> text -> table";
    fuzz::law(fuzz::must(kLaw, [&] { return written(Csv(once, "table again")); }) == once, kLaw);
  });
}
