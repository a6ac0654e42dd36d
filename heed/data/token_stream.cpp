// The file: tokens as u16 or i32, zeros up to a multiple of 8 bytes, slice ends as i64, then a footer that
// describes them. It comes last because it is known last, and a truncated file has none.
#include "heed/data/token_stream.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/files.h"
#include "heed/base/hash.h"
#include "heed/base/threads.h"

namespace heed::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlock = 1 << 20;
constexpr uint64_t kMagic = 0x6e656b6f74646568;  // "hedtoken"
// Also goes up when a tokenizer cuts the same text differently: files made before are made again. 2: words
// end at all white space of Unicode, and unknown words are counted.
constexpr int64_t kVersion = 2;

struct Description {
  uint64_t magic = kMagic;
  int64_t version = kVersion;
  uint64_t text_hash = 0, tokenizer_hash = 0;
  int64_t stored_width = 0, tokens = 0, text_bytes = 0, slices = 0;
  int64_t unknown = 0;    // tokens that stand for words which the vocabulary lacks
  uint64_t checksum = 0;  // of everything before it

  bool operator==(const Description&) const = default;
};
constexpr int64_t kDescriptionSize = sizeof(Description);

template <class T>
std::string_view bytes_of(const T* from, size_t count) {
  return {reinterpret_cast<const char*>(from), count * sizeof(T)};
}

int64_t padded(int64_t bytes) { return (bytes + 7) / 8 * 8; }

// Hashes what it writes, in blocks that a reader can reproduce.
class BlockWriter {
 public:
  explicit BlockWriter(std::ostream& out) : out_(out) {}
  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t take = std::min(bytes.size(), kBlock - block_.size());
      block_ += bytes.substr(0, take);
      bytes.remove_prefix(take);
      if (block_.size() == kBlock) flush();
    }
  }
  // Of all that was written.
  uint64_t checksum() {
    if (!block_.empty()) flush();
    return checksum_;
  }

 private:
  void flush() {
    checksum_ = hash_bytes(block_, checksum_);
    out_.write(block_.data(), static_cast<std::streamsize>(block_.size()));
    block_.clear();
  }
  std::ostream& out_;
  std::string block_;
  uint64_t checksum_ = 0;
};

uint64_t checksum_of(const FileReader& file, int64_t bytes) {
  uint64_t checksum = 0;
  std::vector<std::byte> block;
  for (int64_t at = 0; at < bytes; at += static_cast<int64_t>(block.size())) {
    block.resize(std::min(kBlock, static_cast<size_t>(bytes - at)));
    file.read(at, block);
    checksum = hash_bytes(bytes_of(block.data(), block.size()), checksum);
  }
  return checksum;
}

// About a block of text, up to a position where the tokenizer allows a cut; more if there is none in it.
size_t next_cut(std::string_view text, const Tokenizer& tokenizer) {
  for (size_t wanted = kBlock; wanted < text.size(); wanted *= 2) {
    const size_t cut = tokenizer.cut_before(text, wanted);
    if (cut > 0) return cut;
  }
  return text.size();
}

struct Job {
  std::string_view text;
  std::vector<int32_t> tokens;
  int64_t unknown = 0;
  std::exception_ptr error;
};

void encode(std::span<Job> jobs, const Tokenizer& tokenizer) {
  const auto count = static_cast<int64_t>(jobs.size());
  parallel_for(count, static_cast<int>(count), [&](int64_t i) {
    Job& job = jobs[static_cast<size_t>(i)];
    job.tokens.clear();
    try {
      tokenizer.encode(job.text, job.tokens);
      job.unknown = tokenizer.count_unknown(job.text);
    } catch (...) {
      job.error = std::current_exception();
    }
  });
  for (const Job& job : jobs) {
    if (job.error) std::rethrow_exception(job.error);
  }
}

void write_tokens(const std::vector<int32_t>& tokens, int64_t vocabulary, int64_t stored_width,
                  std::vector<uint16_t>& narrow, BlockWriter& out) {
  for (const int32_t token : tokens) HEED_ASSERT(token >= 0 && token < vocabulary);
  if (stored_width == 4) return out.write(bytes_of(tokens.data(), tokens.size()));
  narrow.assign(tokens.begin(), tokens.end());
  out.write(bytes_of(narrow.data(), narrow.size()));
}

