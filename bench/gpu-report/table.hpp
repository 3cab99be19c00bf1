// Tables of the report, as markdown and as comma-separated values.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gpu_report {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() == 1; }

  std::string markdown() const {
    std::string text;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      text += "|";
      for (const std::string& cell : rows_[k]) text += " " + cell + " |";
      text += "\n";
      if (k > 0) continue;
      for (std::size_t column = 0; column < rows_[0].size(); ++column) {
        text += column == 0 ? "| --- " : "| ---: ";
      }
      text += "|\n";
    }
    return text;
  }
  std::string csv() const {
    std::string text;
    for (const auto& row : rows_) {
      for (std::size_t k = 0; k < row.size(); ++k) text += (k > 0 ? ",\"" : "\"") + row[k] + "\"";
      text += "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace gpu_report
