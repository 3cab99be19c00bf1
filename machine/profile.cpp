#include "machine/profile.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "machine/report_text.hpp"
#include "machine/statistics.hpp"

namespace vinterp {
namespace {

constexpr std::size_t kOperationWidth = 16;
constexpr std::size_t kFunctionWidth = 20;

std::string table_line(const std::string& operation, const std::string& function,
                       const std::string& line, const std::string& calls,
                       const std::string& elements, const std::string& bytes,
                       const std::string& time, const std::string& share, const std::string& rate) {
  return fmt::format("{:<{}} {:<{}} {:>7} {:>8} {:>8} {:>10} {:>9} {:>6} {:>6}\n", operation,
                     kOperationWidth, function, kFunctionWidth, line, calls, elements, bytes, time,
                     share, rate);
}

std::string cost_line(const std::string& operation, const std::string& function,
                      const std::string& line, const Profile::Cost& cost, double all_seconds) {
  const double rate = cost.seconds > 0 ? static_cast<double>(cost.bytes) / cost.seconds / 1e9 : 0;
  return table_line(operation, function, line, format_count(cost.calls),
                    format_count(cost.elements), cvl::format_bytes(cost.bytes),
                    format_seconds(cost.seconds), format_share(cost.seconds, all_seconds),
                    fmt::format("{:.2f}", rate));
}

}  // namespace

void Profile::Cost::add(const Cost& other) {
  calls += other.calls;
  elements += other.elements;
  bytes += other.bytes;
  seconds += other.seconds;
}

Profile::Profile(const vcode::LinkedProgram& program)
    : program_(program), costs_(program.code.size()) {}

void Profile::after(const Step& step, double seconds) {
  costs_[step.instruction].add({1, static_cast<std::uint64_t>(step.elements),
                                static_cast<std::uint64_t>(step.bytes), seconds});
}

std::vector<Profile::Row> Profile::rows() const {
  std::map<std::tuple<std::uint32_t, vcode::Op, vcode::Type, std::uint32_t>, Row> merged;
  for (std::uint32_t function = 0; function < program_.functions.size(); ++function) {
    const vcode::LinkedFunction& place = program_.functions[function];
    for (std::uint32_t at = place.begin; at < place.end; ++at) {
      if (costs_[at].calls == 0) continue;
      const vcode::Instruction& code = program_.code[at];
      const vcode::Type type = vcode::info(code.op).takes_type() ? code.type : vcode::Type::Int;
      const std::uint32_t kernel = code.op == vcode::Op::Run ? code.a : 0;
      const auto [entry, is_new] =
          merged.try_emplace({function, code.op, type, kernel},
                             Row{code.op, type, at, function, code.span.line, false, {}});
      Row& row = entry->second;
      row.more_lines |= row.line != code.span.line;
      row.cost.add(costs_[at]);
    }
  }
  std::vector<Row> result;
  for (const auto& [key, row] : merged) result.push_back(row);
  std::stable_sort(result.begin(), result.end(),
                   [](const Row& a, const Row& b) { return a.cost.seconds > b.cost.seconds; });
  return result;
}

std::string Profile::report(const cvl::HeapStatistics& heap, const cvl::DeviceCounters& device,
                            double seconds, std::size_t max_rows) const {
  std::vector<ProfileLine> lines;
  for (const Row& row : rows()) {
    lines.push_back({operation_name(program_.code[row.instruction], program_),
                     program_.functions[row.function].name,
                     fmt::format("{}{}", row.line, row.more_lines ? "+" : ""), row.cost});
  }
  return profile_table(lines, max_rows) + profile_totals(heap, device, seconds);
}

std::string profile_table(const std::vector<ProfileLine>& rows, std::size_t max_rows) {
  Profile::Cost total, others;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    total.add(rows[i].cost);
    if (i >= max_rows) others.add(rows[i].cost);
  }
  std::string text = table_line("operation", "function", "line", "calls", "elements", "bytes",
                                "time", "share", "GB/s");
  for (std::size_t i = 0; i < std::min(rows.size(), max_rows); ++i) {
    const ProfileLine& row = rows[i];
    text += cost_line(fitted(row.operation, kOperationWidth), fitted(row.function, kFunctionWidth),
                      row.line, row.cost, total.seconds);
  }
  if (rows.size() > max_rows) {
    text +=
        cost_line(fmt::format("{} more", rows.size() - max_rows), "", "", others, total.seconds);
  }
  return text + cost_line("total", "", "", total, total.seconds);
}

std::string profile_totals(const cvl::HeapStatistics& heap, const cvl::DeviceCounters& device,
                           double seconds) {
  return fmt::format("\n{:<26}{}\n", "time", format_seconds(seconds)) + heap_report(heap) +
         device_report(device);
}

}  // namespace vinterp
