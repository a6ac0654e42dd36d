#include "heed/data/text_files.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFirstBlock = 64 << 10;

struct Packing {
  std::string_view begin;
  const char* way_out;
};
constexpr Packing kPackings[] = {
    {"\x1f\x8b", "gzip -d"},
    {std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     "xz -d"},
    {"PK\x03\x04", "unzip"},
    {"\x28\xb5\x2f\xfd", "zstd -d"},
    {"BZh", "bzip2 -d"},
};

// Why a file is not text, or "".
std::string complaint(std::string_view content) {
  if (content.empty()) return "is empty; give a file with text";
  const std::string_view first = content.substr(0, kFirstBlock);
  const bool binary = first.find('\0') != first.npos;
  for (const Packing& packing : kPackings) {
    if (binary && content.starts_with(packing.begin))
      return text("is compressed; decompress it first: ", packing.way_out);
  }
  return binary ? "is not text: it has NUL bytes; to read any bytes as they are, ask for the reader enwik8"
                : "";
}

}  // namespace

TextSlice open_text(const fs::path& path, Reading& to) {
  if (fs::is_directory(path))
    throw usage_error("data: '", path.string(), "' is a folder; this reader takes a file");
  auto file = std::make_unique<const MappedFile>(path);
  const std::string wrong = complaint(file->text());
  if (!wrong.empty() && !(to.any_bytes && file->size() > 0))
    throw usage_error("data: '", path.string(), "' ", wrong);
  to.files.push_back(std::move(file));
  return {to.files.back()->text(), to.files.back().get()};
}

std::optional<TextSlice> open_if_text(const fs::path& path, Reading& to) {
  try {
    return open_text(path, to);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage)
      throw;  // it may be the text; leaving it out would train another model
    to.notes.push_back(text("left out: ", error.what()));
    return std::nullopt;
  }
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;  // a dangling link is not a regular file
    if (at->is_regular_file(ignored) && !at->path().filename().string().starts_with('.'))
      files.push_back(at->path());
  }
  if (error) throw usage_error("data: the folder '", folder.string(), "' cannot be read: ", error.message());
  std::sort(files.begin(), files.end());
  return files;
}

int NamedFiles::count() const {
  return static_cast<int>(
      std::count_if(files.begin(), files.end(), [](const fs::path& path) { return !path.empty(); }));
}

NamedFiles find_named(const fs::path& folder, const std::vector<NamePattern>& patterns) {
  static const std::array<std::vector<const char*>, 3> words = {
      {{"train"}, {"valid", "validation", "dev"}, {"test"}}};
  NamedFiles best;
  for (const NamePattern& pattern : patterns) {
    NamedFiles found;
    for (size_t split = 0; split < words.size(); ++split) {
      for (const char* word : words[split]) {
        const fs::path path = folder / (pattern.before + word + pattern.after);
        std::error_code ignored;
        if (found.files[split].empty() && fs::is_regular_file(path, ignored)) found.files[split] = path;
      }
    }
    if (found.count() > best.count()) best = found;
  }
  return best;
}

void read_named(const NamedFiles& named, Reading& to) {
  for (Split split : kSplits) {
    if (!named.file(split).empty()) to[split].push_back(open_text(named.file(split), to));
  }
}

}  // namespace heed::data
