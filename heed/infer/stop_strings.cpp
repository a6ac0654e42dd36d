#include "heed/infer/stop_strings.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"

namespace heed::infer {

StopStrings::StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {
  for (const std::string& stop : stops_) {
    if (stop.empty()) throw usage_error("a stop string is empty; it would end every text at once");
  }
}

std::string StopStrings::push(std::string_view more) {
  if (found_) return "";
  waiting_ += more;
  size_t end = waiting_.npos, shown = waiting_.size();
  for (const std::string& stop : stops_) {
    end = std::min(end, waiting_.find(stop));
    // The longest end of the text with which the string may begin.
    for (size_t size = std::min(stop.size() - 1, waiting_.size()); size > 0; --size) {
      if (!waiting_.ends_with(std::string_view(stop).substr(0, size))) continue;
      shown = std::min(shown, waiting_.size() - size);
      break;
    }
  }
  found_ = end != waiting_.npos;
  const std::string out = waiting_.substr(0, found_ ? end : shown);
  waiting_.erase(0, found_ ? waiting_.npos : shown);
  return out;
}

std::string StopStrings::finish() {
  found_ = false;
  return std::exchange(waiting_, "");
}

}  // namespace heed::infer
