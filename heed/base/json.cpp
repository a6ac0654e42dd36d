#include "heed/base/json.h"

namespace heed {
namespace {

// "line 3, column 7"
std::string place_of(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at);
  return heed::text("line ", 1 + std::count(before.begin(), before.end(), '\n'), ", column ",
                    before.size() - before.rfind('\n'));
}

void refuse_depth(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') quoted = !quoted;
    if (quoted) {
      at += c == '\\';  // whatever follows, a quote too, is part of the string
      continue;
    }
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (depth > kDeepestJson)
      throw usage_error("JSON with more than ", kDeepestJson, " nested brackets, at ", place_of(text, at));
  }
}

}  // namespace

Json parse_json(std::string_view text) {
  if (const size_t zero = text.find('\0'); zero != text.npos)
    throw usage_error("not JSON: a zero byte at ", place_of(text, zero));
  refuse_depth(text);
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    throw usage_error("not JSON: syntax error at ", place_of(text, std::max<size_t>(error.byte, 1) - 1));
  } catch (const Json::out_of_range& error) {
    // "[json.exception.out_of_range.406] number overflow parsing '1e999'" without its first word.
    const std::string what = error.what();
    throw usage_error("not JSON: ", what.substr(what.find(']') + 2, 80));
  }
}

}  // namespace heed
