// vcode-smith: random programs through every configuration of the machine.
//
//   vcode-smith [--seed S] [--count N] [--size K] [--length L] [--threads-list 1,2,4] [--cuda]
//               [--optimize] [--level O] [--long] [--stress] [--shrink] [--emit]
//
// With --cuda the CUDA library is tried in place of the CPU library, with --optimize the program is
// compared with itself after optimization at all levels and without each pass. With --long these
// are programs over vectors of about L elements, a million without --length, and two threads share
// the work of some runs. With --stress each program runs with other numbers for tiles, blocks and
// the like, by chance. Program number i of a run depends on S + i alone: `--seed S+i --count 1`
// shows it again. With
// --emit the programs are printed and not run. Ends with 1 at the first program that goes wrong;
// with --shrink after making it small.
#include <charconv>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "tuned.hpp"
#include "vcode-smith/checker.hpp"
#include "vcode-smith/generator.hpp"
#include "vcode-smith/long_generator.hpp"
#include "vcode-smith/optimizer_checker.hpp"
#include "vcode-smith/shrinker.hpp"
#include "vcode/printer.hpp"

namespace {

struct Options {
  std::uint64_t seed = 1;
  int count = 1000;
  int size = 25;
  int length = 0;  // 0: what suits the programs
  std::vector<int> threads = {1, 2, 4};
  bool cuda = false;
  bool shrink = false;
  bool emit = false;
  bool optimize = false;
  bool stress = false;
  bool long_vectors = false;
  int level = fcode::kHighestLevel;
};

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_list(std::string_view text, std::vector<int>& numbers) {
  numbers.clear();
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    int number = 0;
    if (!read_number(text.substr(0, comma), number) || number < 1) return false;
    numbers.push_back(number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return !numbers.empty();
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--cuda") {
      options.cuda = true;
    } else if (word == "--shrink") {
      options.shrink = true;
    } else if (word == "--optimize") {
      options.optimize = true;
    } else if (word == "--stress") {
      options.stress = true;
    } else if (word == "--long") {
      options.long_vectors = options.optimize = true;
    } else if (word == "--emit") {
      options.emit = true;
    } else if (++i == argc) {
      return false;
    } else if (word == "--threads-list") {
      if (!read_list(argv[i], options.threads)) return false;
    } else {
      const bool good = word == "--seed"     ? read_number(argv[i], options.seed)
                        : word == "--count"  ? read_number(argv[i], options.count)
                        : word == "--size"   ? read_number(argv[i], options.size)
                        : word == "--length" ? read_number(argv[i], options.length)
                        : word == "--level"  ? read_number(argv[i], options.level)
                                             : false;
      if (!good) return false;
    }
  }
  if (options.length == 0) options.length = options.long_vectors ? 1'000'000 : 3000;
  return true;
}

struct Case {
  smith::TestProgram program;
  cvl::Widths widths;
  bool strict = false;
};

Case make_case(const Options& options, std::uint64_t seed) {
  property::Random random(seed);
  Case made;
  if (random.chance(0.5)) {
    made.widths.int_bytes = random.chance(0.5) ? 4 : 8;
    made.widths.float_bytes = random.chance(0.5) ? 4 : 8;
  }
  made.strict = random.chance(0.3);
  if (options.long_vectors) {
    made.program = smith::generate_long({.length = options.length, .size = options.size}, random);
    return made;
  }
  smith::GeneratorOptions generator;
  generator.widths = {made.widths.int_bytes * 8, made.widths.float_bytes * 8};
  generator.strict = made.strict;
  generator.size = options.size;
  generator.max_length = options.length;
  made.program = smith::generate(generator, random);
  return made;
}

void print(const smith::TestProgram& program) {
  const std::string input = program.input_text();
  fmt::print("{}{}", vcode::print(program.code), input.empty() ? "" : "It reads:\n" + input);
}

/// The kind of a complaint, so that shrinking does not slip from one failure into another.
std::string kind(const std::string& complaint) {
  return complaint.substr(0, complaint.find('\n')).substr(0, complaint.find('('));
}

/// Returns what is wrong with a program, or nothing.
using Check = std::function<std::string(const Case& made, std::uint64_t seed)>;

void report(const Options& options, const Check& check, Case made, std::uint64_t seed,
            std::string complaint) {
  fmt::print("--seed {} --count 1 --size {} --length {}{}{}: INT {}, FLOAT {}{}\n{}\n\n", seed,
             options.size, options.length, options.long_vectors ? " --long" : "",
             options.stress ? " --stress" : "", made.widths.int_bytes * 8,
             made.widths.float_bytes * 8, made.strict ? ", -c" : "", complaint);
  std::fflush(stdout);
  if (options.shrink) {
    made.program = smith::shrink(made.program, [&](const smith::TestProgram& program) {
      return kind(check({program, made.widths, made.strict}, seed)) == kind(complaint);
    });
    complaint = check(made, seed);
    fmt::print("\nThe smallest program found; it {}\n", complaint);
  }
  print(made.program);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options)) {
    std::fputs(
        "usage: vcode-smith [--seed S] [--count N] [--size K] [--length L] [--threads-list 1,2,4]\n"
        "                   [--cuda] [--optimize] [--level O] [--long] [--stress] [--shrink]\n"
        "                   [--emit]\n",
        stderr);
    return 2;
  }
  std::vector<smith::Configuration> configurations;
  if (options.cuda) {
    configurations = smith::cuda_configurations();
  } else {
    for (const int threads : options.threads) {
      configurations.push_back(smith::cpu_configuration(threads));
    }
  }
  smith::Checker checker(std::move(configurations));
  smith::OptimizerChecker optimizer(options.level, options.long_vectors);
  const Check check = [&](const Case& made, std::uint64_t seed) {
    return options.optimize ? optimizer.check(made.program, made.widths, made.strict, seed)
                            : checker.check(made.program, made.widths, made.strict);
  };
  for (int i = 0; i < options.count; ++i) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(i);
    Case made = make_case(options, seed);
    if (options.emit) {
      fmt::print("{{ seed {} }}\n", seed);
      print(made.program);
      continue;
    }
    if (options.stress) tuned::set("random:" + std::to_string(seed));
    const std::string complaint = check(made, seed);
    if (!complaint.empty()) {
      report(options, check, std::move(made), seed, complaint);
      return 1;
    }
  }
  if (!options.emit) {
    fmt::print("{} programs from seed {} on, {} of them with a run-time failure: all agree\n",
               options.count, options.seed, checker.failing() + optimizer.failing());
  }
  return 0;
}
