// Text files for readers: opened with checks, found by name.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "heed/data/corpus.h"

namespace heed::data {

// The whole file as a slice. Empty, compressed and (unless `to.any_bytes`) binary files are refused.
TextSlice open_text(const std::filesystem::path& path, Reading& to);
// The same for a file that was not named explicitly: what open_text would refuse becomes a note.
std::optional<TextSlice> open_if_text(const std::filesystem::path& path, Reading& to);

// Regular files of a folder, not those that begin with a dot, in the order of their names.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);

// "wiki.", ".tokens" stands for wiki.train.tokens, wiki.valid.tokens and so on.
struct NamePattern {
  std::string before, after;
};

struct NamedFiles {
  std::array<std::filesystem::path, 3> files;  // by Split; empty where there is none
  const std::filesystem::path& file(Split split) const { return files[static_cast<size_t>(split)]; }
  int count() const;
};

// The files of the pattern that gives the most parts; the first such pattern if several do.
NamedFiles find_named(const std::filesystem::path& folder, const std::vector<NamePattern>& patterns);
void read_named(const NamedFiles& named, Reading& to);

}  // namespace heed::data
