// Text on disk, in up to three parts: train, valid, test.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/fields.h"
#include "heed/base/files.h"
#include "heed/data/tokenizer.h"

namespace heed::data {

enum class Split { kTrain, kValid, kTest };
inline constexpr std::array kSplits = {Split::kTrain, Split::kValid, Split::kTest};

// A contiguous part of one file.
struct TextSlice {
  std::string_view text;
  const MappedFile* file = nullptr;
  // Tells the kernel that bytes [begin, end) of the text need not be kept in memory.
  void forget(size_t begin, size_t end) const;
};

struct Part {
  std::string name;               // "the train part of 'data/enwik8'", for messages
  std::vector<TextSlice> slices;  // in order, none of them empty; one per file
  int64_t bytes() const;
  // Of every byte and of the cuts between slices; 100 MB take a few hundredths of a second.
  uint64_t hash() const;
};

// What a reader fills.
struct Reading {
  bool any_bytes = false;  // binary files are accepted
  std::vector<std::unique_ptr<const MappedFile>> files;
  std::array<std::vector<TextSlice>, 3> slices;
  std::vector<std::string> notes;
  std::vector<TextSlice>& operator[](Split split) { return slices[static_cast<size_t>(split)]; }
};

// Owns the files that its parts refer to; nothing is copied.
class Corpus {
 public:
  Corpus(std::string name, std::string reader, Reading reading);
  const std::string& name() const { return name_; }
  const std::string& reader() const { return reader_; }
  // What the reader left out, one sentence each, to tell the user.
  const std::vector<std::string>& notes() const { return notes_; }
  bool has(Split split) const { return !parts_[static_cast<size_t>(split)].slices.empty(); }
  // Throws if the part has no text.
  const Part& part(Split split) const;
  // The text of these parts, for learning a vocabulary; the corpus must outlive it. Large slices are split
  // into blocks of whole lines of about a MiB each.
  TextSource text(std::vector<Split> splits) const;

 private:
  std::string name_, reader_;
  std::vector<std::unique_ptr<const MappedFile>> files_;
  std::array<Part, 3> parts_;
  std::vector<std::string> notes_;
};

// `reader` is a name in readers() (readers.h); "auto" takes the first that recognises the path. Files that
// are missing, empty, compressed or binary are refused. `unwrapped` joins the lines of a paragraph
// (unwrap.h).
Corpus open_corpus(const std::filesystem::path& path, const std::string& reader = "auto",
                   bool unwrapped = false);

}  // namespace heed::data

template <>
struct heed::EnumNames<heed::data::Split> {
  static constexpr std::pair<heed::data::Split, const char*> names[] = {
      {heed::data::Split::kTrain, "train"},
      {heed::data::Split::kValid, "valid"},
      {heed::data::Split::kTest, "test"},
  };
};
