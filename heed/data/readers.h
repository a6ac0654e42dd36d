// How the files of a data set become parts. One function per kind, one line in readers.cpp.
#pragma once

#include <filesystem>
#include <string>

#include "heed/base/registry.h"
#include "heed/data/corpus.h"

namespace heed::data {

struct Reader {
  std::string name;
  std::string meaning;
  bool any_bytes;                                           // takes binary files when asked for by name
  bool (*recognises)(const std::filesystem::path& path);    // for "auto"
  void (*read)(const std::filesystem::path&, Reading& to);  // null: "auto"
};
const Registry<Reader>& readers();

// The first in the list that recognises the path; plain, if none does.
const Reader& recognise(const std::filesystem::path& path);

}  // namespace heed::data
