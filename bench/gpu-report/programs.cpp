#include "bench/gpu-report/programs.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "bench/gpu-report/command.hpp"

namespace gpu_report {
namespace {

namespace fs = std::filesystem;

/// A way of running a program.
struct Way {
  const char* column;
  const char* arguments;  // of vinterp
};
constexpr Way kWays[] = {
    {"CPU (s)", "--backend=cpu"},
    {"CUDA (s)", "--backend=cuda"},
};

/// The five programs of Bergstrom and Reppy (Nested Data-parallelism on the GPU, 2012), table 1:
/// milliseconds on an Intel i7-950 and on a Tesla C2050, in single precision. Ours are programs of
/// our own for the same tasks.
struct PaperProgram {
  const char* stem;
  const char* task;
  double cpu_ms, gpu_ms;
};
constexpr PaperProgram kPaper[] = {
    {"dot_product", "dot product, 10^7", 27, 3.0},
    {"quicksort", "sort, 10^6", 230, 259},
    {"black_scholes", "Black-Scholes, 10^7", 8662, 163},
    {"convex_hull", "convex hull, 5 10^6", 1000, 283},
    {"barnes_hut", "Barnes-Hut, 75 000", 22200, 4502},
};

const PaperProgram* paper_program(const fs::path& program) {
  const auto* const found =
      std::find_if(std::begin(kPaper), std::end(kPaper),
                   [&](const PaperProgram& one) { return program.stem() == one.stem; });
  return found == std::end(kPaper) ? nullptr : found;
}

/// What vinterp -t says, best of three.
std::optional<double> elapsed(const fs::path& vinterp, const Way& way, const fs::path& program) {
  std::optional<double> best;
  for (int round = 0; round < 3; ++round) {
    const CommandResult result = run_command(fmt::format(
        "timeout 60 {} -t {} {} < /dev/null", quoted(vinterp), way.arguments, quoted(program)));
    const std::string key = "elapsed time = ";
    const std::size_t at = result.output.find(key);
    if (result.status != 0 || at == std::string::npos) return std::nullopt;
    const double seconds = std::strtod(result.output.c_str() + at + key.size(), nullptr);
    best = best ? std::min(*best, seconds) : seconds;
    if (result.seconds > 5) break;
  }
  return best;
}

/// Do both libraries compute the same?
std::string agreement(const fs::path& vinterp, const fs::path& program) {
  const CommandResult result = run_command(
      fmt::format("timeout 60 {} --compare {} < /dev/null", quoted(vinterp), quoted(program)));
  if (result.status == 0) return "yes";
  return result.status == 124 ? "no time" : fmt::format("NO, status {}", result.status);
}

}  // namespace

Table time_programs(const fs::path& vinterp, const std::vector<fs::path>& programs,
                    const std::function<bool()>& time_left,
                    const std::function<void(const std::string&)>& say) {
  std::vector<std::string> header = {"program"};
  for (const Way& way : kWays) header.emplace_back(way.column);
  for (const char* column : {"CPU / CUDA", "results agree", "paper CPU (s)", "paper GPU (s)"}) {
    header.emplace_back(column);
  }
  Table table(std::move(header));
  std::vector<fs::path> sorted = programs;
  std::stable_partition(sorted.begin(), sorted.end(), paper_program);
  for (const fs::path& program : sorted) {
    if (!time_left()) break;
    say("program " + program.filename().string());
    const PaperProgram* paper = paper_program(program);
    std::vector<std::string> row = {paper != nullptr ? std::string(paper->task)
                                                     : program.stem().string()};
    std::vector<std::optional<double>> times;
    for (const Way& way : kWays) {
      times.push_back(elapsed(vinterp, way, program));
      row.push_back(times.back() ? fmt::format("{:.4f}", *times.back()) : std::string("failed"));
    }
    const bool both = times[0] && times[1] && *times[1] > 0;
    row.push_back(both ? fmt::format("{:.1f}", *times[0] / *times[1]) : "-");
    row.push_back(agreement(vinterp, program));
    row.push_back(paper != nullptr ? fmt::format("{:.4f}", paper->cpu_ms / 1e3) : "-");
    row.push_back(paper != nullptr ? fmt::format("{:.4f}", paper->gpu_ms / 1e3) : "-");
    table.add(std::move(row));
  }
  return table;
}

}  // namespace gpu_report
