#include "heed/store/line_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "heed/base/file_reader.h"
#include "heed/base/files.h"
#include "heed/base/json.h"
#include "heed/base/system_error.h"

namespace heed::store {
namespace {

namespace fs = std::filesystem;

std::optional<Json> object_in(std::string_view line) {
  try {
    Json json = parse_json(line);
    if (json.is_object()) return json;
  } catch (const Error&) {  // treated as missing: the caller reports it
  }
  return std::nullopt;
}

// Reads the complete lines of the rest of a file, the first of which has this number. Returns the bytes read.
size_t give_lines(std::string_view rest, const fs::path& file, int64_t number,
                  const std::function<bool(std::string_view content, Json line)>& give) {
  size_t begin = 0;
  for (; begin < rest.size(); ++number) {
    const size_t end = rest.find('\n', begin);
    if (end == std::string_view::npos) break;
    const std::string_view content = rest.substr(begin, end - begin);
    std::optional<Json> json = object_in(content);
    if (!json) {
      if (end + 1 == rest.size()) break;
      throw damaged_error(file.string(), ": line ", number,
                          " is not a JSON object; remove the line to continue");
    }
    if (!give(content, std::move(*json))) break;
    begin = end + 1;
  }
  return begin;
}

}  // namespace

LineLog::LineLog(const fs::path& path) : path_(path) {
  file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) throw system_error(path_.string(), ": cannot be opened: ", system_reason(errno));
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
  throw system_error(path_.string(), ": a line cannot be written: ", system_reason(reason),
                     restored ? "" : "; a part of it remains");
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
    throw system_error(path_.string(), ": cannot be cut: ", system_reason(errno));
}

void LineLog::sync() {
  if (::fsync(file_) != 0)
    throw system_error(path_.string(), ": cannot be synced to disk: ", system_reason(errno));
}

int64_t for_each_line(const fs::path& file, const std::function<bool(Json)>& line) {
  const MappedFile mapped(file);
  return static_cast<int64_t>(
      give_lines(mapped.text(), file, 1, [&](std::string_view, Json json) { return line(std::move(json)); }));
}

void LineReader::read_on(const std::function<void(Json)>& line, const std::function<void()>& forget) {
  const auto begin_anew = [&] {
    end_ = lines_ = 0;
    last_.clear();
    forget();
  };
  if (!fs::exists(file_)) begin_anew();
  // Not mapped: touching a page that another process has truncated would kill this one.
  const FileReader file(file_);
  const auto bytes = [&](int64_t begin, int64_t end) {
    std::string read(static_cast<size_t>(end - begin), 0);
    file.read(begin, std::as_writable_bytes(std::span(read)));
    return read;
  };
  const auto known = static_cast<int64_t>(last_.size());
  if (file.size() < end_ || bytes(end_ - known, end_) != last_) begin_anew();
  const int64_t begin = end_;
  const std::string fresh = bytes(begin, file.size());
  give_lines(fresh, file_, lines_ + 1, [&](std::string_view content, Json json) {
    line(std::move(json));
    last_ = text(content, "\n");
    end_ = begin + (content.data() - fresh.data()) + static_cast<int64_t>(last_.size());
    ++lines_;
    return true;
  });
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
