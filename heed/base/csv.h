// Tables with commas (RFC 4180): quoted cells may hold commas, quotes and line ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

class Csv {
 public:
  // The first line names the columns. `what`, such as a path, starts every message. Errors name the line.
  Csv(std::string_view text, std::string what);

  size_t rows() const { return rows_.size(); }
  const std::vector<std::string>& columns() const { return columns_; }
  bool has(const std::string& column) const;
  // Empty where the table has no such column.
  const std::string& at(size_t row, const std::string& column) const;
  // The same as a number. Throws if the cell does not hold one.
  double number(size_t row, const std::string& column) const;
  int64_t integer(size_t row, const std::string& column) const;
  // "models.csv: line 7", to begin a message about a row.
  std::string place(size_t row) const;

 private:
  struct Row {
    int64_t line;
    std::vector<std::string> cells;
  };
  std::string what_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

// The cell as it is written, in quotes where it needs them.
std::string csv_cell(std::string_view text);

}  // namespace heed
