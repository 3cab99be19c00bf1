// nesl-random: random programs, compiled and evaluated directly.
//
//   nesl-random --count 10000 --seed 1     programs of seeds 1 ... 10000
//   nesl-random --count 1000 --optimize 3  optimized
//   nesl-random --count 1000 --stress      each with other numbers for tiles, blocks and the like
//   nesl-random --show --seed 17           the program of seed 17
//   nesl-random --long --length 1000000    programs over vectors of about so many elements, not
//                                          optimized against optimized
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checker.hpp"
#include "generator.hpp"
#include "long_checker.hpp"
#include "long_generator.hpp"
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
  bool long_vectors = false;
  std::uint64_t length = 1'000'000;  // of their vectors
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
    } else if (option == "--length") {
      options.length = value();
    } else if (option == "--long") {
      options.long_vectors = true;
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

std::string joined(const std::vector<std::string>& forms) {
  std::string text;
  for (const std::string& form : forms) text += form + "\n";
  return text;
}

/// Without the lines that are not needed for a difference.
std::vector<std::string> shrunk(std::vector<std::string> forms) {
  for (std::size_t i = forms.size() - 1; i-- > 0;) {
    std::vector<std::string> fewer = forms;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    const std::string difference = check_long(fewer).difference;
    if (!difference.empty() && difference.find("is refused") == std::string::npos) forms = fewer;
  }
  return forms;
}

int run_long(const Options& options) {
  std::uint64_t stopped = 0;
  for (std::uint64_t i = 0; i < options.count; ++i) {
    const std::uint64_t seed = options.seed + i;
    const std::vector<std::string> forms =
        long_program(seed, static_cast<std::int64_t>(options.length));
    if (options.show) {
      std::cout << joined(forms);
      continue;
    }
    const LongVerdict verdict = check_long(forms);
    if (verdict.stopped) ++stopped;
    if (verdict.difference.empty()) continue;
    std::cout << "--long --length " << options.length << " --seed " << seed << " --count 1\n"
              << verdict.difference << std::endl
              << joined(shrunk(forms));
    return EXIT_FAILURE;
  }
  std::cout << options.count << " programs over about " << options.length << " elements from seed "
            << options.seed << " on, " << stopped << " of them with a run-time error: all agree\n";
  return EXIT_SUCCESS;
}

int run(const Options& options) {
  if (options.long_vectors) return run_long(options);
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
