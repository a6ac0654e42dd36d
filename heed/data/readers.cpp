#include "heed/data/readers.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "heed/data/cut.h"
#include "heed/data/text_files.h"

namespace heed::data {
namespace {

namespace fs = std::filesystem;

// The parts are [0, bounds[0]), [bounds[0], bounds[1]) and the rest of the concatenated slices.
void assign(const std::vector<TextSlice>& slices, std::array<size_t, 2> bounds, Reading& to) {
  const std::array<size_t, 4> edges = {0, bounds[0], bounds[1], std::string_view::npos};
  for (Split split : kSplits) {
    const size_t part_begin = edges[static_cast<size_t>(split)],
                 part_end = edges[static_cast<size_t>(split) + 1];
    size_t offset = 0;
    for (const TextSlice& slice : slices) {
      const size_t begin = std::clamp(part_begin, offset, offset + slice.text.size());
      const size_t end = std::clamp(part_end, offset, offset + slice.text.size());
      if (begin < end) to[split].push_back({slice.text.substr(begin - offset, end - begin), slice.file});
      offset += slice.text.size();
    }
  }
}

size_t total(const std::vector<TextSlice>& slices) {
  return std::accumulate(slices.begin(), slices.end(), size_t{0},
                         [](size_t sum, const TextSlice& slice) { return sum + slice.text.size(); });
}

// The last twentieth is the test part, the one before it validation. Cuts move back to a line end, by half
// a part at most.
void share_out(const std::vector<TextSlice>& slices, Reading& to) {
  const size_t size = total(slices), reach = size / 40;
  const auto cut = [&](size_t wanted) {
    size_t offset = 0;
    for (const TextSlice& slice : slices) {
      if (wanted < offset + slice.text.size()) return offset + cut_near(slice.text, wanted - offset, reach);
      offset += slice.text.size();
    }
    return size;
  };
  assign(slices, {cut(size - size / 10), cut(size - size / 20)}, to);
}

// The file, or every text file of the folder by name.
std::vector<TextSlice> all_texts(const fs::path& path, Reading& to) {
  if (!fs::is_directory(path)) return {open_text(path, to)};
  std::vector<TextSlice> slices;
  for (const fs::path& file : files_in(path)) {
    if (const std::optional<TextSlice> slice = open_if_text(file, to)) slices.push_back(*slice);
  }
  if (slices.empty())
    throw usage_error("data: the folder '", path.string(), "' holds no text files",
                      to.notes.empty() ? "" : "; " + to.notes.front());
  return slices;
}

void read_plain(const fs::path& path, Reading& to) {
  if (!fs::is_directory(path)) return share_out(all_texts(path, to), to);
  const std::vector<NamePattern> patterns = {
      {"", ".txt"}, {"wiki.", ".tokens"}, {"wiki.", ".raw"}, {"ptb.", ".txt"}, {"", ""}};
  const NamedFiles named = find_named(path, patterns);
  // A single file called test.txt does not make a folder a split one.
  if (!named.file(Split::kTrain).empty() || named.count() >= 2) return read_named(named, to);
  share_out(all_texts(path, to), to);
}

void read_whole(const fs::path& path, Reading& to) { to[Split::kTest] = all_texts(path, to); }

// 90M, 5M and 5M bytes of the 100M; other sizes in proportion.
std::array<size_t, 2> ninety_five_five(size_t size) {
  return {size / 100 * 90 + size % 100 * 90 / 100, size / 100 * 95 + size % 100 * 95 / 100};
}

void read_enwik8(const fs::path& path, Reading& to) {
  const TextSlice slice = open_text(path, to);
  assign({slice}, ninety_five_five(slice.text.size()), to);
}

void read_text8(const fs::path& path, Reading& to) {
  read_enwik8(path, to);
  for (std::vector<TextSlice>& part : to.slices) {
    for (TextSlice& slice : part) {
      constexpr std::string_view kBlanks = " \t\r\n";
      const size_t begin = std::min(slice.text.find_first_not_of(kBlanks), slice.text.size());
      slice.text = slice.text.substr(begin, slice.text.find_last_not_of(kBlanks) + 1 - begin);
    }
  }
}

const std::vector<NamePattern>& wikitext_patterns() {
  static const std::vector<NamePattern> patterns = {{"wiki.", ".tokens"}, {"", ".txt"}};
  return patterns;
}

void read_wikitext(const fs::path& path, Reading& to) {
  const NamedFiles named = find_named(path, wikitext_patterns());
  if (named.count() == 0) {
    throw usage_error(
        "data: '", path.string(), "' ", fs::is_directory(path) ? "has no such files" : "is not a folder",
        "; WikiText is a folder with wiki.train.tokens, wiki.valid.tokens and wiki.test.tokens, "
        "or train.txt, valid.txt and test.txt");
  }
  read_named(named, to);
}

constexpr const char* kLm1bTraining = "training-monolingual.tokenized.shuffled";
constexpr const char* kLm1bHeldOut = "heldout-monolingual.tokenized.shuffled";

// The shards with this prefix, in the folder itself and in the subfolder of the release.
std::vector<fs::path> lm1b_shards(const fs::path& path, const char* folder, std::string_view begin) {
  std::vector<fs::path> shards;
  for (const fs::path& place : {path, path / folder}) {
    if (!fs::is_directory(place)) continue;
    for (const fs::path& file : files_in(place)) {
      if (file.filename().string().starts_with(begin)) shards.push_back(file);
    }
  }
  return shards;
}

void read_lm1b(const fs::path& path, Reading& to) {
  const auto training = lm1b_shards(path, kLm1bTraining, "news.en-");
  const auto held_out = lm1b_shards(path, kLm1bHeldOut, "news.en.heldout-");
  for (const fs::path& shard : training) {
    // Shard 0 of 100 is the text from which the held-out shards are cut.
    if (shard.filename().string().starts_with("news.en-00000-")) {
      to.notes.push_back(shard.string() + " is left out: it holds the held-out text");
    } else {
      to[Split::kTrain].push_back(open_text(shard, to));
    }
  }
  // By convention shard 0 of 50 is the test part; the next one found is validation.
  for (const fs::path& shard : held_out) {
    const bool test = shard.filename().string().starts_with("news.en.heldout-00000-");
    std::vector<TextSlice>& part = to[test ? Split::kTest : Split::kValid];
    if (part.empty()) part.push_back(open_text(shard, to));
  }
  if (to.files.empty()) {
    throw usage_error("data: '", path.string(), "' has no files of One Billion Word; expected ",
                      kLm1bTraining, "/news.en-*-of-00100 and ", kLm1bHeldOut,
                      "/news.en.heldout-*-of-00050, or these files ", "in one folder");
  }
}

bool file_begins(const fs::path& path, std::string_view name) {
  return fs::is_regular_file(path) && path.filename().string().starts_with(name);
}

}  // namespace

const Registry<Reader>& readers() {
  static const Registry<Reader> all(
      "reader",
      {
          {"auto", "the first of those below that recognises the path", false, nullptr, nullptr},
          {"enwik8", "one file, by bytes: 90% train, 5% valid, 5% test", true,
           [](const fs::path& path) { return file_begins(path, "enwik8"); }, read_enwik8},
          {"text8", "as enwik8, white space at the ends of the parts removed", false,
           [](const fs::path& path) { return file_begins(path, "text8"); }, read_text8},
          {"wikitext", "a folder with wiki.{train,valid,test}.tokens or {train,valid,test}.txt", false,
           [](const fs::path& path) {
             return find_named(path, {{"wiki.", ".tokens"}}).count() > 0;
           },
           read_wikitext},
          {"lm1b", "a folder with the shards of One Billion Word", false,
           [](const fs::path& path) {
             return !lm1b_shards(path, kLm1bTraining, "news.en-").empty() ||
                    !lm1b_shards(path, kLm1bHeldOut, "news.en.heldout-").empty();
           },
           read_lm1b},
          {"plain", "any text file or folder: the last 5% test, 5% before it valid; or train.txt, ...", false,
           nullptr, read_plain},
          {"whole", "any text file or folder: all of it is the test part", false, nullptr, read_whole},
      });
  return all;
}

const Reader& recognise(const fs::path& path) {
  for (const Reader& reader : readers()) {
    if (reader.recognises && reader.recognises(path)) return reader;
  }
  return readers().find("plain");
}

}  // namespace heed::data
