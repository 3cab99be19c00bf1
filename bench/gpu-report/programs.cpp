#include "bench/gpu-report/programs.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <tuple>

#include <fmt/core.h>

#include "bench/gpu-report/process.hpp"

namespace gpu_report {
namespace {

namespace fs = std::filesystem;

/// The five programs of Bergstrom and Reppy (Nested Data-parallelism on the GPU, 2012), table 1:
/// milliseconds on an Intel i7-950 and on a Tesla C2050, in single precision. Ours are programs of
/// our own for the same tasks.
struct PaperProgram {
  const char* stem;
  const char* task;
  std::int64_t size;
  double cpu_ms, gpu_ms;
};
constexpr PaperProgram kPaper[] = {
    {"dot_product", "dot product", 10'000'000, 27, 3.0},
    {"quicksort", "sort", 1'000'000, 230, 259},
    {"black_scholes", "Black-Scholes", 10'000'000, 8662, 163},
    {"convex_hull", "convex hull", 5'000'000, 1000, 283},
    {"barnes_hut", "Barnes-Hut", 75'000, 22200, 4502},
};

/// A program and what is known of it.
struct Program {
  fs::path file;
  const PaperProgram* paper = nullptr;
  std::int64_t size = 0;  // of one of the paper's tasks

  std::string name() const {
    return paper != nullptr ? fmt::format("{}, {}", paper->task, size) : file.stem().string();
  }
};

Program program_of(const fs::path& file) {
  Program program{file};
  const std::string stem = file.stem().string();
  const std::size_t dash = stem.rfind('-');
  if (dash == std::string::npos) return program;
  for (const PaperProgram& paper : kPaper) {
    if (stem.substr(0, dash) != paper.stem) continue;
    program.paper = &paper;
    std::from_chars(stem.data() + dash + 1, stem.data() + stem.size(), program.size);
  }
  return program;
}

/// The paper's sizes first, then larger ones, then the programs that are not the paper's.
auto place_of(const Program& program) {
  const bool others = program.paper == nullptr;
  const double times =
      others ? 0 : static_cast<double>(program.size) / static_cast<double>(program.paper->size);
  return std::tuple(others, times, program.paper);
}

/// A run of a program: what `vinterp -t` says, or why it says nothing.
struct Run {
  std::optional<double> seconds;
  std::string problem;

  std::string text() const { return seconds ? fmt::format("{:.4f}", *seconds) : problem; }
};

/// The best of three, or of one if it takes long.
Run run_program(const fs::path& vinterp, const std::string& backend, const fs::path& program,
                double limit, const fs::path& log) {
  constexpr double kLong = 2;
  Run best;
  for (int round = 0; round < 3; ++round) {
    const Ended ended =
        run_process({vinterp.string(), "-t", "--backend=" + backend, program.string()}, limit, log);
    const std::string output = contents(log);
    const std::string key = "elapsed time = ";
    const std::size_t at = output.find(key);
    if (!ended.good()) return {std::nullopt, text_of(ended)};
    if (at == std::string::npos) return {std::nullopt, "no time"};
    const double seconds = std::strtod(output.c_str() + at + key.size(), nullptr);
    best.seconds = best.seconds ? std::min(*best.seconds, seconds) : seconds;
    if (ended.seconds > kLong) break;
  }
  return best;
}

std::string agreement(const fs::path& vinterp, const fs::path& program, double limit,
                      const fs::path& log) {
  const Ended ended = run_process({vinterp.string(), "--compare", program.string()}, limit, log);
  return ended.good() ? "yes" : text_of(ended);
}

}  // namespace

void time_programs(const fs::path& vinterp, const std::vector<fs::path>& programs, double limit,
                   const fs::path& log, Section& section) {
  Table table({"program", "CPU (s)", "CUDA (s)", "CPU / CUDA", "results agree", "paper CPU (s)",
               "paper GPU (s)"});
  const std::size_t part = section.table(table);
  std::vector<Program> sorted;
  for (const fs::path& file : programs) sorted.push_back(program_of(file));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Program& a, const Program& b) { return place_of(a) < place_of(b); });
  for (const Program& program : sorted) {
    std::fprintf(stderr, "program %s\n", program.name().c_str());
    const Run device = run_program(vinterp, "cuda", program.file, limit, log);
    const Run cpu = run_program(vinterp, "cpu", program.file, limit, log);
    const bool both = cpu.seconds && device.seconds && *device.seconds > 0;
    // Larger ones do the same to more elements.
    const bool compared = both && (program.paper == nullptr || program.size <= program.paper->size);
    const bool paper = program.paper != nullptr && program.size == program.paper->size;
    table.add({program.name(), cpu.text(), device.text(),
               both ? fmt::format("{:.1f}", *cpu.seconds / *device.seconds) : "-",
               compared ? agreement(vinterp, program.file, limit, log) : "-",
               paper ? fmt::format("{:.4f}", program.paper->cpu_ms / 1e3) : "-",
               paper ? fmt::format("{:.4f}", program.paper->gpu_ms / 1e3) : "-"});
    section.set(part, table);
    section.save();
  }
}

}  // namespace gpu_report