void make(const Part& part, const Tokenizer& tokenizer, Description description, std::ostream& stream,
          const TokenStream::Progress& progress) {
  BlockWriter out(stream);
  // A job holds a block of text and its tokens; more than a few concurrent jobs only use memory.
  std::vector<Job> jobs(static_cast<size_t>(std::clamp(thread_count(), 1, 8)));
  std::vector<uint16_t> narrow;
  std::vector<int64_t> slice_ends;
  int64_t done = 0;
  for (const TextSlice& slice : part.slices) {
    for (size_t begin = 0; begin < slice.text.size() && stream;) {
      size_t at = begin, count = 0;
      for (; count < jobs.size() && at < slice.text.size(); at += jobs[count++].text.size()) {
        const std::string_view rest = slice.text.substr(at);
        jobs[count].text = rest.substr(0, next_cut(rest, tokenizer));
      }
      encode(std::span(jobs).first(count), tokenizer);
      for (const Job& job : std::span(jobs).first(count)) {
        write_tokens(job.tokens, tokenizer.size(), description.stored_width, narrow, out);
        description.tokens += static_cast<int64_t>(job.tokens.size());
        description.unknown += job.unknown;
      }
      slice.forget(begin, at);
      done += static_cast<int64_t>(at - begin);
      begin = at;
      if (progress) progress(done, description.text_bytes);
    }
    slice_ends.push_back(description.tokens);
  }
  const int64_t bytes = description.tokens * description.stored_width;
  out.write(std::string(static_cast<size_t>(padded(bytes) - bytes), '\0'));
  out.write(bytes_of(slice_ends.data(), slice_ends.size()));
  out.write(bytes_of(&description, 1).substr(0, offsetof(Description, checksum)));
  description.checksum = out.checksum();
  stream.write(reinterpret_cast<const char*>(&description.checksum), sizeof description.checksum);
}

struct Opened {
  FileReader file;
  Description description;
  std::vector<int64_t> slice_ends;
};

// Nothing if the file is missing, incomplete or does not match `expected`, in which everything is known
// except the numbers of tokens and of unknown ones among them.
std::optional<Opened> open(const fs::path& path, Description expected) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  Opened opened{FileReader(path), {}, {}};
  const int64_t size = opened.file.size();
  if (size < kDescriptionSize) return {};
  Description& found = opened.description;
  opened.file.read(size - kDescriptionSize, std::as_writable_bytes(std::span(&found, 1)));
  expected.tokens = found.tokens;
  expected.unknown = found.unknown;
  expected.checksum = found.checksum;
  if (found != expected || found.tokens < 0 || found.tokens > size) return {};
  if (found.unknown < 0 || found.unknown > found.tokens) return {};
  const int64_t table = padded(found.tokens * found.stored_width);
  if (table + found.slices * 8 + kDescriptionSize != size) return {};
  if (checksum_of(opened.file, size - static_cast<int64_t>(sizeof found.checksum)) != found.checksum)
    return {};
  std::vector<int64_t>& ends = opened.slice_ends;
  ends.resize(static_cast<size_t>(found.slices));
  opened.file.read(table, std::as_writable_bytes(std::span(ends)));
  const bool cover_all = ends.empty() ? found.tokens == 0 : ends.front() >= 0 && ends.back() == found.tokens;
  if (!cover_all || !std::is_sorted(ends.begin(), ends.end())) return {};
  return opened;
}

}  // namespace

TokenStream::TokenStream(const Part& part, const Tokenizer& tokenizer, const fs::path& cache,
                         const Progress& progress)
    : name_(part.name), end_(tokenizer.end()) {
  Description description;
  description.text_hash = part.hash();
  description.tokenizer_hash = tokenizer.hash();
  description.stored_width = tokenizer.size() <= 65536 ? 2 : 4;
  description.text_bytes = part.bytes();
  description.slices = static_cast<int64_t>(part.slices.size());
  path_ =
      cache / (hash_name(description.text_hash) + "-" + hash_name(description.tokenizer_hash) + ".tokens");
  std::optional<Opened> opened = open(path_, description);
  if (!opened) {
    std::error_code error;
    fs::create_directories(cache, error);
    if (error)
      throw system_error("the folder '", cache.string(), "' for tokens cannot be created: ", error.message());
    try {
      write_file(path_, [&](std::ostream& out) { make(part, tokenizer, description, out, progress); });
    } catch (const Error& wrong) {
      throw Error(wrong.kind(), text("tokens of ", name_, ": ", wrong.what()));
    }
    opened = open(path_, description);
    if (!opened) throw system_error(path_.string(), ": was written, but cannot be read back");
  }
  reader_ = std::move(opened->file);
  const Description& found = opened->description;
  counts_ = {found.tokens, found.text_bytes, found.unknown, tokenizer.folds_letters()};
  stored_width_ = found.stored_width;
  slice_ends_ = std::move(opened->slice_ends);
}

void TokenStream::copy(int64_t begin, int64_t count, int32_t* out) const {
  HEED_ASSERT(begin >= 0 && count >= 0 && begin + count <= size());
  if (stored_width_ == 4) {
    reader_.read(begin * 4, std::as_writable_bytes(std::span(out, static_cast<size_t>(count))));
    return;
  }
  std::array<uint16_t, 4096> narrow;
  while (count > 0) {
    const auto part = std::span(narrow).first(std::min(narrow.size(), static_cast<size_t>(count)));
    reader_.read(begin * 2, std::as_writable_bytes(part));
    out = std::copy(part.begin(), part.end(), out);
    begin += static_cast<int64_t>(part.size());
    count -= static_cast<int64_t>(part.size());
  }
}

}  // namespace heed::data
