// nesl-random: random programs, compiled and evaluated directly.
//
//   nesl-random --count 10000 --seed 1     programs of seeds 1 ... 10000
//   nesl-random --count 1000 --optimize 3  optimized
//   nesl-random --count 1000 --stress      each with other numbers for tiles, blocks and the like
//   nesl-random --show --seed 17           the program of seed 17
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "checker.hpp"
#include "generator.hpp"
#include "shrinker.hpp"
#include "tuned.hpp"

namespace neslc::random_test {
namespace {

constexpr std::uint64_t kProgramsOfASession = 250;

struct Options {
  std::uint64_t count = 1000;
  std::uint64_t seed = 1;
  std::uint64_t failures = 1;  // after so many it stops
  int level = 0;               // of the optimizer
  bool show = false;
  bool stress = false;
};

std::uint64_t number(const char* text) {
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  if (*end != '\0') throw std::runtime_error(std::string(text) + " is not a number");
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto value = [&] {
      if (i + 1 == argc) throw std::runtime_error(option + " needs a number");
      return number(argv[++i]);
    };
    if (option == "--count") {
      options.count = value();
    } else if (option == "--seed") {
      options.seed = value();
    } else if (option == "--failures") {
      options.failures = value();
    } else if (option == "--optimize") {
      options.level = static_cast<int>(std::min<std::uint64_t>(value(), fcode::kHighestLevel));
    } else if (option == "--stress") {
      options.stress = true;
    } else if (option == "--show") {
      options.show = true;
    } else {
      throw std::runtime_error("unknown option " + option);
    }
  }
  return options;
}

void report(std::uint64_t seed, const Program& program, const Verdict& verdict) {
  std::cout << "seed " << seed << "\n" << text_of(program) << "  " << verdict.detail << std::endl;
}

bool is_failure(const Verdict& verdict) {
  return verdict.kind == Verdict::Kind::Differs || verdict.kind == Verdict::Kind::Rejected;
}

/// The smallest program found that fails in the same way.
void report_smallest(std::uint64_t seed, const Program& program, Verdict::Kind kind, int level) {
  const Program small = shrink(program, [&](const Program& candidate) {
    return Checker(level).check(text_of(candidate)).kind == kind;
  });
  report(seed, small, Checker(level).check(text_of(small)));
}

int run(const Options& options) {
  if (options.show) {
    std::cout << text_of(Generator(options.seed).program());
    return EXIT_SUCCESS;
  }
  std::uint64_t counts[5] = {};
  std::uint64_t failures = 0;
  std::map<std::string, std::uint64_t> left_out;
  std::unique_ptr<Checker> checker;
  for (std::uint64_t i = 0; i < options.count; ++i) {
    if (i % kProgramsOfASession == 0) checker = std::make_unique<Checker>(options.level);
    const std::uint64_t seed = options.seed + i;
    const Program program = Generator(seed).program();
    if (options.stress) tuned::set("random:" + std::to_string(seed));
    const Verdict verdict = checker->check(text_of(program));
    ++counts[static_cast<int>(verdict.kind)];
    if (verdict.kind == Verdict::Kind::Skipped) ++left_out[verdict.detail];
    if (!is_failure(verdict)) continue;
    report(seed, program, verdict);
    report_smallest(seed, program, verdict.kind, options.level);
    if (++failures == options.failures) return EXIT_FAILURE;
  }
  std::cout << options.count << " programs: " << counts[0] << " equal values, " << counts[1]
            << " equal errors, " << counts[2] << " left out, " << failures << " failures\n";
  for (const auto& [reason, times] : left_out) {
    std::cout << "  left out: " << reason << ", " << times << "\n";
  }
  // A test that leaves out much shows little.
  const bool meaningful = counts[0] + counts[1] >= options.count * 8 / 10;
  return failures == 0 && meaningful ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace neslc::random_test

int main(int argc, char** argv) {
  try {
    return neslc::random_test::run(neslc::random_test::parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "nesl-random: " << error.what() << '\n';
    return 2;
  }
}
