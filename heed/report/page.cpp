#include "heed/report/page.h"

#include "heed/base/error.h"

// The assembler copies the file: a string literal of that size would take the compiler minutes.
__asm__(
    ".section .rodata\n"
    ".global heed_report_page, heed_report_page_end\n"
    "heed_report_page: .incbin \"" HEED_REPORT_PAGE
    "\"\n"
    "heed_report_page_end:\n"
    ".previous\n");

extern "C" const char heed_report_page[], heed_report_page_end[];

namespace heed::report {
namespace {

constexpr std::string_view kBefore = R"(<script id="document" type="application/json">)", kNothing = "null";

// A script ends at the first "</script", even inside a string: every "<" is escaped.
std::string without_tags(const Json& document) {
  const std::string json = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string_view empty_page() { return {heed_report_page, heed_report_page_end}; }

std::string page_with(const Json& document) {
  const std::string_view page = empty_page();
  const size_t at = page.find(kBefore);
  HEED_ASSERT(at != std::string_view::npos && page.substr(at + kBefore.size()).starts_with(kNothing));
  const std::string_view before = page.substr(0, at + kBefore.size()),
                         after = page.substr(before.size() + kNothing.size());
  std::string whole(before);
  whole += without_tags(document);
  whole += after;
  return whole;
}

bool is_page(std::string_view text) { return text.find(kBefore) != std::string_view::npos; }

}  // namespace heed::report
