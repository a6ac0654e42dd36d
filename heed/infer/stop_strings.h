// Strings that end a text which is being written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::infer {

class StopStrings {
 public:
  // Throws if one is empty.
  explicit StopStrings(std::vector<std::string> stops);

  // What can be shown after `more` was written: nothing from a stop string on, and what may be the beginning
  // of one waits.
  std::string push(std::string_view more);
  // The rest of the text, when it ends without a stop string. The next text may then begin.
  std::string finish();
  bool found() const { return found_; }

 private:
  std::vector<std::string> stops_;
  std::string waiting_;
  bool found_ = false;
};

}  // namespace heed::infer
