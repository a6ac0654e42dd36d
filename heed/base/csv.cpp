#include "heed/base/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "heed/base/error.h"

namespace heed {
namespace {

// Reads cells one after the other and finds the ends of lines.
class Reader {
 public:
  Reader(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  // Where the last line began.
  int64_t line() const { return begin_; }
  // The cells of the next line that is not empty; none at the end.
  std::vector<std::string> next() {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) skip();
    std::vector<std::string> cells;
    begin_ = line_;
    if (at_ == text_.size()) return cells;
    for (;;) {
      cells.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted() : plain());
      if (at_ == text_.size()) return cells;
      const char end = text_[at_];
      skip();
      if (end != ',') return cells;
    }
  }

 private:
  void skip() { line_ += text_[at_++] == '\n'; }

  std::string plain() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r') {
      if (text_[at_] == '"') throw usage_error(what_, ": line ", line_, " has a quote inside a plain cell");
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string quoted() {
    const int64_t begin = line_;
    std::string cell;
    for (skip(); at_ < text_.size(); skip()) {
      if (text_[at_] != '"') {
        cell += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        cell += '"';
        ++at_;
      } else {
        ++at_;
        if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r')
          throw usage_error(what_, ": line ", line_, " continues after a closing quote without a comma");
        return cell;
      }
    }
    throw usage_error(what_, ": the quote that opens in line ", begin, " is never closed");
  }

  std::string_view text_;
  const std::string& what_;
  size_t at_ = 0;
  int64_t line_ = 1, begin_ = 1;
};

template <class Number>
bool parsed(const std::string& cell, Number& value) {
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc() && end == cell.data() + cell.size();
}

}  // namespace

Csv::Csv(std::string_view text, std::string what) : what_(std::move(what)) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Reader reader(text, what_);
  columns_ = reader.next();
  if (columns_.empty()) throw usage_error(what_, " is empty; its first line must name the columns");
  std::set<std::string> seen;
  for (const std::string& column : columns_) {
    if (!seen.insert(column).second) throw usage_error(what_, " has two columns '", column, "'");
  }
  for (std::vector<std::string> cells; !(cells = reader.next()).empty();) {
    const int64_t line = reader.line();
    if (cells.size() != columns_.size())
      throw usage_error(what_, ": line ", line, " has ", cells.size(), " cells; the first line names ",
                        columns_.size(), " columns");
    rows_.push_back({line, std::move(cells)});
  }
}

bool Csv::has(const std::string& column) const {
  return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

const std::string& Csv::at(size_t row, const std::string& column) const {
  static const std::string none;
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  return found == columns_.end() ? none
                                 : rows_.at(row).cells.at(static_cast<size_t>(found - columns_.begin()));
}

double Csv::number(size_t row, const std::string& column) const {
  double value = 0;
  if (!parsed(at(row, column), value) || !std::isfinite(value))
    throw usage_error(place(row), ": ", column, " is '", at(row, column), "'; it must be a number");
  return value;
}

int64_t Csv::integer(size_t row, const std::string& column) const {
  int64_t value = 0;
  if (!parsed(at(row, column), value))
    throw usage_error(place(row), ": ", column, " is '", at(row, column), "'; it must be a whole number");
  return value;
}

std::string Csv::place(size_t row) const { return text(what_, ": line ", rows_.at(row).line); }

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string cell = "\"";
  for (char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

}  // namespace heed
