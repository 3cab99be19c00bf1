#include "fcode-opt/report_text.hpp"

#include <map>
#include <vector>

#include <fmt/core.h>

namespace fcode {
namespace {

std::string row(std::string_view name, std::size_t before, std::size_t after) {
  return fmt::format("{:<20} {:>9} {:>9}\n", name, before, after);
}

std::string count(std::size_t number, std::string_view what, std::string_view ending = "s") {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : ending);
}

/// `name.vcode:12, in f`; of what has no scope, the place in `source`.
std::string place(const OptimizerReport& report, const vcode::Source& source,
                  const Origin& origin) {
  if (origin.scope >= report.scopes.size()) {
    return fmt::format("{}:{}", source.name(), origin.span.line);
  }
  const Scope& scope = report.scopes[origin.scope];
  std::string text = fmt::format("{}:{}", scope.source->name(), origin.span.line);
  if (!scope.function.empty()) text += fmt::format(", in {}", scope.function);
  return text;
}

}  // namespace

std::string statistics_text(const OptimizerReport& report) {
  const ProgramSize &before = report.before, &after = report.after;
  std::string text = fmt::format("{:<20} {:>9} {:>9}\n", "", "before", "after");
  text += row("functions", before.functions, after.functions);
  text += row("instructions", before.instructions, after.instructions);
  text += row("  stack", before.stack, after.stack);
  text += row("  calls", before.calls, after.calls);
  text += row("  conditionals", before.conditionals, after.conditionals);
  text += row("  constants", before.constants, after.constants);
  text += row("  vector operations", before.vector_operations, after.vector_operations);
  text += row("  kernels", before.kernels, after.kernels);
  struct Total {
    std::size_t runs = 0, changes = 0;
    std::int64_t operations = 0;
  };
  std::vector<std::string_view> order;
  std::map<std::string_view, Total> totals;
  std::size_t last = report.before.vector_operations;
  for (const OptimizerReport::PassRun& run : report.runs) {
    const auto [entry, added] = totals.try_emplace(run.pass);
    if (added) order.push_back(run.pass);
    ++entry->second.runs;
    entry->second.changes += run.changed;
    entry->second.operations +=
        static_cast<std::int64_t>(run.vector_operations) - static_cast<std::int64_t>(last);
    last = run.vector_operations;
  }
  text +=
      fmt::format("\n{:<20} {:>9} {:>9} {:>18}\n", "pass", "runs", "changes", "vector operations");
  for (const std::string_view pass : order) {
    const Total& total = totals[pass];
    text += fmt::format("{:<20} {:>9} {:>9} {:>+18}\n", pass, total.runs, total.changes,
                        total.operations);
  }
  return text;
}

std::string fusion_text(const OptimizerReport& report, const vcode::Source& source) {
  std::string text;
  for (const FusionReport::Region& region : report.fusion.regions) {
    text += fmt::format("{}: {}, now {} and {}\n", place(report, source, region.origin),
                        count(region.operations, "vector operation"),
                        count(region.kernels.size(), "kernel"),
                        count(region.instructions, "operation"));
    for (const FusionReport::Item& item : region.kernels) {
      text += fmt::format("  kernel {} ({}) replaces {} from {} on\n", item.kernel,
                          count(item.passes, "pass", "es"), count(item.operations, "operation"),
                          place(report, source, item.origin));
    }
    for (const Remark& remark : region.unfused) {
      text += fmt::format("  {} stays: {}\n", place(report, source, remark.origin), remark.text);
    }
  }
  if (text.empty()) text = "no operations were fused\n";
  return text;
}

std::string memory_text(const OptimizerReport& report, const vcode::Source& source) {
  std::string text;
  for (const MemoryReport::Region& region : report.memory.regions) {
    text += fmt::format("{}: at most {} of {} elements together, while {} runs ({})\n",
                        place(report, source, region.origin), count(region.held.size(), "vector"),
                        region.total, region.at, place(report, source, region.at_origin));
    for (const MemoryReport::Held& held : region.held) {
      std::string last = "read by nobody";
      if (held.read_later) last = "read behind this part";
      if (!held.reader.empty()) {
        last = fmt::format("last read by {} ({})", held.reader,
                           place(report, source, held.reader_origin));
      }
      text += fmt::format("  {} {} from {}; {}\n", held.size, vcode::type_name(held.type),
                          place(report, source, held.origin), last);
    }
    for (const MemoryReport::Placed& placed : region.placed) {
      const std::string where = placed.over.empty()
                                    ? fmt::format("gets room of its own: {}", placed.why)
                                    : fmt::format("is written over {}", placed.over);
      text += fmt::format("  kernel {} ({}): {} {}\n", placed.kernel,
                          place(report, source, placed.origin), placed.result, where);
    }
  }
  if (text.empty()) text = "no vectors are held\n";
  return text;
}

}  // namespace fcode
