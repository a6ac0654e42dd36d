// Folders that vanish, and vocabularies so simple that the expected tokens are obvious.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/files.h"
#include "heed/data/corpus.h"
#include "heed/data/tokenizer.h"

namespace heed::data {

class ScratchFolder {
 public:
  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path write(const std::string& name, std::string_view content) const {
    const std::filesystem::path file = folder_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

 private:
  const TemporaryFolder folder_;
};

inline std::vector<int32_t> encoded(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<int32_t> ids;
  tokenizer.encode(text, ids);
  return ids;
}

// Checks the kind and part of the message.
inline void expect_error(const std::function<void()>& body, ErrorKind kind, const std::string& part) {
  try {
    body();
    ADD_FAILURE() << "no error; expected one with '" << part << "'";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// One token per byte; a line end may serve as the end of a sentence. The vocabulary may claim to be larger.
class FakeBytes : public Tokenizer {
 public:
  explicit FakeBytes(int64_t size = 256, int32_t end = -1) : size_(size), end_(end) {}
  std::string_view kind() const override { return "fake_bytes"; }
  int64_t size() const override { return size_; }
  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    encoded += static_cast<int64_t>(text.size());
    if (text.find('\x7f') != text.npos) throw usage_error("no token for 0x7f");
    for (const char c : text)
      ids.push_back(static_cast<int32_t>(size_ - 256 + static_cast<unsigned char>(c)));
  }
  size_t cut_before(std::string_view, size_t position) const override { return position; }
  std::string decode(std::span<const int32_t>) const override { return ""; }
  Json to_json() const override { return {{"kind", "fake_bytes"}, {"size", size_}}; }
  int32_t end() const override { return end_; }

  mutable std::atomic<int64_t> encoded = 0;  // bytes so far

 private:
  int64_t size_;
  int32_t end_;
};

// Words between blanks, by a hash of their letters, and 0 at every line end. Cut elsewhere than before a word
// it gives other tokens.
class FakeWords : public Tokenizer {
 public:
  std::string_view kind() const override { return "fake_words"; }
  int64_t size() const override { return 1 << 20; }
  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    uint32_t word = 0;
    for (const char c : text) {
      if (c != ' ' && c != '\n') {
        word = word * 31 + static_cast<unsigned char>(c) + 1;
        continue;
      }
      if (word != 0) ids.push_back(static_cast<int32_t>(1 + word % 1048575));
      if (c == '\n') ids.push_back(0);
      word = 0;
    }
    if (word != 0) ids.push_back(static_cast<int32_t>(1 + word % 1048575));
  }
  size_t cut_before(std::string_view text, size_t position) const override {
    while (position > 0 && text[position - 1] != ' ' && text[position - 1] != '\n') --position;
    return position;
  }
  std::string decode(std::span<const int32_t>) const override { return ""; }
  Json to_json() const override { return {{"kind", "fake_words"}}; }
  int32_t end() const override { return 0; }
};

}  // namespace heed::data
