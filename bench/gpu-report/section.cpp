#include "bench/gpu-report/section.hpp"

#include "bench/gpu-report/process.hpp"

namespace gpu_report {

std::size_t Section::table(const Table& table) {
  parts_.push_back(table.html());
  values_.emplace_back(parts_.size() - 1, table.csv());
  return parts_.size() - 1;
}

void Section::set(std::size_t part, const Table& table) {
  parts_[part] = table.html();
  for (auto& [number, values] : values_) {
    if (number == part) values = table.csv();
  }
}

std::size_t Section::plot(const Plot& plot) {
  parts_.push_back(figure(plot));
  return parts_.size() - 1;
}

void Section::save() const {
  std::string page, values;
  for (const std::string& part : parts_) page += part;
  for (const auto& [number, table] : values_) values += (values.empty() ? "" : "\n") + table;
  write_file(folder_ / (name_ + ".html"), page);
  if (!values.empty()) write_file(folder_ / (name_ + ".csv"), values);
}

}  // namespace gpu_report
