#include "heed/store/line_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/files.h"
#include "heed/base/json.h"

namespace heed::store {
namespace {

namespace fs = std::filesystem;

std::optional<Json> object_in(std::string_view line) {
  try {
    Json json = parse_json(line);
    if (json.is_object()) return json;
  } catch (const Error&) {  // as good as none: the caller tells
  }
  return std::nullopt;
}

}  // namespace

LineLog::LineLog(const fs::path& path) : path_(path) {
  file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) throw failure(path_.string(), ": cannot be opened: ", std::strerror(errno));
  try {
    cut_at(for_each_line(path_, [](const Json&) { return true; }));
  } catch (...) {
    ::close(file_);
    throw;
  }
}

LineLog::~LineLog() { ::close(file_); }

void LineLog::append(const Json& line) {
  const std::string content = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const off_t before = ::lseek(file_, 0, SEEK_END);
  const ssize_t written = ::write(file_, content.data(), content.size());
  if (written == static_cast<ssize_t>(content.size())) return;
  const int reason = written < 0 ? errno : ENOSPC;
  const bool restored = ::ftruncate(file_, before) == 0;
  throw failure(path_.string(), ": a line cannot be written: ", std::strerror(reason),
                restored ? "" : "; part of it stayed");
}

void LineLog::cut_from(const std::function<bool(const Json&)>& first) {
  cut_at(for_each_line(path_, [&](const Json& line) { return !first(line); }));
}

void LineLog::cut_after(int64_t step) {
  cut_from([&](const Json& line) {
    const auto found = line.find("step");
    return found != line.end() && found->is_number() && found->get<double>() > static_cast<double>(step);
  });
}

void LineLog::cut_at(int64_t bytes) {
  if (::ftruncate(file_, bytes) != 0)
    throw failure(path_.string(), ": cannot be cut: ", std::strerror(errno));
}

void LineLog::sync() {
  if (::fsync(file_) != 0) throw failure(path_.string(), ": cannot be made to last: ", std::strerror(errno));
}

int64_t for_each_line(const fs::path& file, const std::function<bool(Json)>& line) {
  const MappedFile mapped(file);
  const std::string_view all = mapped.text();
  size_t begin = 0;
  for (int64_t number = 1; begin < all.size(); ++number) {
    const size_t end = all.find('\n', begin);
    if (end == std::string_view::npos) break;
    const std::string_view content = all.substr(begin, end - begin);
    std::optional<Json> json = object_in(content);
    if (!json) {
      if (end + 1 == all.size()) break;
      throw usage_error(file.string(), ": line ", number, " is not a JSON object; remove it to go on");
    }
    if (!line(std::move(*json))) break;
    begin = end + 1;
  }
  return static_cast<int64_t>(begin);
}

std::vector<Json> read_lines(const fs::path& file) {
  std::vector<Json> lines;
  for_each_line(file, [&](Json line) {
    lines.push_back(std::move(line));
    return true;
  });
  return lines;
}

}  // namespace heed::store
