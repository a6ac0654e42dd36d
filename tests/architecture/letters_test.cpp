// A letter of an architecture string is known to the table of letters and to the file of its block, to nobody
// else: what others need to know of a letter they ask the table. So no other source of heed or of its page
// spells one out, be it to compare, to search for or to list.
#include "heed/spec/letters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace heed::test {
namespace {

namespace fs = std::filesystem;

std::set<char> letters() {
  std::set<char> all;
  for (const spec::Letter& row : spec::letters()) all.insert(row.letter);
  return all;
}

// Files that may spell out any letter.
bool knows_letters(const std::string& file) {
  return file == "heed/spec/letters.def" || file == "heed/spec/letters.h" ||
         file == "heed/spec/letters.cpp" || (file.starts_with("heed/model/") && file.ends_with("_block.cpp"));
}

struct Exception {
  const char* file;
  std::set<std::string> literals;
  const char* reason;
};

const std::vector<Exception>& exceptions() {
  static const std::vector<Exception> all = {
      {"heed/base/threads.cpp", {"r"}, "a file is opened for reading"},
      {"heed/base/units.cpp", {"s"}, "seconds"},
      {"heed/cli/bench_pass.cpp", {"isa"}, "the instruction set"},
      {"heed/cli/flags.cpp", {"s"}, "the plural"},
      {"heed/cli/run_record.cpp", {"isa"}, "the instruction set"},
      {"heed/data/pretokenize.cpp", {"s", "r"}, "'s and 're, contractions of English"},
      {"heed/measure/yardstick.cpp", {"(sf)x"}, "the fixed models that tell how fast the machine is"},
      {"heed/report/web/src/views/search/csv.ts", {"a"}, "a link of HTML"},
      {"heed/search/baselines.cpp", {"(sf)x"}, "what LiteTransformerSearch compares with"},
      {"heed/search/model_table.cpp", {"(sf)x"}, "tables of LiteTransformerSearch have such layers only"},
      {"heed/search/supernet/settings.h", {"sfi"}, "what a user may choose, as published"},
      {"heed/spec/design.cpp", {"s", "f", "sf", "r", "a"}, "writes the strings of published designs"},
      {"heed/spec/model_spec.cpp", {"(sf)x16", "(a)x10"}, "the usual model of a backbone"},
      {"heed/spec/model_spec.h", {"(sf)x12"}, "the usual model of a backbone"},
      {"heed/spec/space.h", {"sf"}, "the layer of a space that names none"},
      {"heed/store/bert_names.cpp", {"(sf)x"}, "what BERT is"},
      {"heed/store/gpt2_names.cpp", {"(sf)x"}, "what GPT-2 is"},
  };
  return all;
}

struct Literal {
  std::string text;
  int line;
  char quote;
  size_t end;  // in the source, behind the closing quote
};

// Literals of C++ or TypeScript, without those in comments. A quote that is not closed on its line, or stands
// behind a letter or digit, is none: 1'000, text between tags.
std::vector<Literal> literals_of(const std::string& source) {
  std::vector<Literal> all;
  int line = 1;
  for (size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    const auto next = [&](size_t n) { return i + n < source.size() ? source[i + n] : '\0'; };
    if (c == '\n') ++line;
    if (c == '/' && next(1) == '/') {
      i = std::min(source.find('\n', i), source.size()) - 1;
    } else if (c == '/' && next(1) == '*') {
      const size_t end = std::min(source.find("*/", i), source.size());
      line += static_cast<int>(std::count(source.begin() + static_cast<std::ptrdiff_t>(i),
                                          source.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      i = end;
    } else if (c == 'R' && next(1) == '"') {
      const std::string close = ")" + source.substr(i + 2, source.find('(', i) - i - 2) + "\"";
      const size_t end = std::min(source.find(close, i), source.size());
      line += static_cast<int>(std::count(source.begin() + static_cast<std::ptrdiff_t>(i),
                                          source.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      i = end + close.size() - 1;
    } else if (c == '"' || c == '\'' || c == '`') {
      if (c != '"' && i > 0 && std::isalnum(static_cast<unsigned char>(source[i - 1]))) continue;
      std::string text;
      size_t end = i + 1;
      for (; end < source.size() && source[end] != c && source[end] != '\n'; ++end) {
        text += source[end];
        if (source[end] == '\\') text += source[++end];
      }
      if (end >= source.size() || source[end] != c) continue;
      all.push_back({text, line, c, end + 1});
      i = end;
    }
  }
  return all;
}

// A literal of nothing but letters: "sf", or an architecture string, "(sfff)x6 (f)x8".
bool is_architecture(const std::string& text, const std::set<char>& known) {
  std::string rest;
  const bool groups = text.starts_with('(');
  for (const char c : text) {
    if (!groups || (!std::isdigit(static_cast<unsigned char>(c)) && !std::strchr("()x ", c))) rest += c;
  }
  return !rest.empty() && std::all_of(rest.begin(), rest.end(), [&](char c) { return known.contains(c); });
}

// What of the table the source spells out: literals of nothing but its letters, alphabets that are searched
// ("sfraxyz".indexOf), keys of an object (s: "self-attention"), and members that are compared (block.letter
// ==).
std::vector<Literal> spelled_out(const std::string& source, bool script) {
  const std::set<char> known = letters();
  const auto is_letter = [&](char c) { return known.contains(c); };
  std::vector<Literal> found;
  for (const Literal& literal : literals_of(source)) {
    const std::string& text = literal.text;
    const std::string behind = source.substr(literal.end, 10);
    const bool searched = behind.starts_with(".indexOf(") || behind.starts_with(".includes(");
    if (searched ? std::any_of(text.begin(), text.end(), is_letter) : is_architecture(text, known))
      found.push_back(literal);
    if (!script) continue;
    size_t at = source.rfind('\n', literal.end) + 1;
    while (at < source.size() && source[at] == ' ') ++at;
    if (is_letter(source[at]) && source.compare(at + 1, 2, ": ") == 0 && source[at + 3] == literal.quote)
      found.push_back({std::string(1, source[at]), literal.line, literal.quote, literal.end});
  }
  static const std::regex compared("\\.letter *[=!]=(?!=)");
  for (std::sregex_iterator at(source.begin(), source.end(), compared), end; !script && at != end; ++at)
    found.push_back({at->str(),
                     1 + static_cast<int>(std::count(source.begin(), source.begin() + at->position(), '\n')),
                     ' ', 0});
  return found;
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Letters, AreKnownToTheTableAndTheirBlocksOnly) {
  const fs::path root = HEED_SOURCE_DIR;
  std::map<std::string, std::set<std::string>> excused;  // by file
  std::vector<std::string> offenders;
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root / "heed")) {
    const std::string file = fs::relative(entry.path(), root).string(), kind = entry.path().extension();
    const bool script = kind == ".ts" || kind == ".tsx";
    if (script ? !file.starts_with("heed/report/web/src/") : kind != ".h" && kind != ".cpp" && kind != ".def")
      continue;
    ++files;
    if (knows_letters(file)) continue;
    for (const Literal& literal : spelled_out(content_of(entry.path()), script)) {
      const auto excuse =
          std::find_if(exceptions().begin(), exceptions().end(), [&](const Exception& exception) {
            return exception.file == file && exception.literals.contains(literal.text);
          });
      if (excuse == exceptions().end()) {
        offenders.push_back(file + ":" + std::to_string(literal.line) + ": " + literal.quote + literal.text +
                            literal.quote);
      } else {
        excused[file].insert(literal.text);
      }
    }
  }
  EXPECT_GT(files, 300) << "these are not all sources";
  std::sort(offenders.begin(), offenders.end());
  for (const std::string& offender : offenders)
    ADD_FAILURE() << offender << " is a letter; ask the table of letters what you need to know of it";
  if (!offenders.empty()) std::printf("%zu letters are spelled out\n", offenders.size());
  for (const Exception& exception : exceptions())
    EXPECT_EQ(excused[exception.file], exception.literals)
        << exception.file << " needs no exception for the rest any more (" << exception.reason << ")";
}

TEST(Letters, EveryWayToSpellOneIsNoticed) {
  ASSERT_TRUE(letters().contains('s') && letters().contains('f') && letters().contains('i'));
  const auto noticed = [](const std::string& source, bool script = false) {
    std::string all;
    for (const Literal& literal : spelled_out(source, script)) all += literal.text + " ";
    return all;
  };
  EXPECT_EQ(noticed("if (letter == 's' || 'f' != letter) {}"), "s f ");
  EXPECT_EQ(noticed("switch (c) {\ncase 'i': break;\n}"), "i ");
  EXPECT_EQ(noticed("letters.find(\"sf\"); holds(kind, \"s\"); std::erase(found, 'i');"), "sf s i ");
  EXPECT_EQ(noticed("model.arch = \"(sf)x12\"; text(\"(sfff)x6 (f)x8\"); \"(x)\"; \"12\"; \"(no)\""),
            "(sf)x12 (sfff)x6 (f)x8 ");
  EXPECT_EQ(noticed("if (block.letter == kIdentity || row.letter != other.letter) {}"),
            ".letter == .letter != ");
  EXPECT_EQ(noticed("constexpr std::string_view kAll = \"sfi\";"), "sfi ");
  EXPECT_EQ(noticed("letter === \"i\" || 's' === letter || `f` === letter", true), "i s f ");
  EXPECT_EQ(noticed("const place = \"sfxyz\".indexOf(letter);", true), "sfxyz ");
  EXPECT_EQ(noticed("const blocks = {\n  s: \"self-attention\",\n  \"f\": 1,\n};", true), "s f ");
  EXPECT_EQ(noticed("x = 'x'; y = 10'000 + 1's'; // 's'\n/* 's'\n's' */ z = R\"(\"s\")\"; \"\""), "");
  EXPECT_EQ(noticed("<p>heed's page isn't \"seen\"</p> 'two words'", true), "");
}

}  // namespace
}  // namespace heed::test
