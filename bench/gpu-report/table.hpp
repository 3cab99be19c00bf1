// Tables of the report, for its page and as comma-separated values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpu_report {

/// For text between tags.
inline std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string html() const {
    std::string text = "<table>\n";
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      const std::string cell = k == 0 ? "th" : "td";
      text += "<tr>";
      for (const std::string& one : rows_[k]) {
        text += "<" + cell + ">" + escaped(one) + "</" + cell + ">";
      }
      text += "</tr>\n";
    }
    return text + "</table>\n";
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
