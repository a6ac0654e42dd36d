#include "heed/data/corpus.h"

#include "heed/base/error.h"
#include "heed/base/hash.h"
#include "heed/data/readers.h"
#include "heed/data/unwrap.h"

namespace heed::data {
namespace {

constexpr size_t kBlock = 1 << 20;  // how much of a mapped file is in memory at a time

// Where the lines of about a block end.
size_t end_of_lines(std::string_view text) {
  if (text.size() <= kBlock) return text.size();
  size_t line_end = text.rfind('\n', kBlock - 1);
  if (line_end == text.npos) line_end = text.find('\n', kBlock);
  return line_end == text.npos ? text.size() : line_end + 1;
}

}  // namespace

void TextSlice::forget(size_t begin, size_t end) const {
  const int64_t offset = text.data() - file->text().data();
  file->forget(offset + static_cast<int64_t>(begin), offset + static_cast<int64_t>(end));
}

int64_t Part::bytes() const {
  int64_t sum = 0;
  for (const TextSlice& slice : slices) sum += static_cast<int64_t>(slice.text.size());
  return sum;
}

uint64_t Part::hash() const {
  uint64_t hash = 0;
  for (const TextSlice& slice : slices) {
    // The size tells apart the same bytes cut elsewhere: tokens never cross the end of a slice.
    hash += slice.text.size();
    for (size_t at = 0; at < slice.text.size(); at += kBlock) {
      hash = hash_bytes(slice.text.substr(at, kBlock), hash);
      slice.forget(at, std::min(at + kBlock, slice.text.size()));
    }
  }
  return hash;
}

Corpus::Corpus(std::string name, std::string reader, Reading reading)
    : name_(std::move(name)),
      reader_(std::move(reader)),
      files_(std::move(reading.files)),
      notes_(std::move(reading.notes)) {
  for (Split split : kSplits) {
    Part& part = parts_[static_cast<size_t>(split)];
    part.name = heed::text("the ", enum_name(split), " part of '", name_, "'");
    for (const TextSlice& slice : reading[split]) {
      if (!slice.text.empty()) part.slices.push_back(slice);
    }
  }
}

const Part& Corpus::part(Split split) const {
  const Part& part = parts_[static_cast<size_t>(split)];
  if (!part.slices.empty()) return part;
  std::string found;
  for (Split other : kSplits) {
    if (has(other)) found += (found.empty() ? "" : ", ") + enum_name(other);
  }
  throw usage_error(
      "data: '", name_, "', read as ", reader_, ", has no ", enum_name(split), " part, only ", found,
      "; give a folder with train.txt, valid.txt and test.txt, a longer text, or the reader whole to "
      "score all of it");
}

TextSource Corpus::text(std::vector<Split> splits) const {
  std::vector<const Part*> parts;
  for (Split split : splits) parts.push_back(&part(split));
  return [parts](const std::function<void(std::string_view)>& take) {
    for (const Part* part : parts) {
      for (const TextSlice& slice : part->slices) {
        for (size_t begin = 0, end = 0; begin < slice.text.size(); begin = end) {
          end = begin + end_of_lines(slice.text.substr(begin));
          take(slice.text.substr(begin, end - begin));
          slice.forget(begin, end);
        }
      }
    }
  };
}

Corpus open_corpus(const std::filesystem::path& path, const std::string& reader_name, bool unwrapped) {
  const Reader* reader = &readers().find(reader_name);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw usage_error("data: '", path.string(), "' ",
                      error ? "cannot be read: " + error.message() : "does not exist",
                      "; give a text file, or a folder of them");
  }
  Reading reading;
  // A name such as enwik8.zip must not be enough to read a compressed file as text.
  reading.any_bytes = reader->any_bytes;
  if (!reader->read) reader = &recognise(path);
  reader->read(path, reading);
  if (unwrapped) unwrap(reading);
  Corpus corpus(path.string(), reader->name, std::move(reading));
  for (Split split : kSplits) {
    if (corpus.has(split)) return corpus;
  }
  throw usage_error("data: '", path.string(), "' holds only white space; give a file with text");
}

}  // namespace heed::data
