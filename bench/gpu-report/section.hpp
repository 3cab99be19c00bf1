// What one step has found out: a part of the page, written again whenever there is more of it, so
// that it is there however the step ends.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu-report/plot.hpp"
#include "bench/gpu-report/table.hpp"

namespace gpu_report {

class Section {
 public:
  Section(std::filesystem::path folder, std::string name)
      : folder_(std::move(folder)), name_(std::move(name)) {}

  /// Adds a paragraph.
  void text(const std::string& line) { parts_.push_back("<p>" + escaped(line) + "</p>\n"); }
  /// Adds a table; set() replaces it later. Returns its number.
  std::size_t table(const Table& table);
  void set(std::size_t part, const Table& table);
  std::size_t plot(const Plot& plot);
  void set(std::size_t part, const Plot& plot) { parts_[part] = figure(plot); }
  /// Writes NAME.html, and the tables as NAME.csv.
  void save() const;

 private:
  static std::string figure(const Plot& plot) { return "<figure>" + svg(plot) + "</figure>\n"; }

  std::filesystem::path folder_;
  std::string name_;
  std::vector<std::string> parts_;
  std::vector<std::pair<std::size_t, std::string>> values_;  // of the table that is that part
};

}  // namespace gpu_report
