// A named list of things of one kind. The list is written out in one place because linkers may drop
// self-registering objects from static libraries.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/fields.h"

namespace heed {

template <class Entry>  // Entry has `std::string name`
class Registry {
 public:
  Registry(std::string kind, std::vector<Entry> entries)
      : kind_(std::move(kind)), entries_(std::move(entries)) {}

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  // "a, b, c", for help and messages.
  std::string names() const {
    std::string all;
    for (const Entry& entry : entries_) all += (all.empty() ? "" : ", ") + entry.name;
    return all;
  }

  const Entry& find(const std::string& name) const {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) {
      if (entry.name == name) return entry;
      names.push_back(entry.name);
    }
    const std::string guess = nearest(name, names);
    throw usage_error("unknown ", kind_, " '", name, "'",
                      guess.empty() ? "." : "; did you mean '" + guess + "'?", " Known: ", this->names());
  }

 private:
  std::string kind_;
  std::vector<Entry> entries_;
};

}  // namespace heed
