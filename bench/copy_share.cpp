// Flat operations against the memory: every elementwise operation, reduction, scan, RAND and PACK,
// with every type that it takes, as a fraction of the copy bandwidth.
//
// Each run of an operation lies between two runs of a parallel copy that takes what the caches hold
// out of them; its rate is related to the mean rate of these two, and the table shows the median of
// these fractions. Bytes are those that must move: operands read once, results written once. For
// elementwise operations the last column is the same fraction for the kernel alone on all threads,
// with operands and result in the L1 caches: an upper bound that arithmetic sets.
//
// usage: bench_copy_share [--elements N] [--rounds N] [--filter TEXT]

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include "bench/copy_bandwidth.hpp"
#include "cvl-cpu/cpu_backend.hpp"

namespace bench {
namespace {

using cvl::Type;
using cvl::Value;
using cvl::Vector;
using vcode::Op;

constexpr Type kTypes[] = {Type::Int, Type::Bool, Type::Float};

struct Options {
  std::int64_t elements = 10'000'000;
  int rounds = 15;
  std::string filter;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class CopyShare {
 public:
  explicit CopyShare(const Options& options)
      : options_(options), yardstick_(cpu_, std::size_t{128} << 20) {
    for (const Type type : kTypes) {
      for (Vector& vector : operands_[static_cast<std::size_t>(type)]) vector = random(type);
    }
  }

  void print() {
    fmt::print("{}, {} elements\n\n", cpu_.description(), options_.elements);
    fmt::print(
        "| operation | type | bytes per element | fraction of copy | kernel in L1 | copy GB/s |\n");
    fmt::print("| --- | --- | ---: | ---: | ---: | ---: |\n");
    for (std::size_t i = 0; i < vcode::kOpCount; ++i) {
      for (const Type type : kTypes) {
        const auto op = static_cast<Op>(i);
        if (is_flat(op) && takes(op, type)) print_row(op, type);
      }
    }
  }

 private:
  static bool is_flat(Op op) {
    switch (vcode::info(op).family) {
      case vcode::Family::Elementwise:
      case vcode::Family::Scan:
      case vcode::Family::Reduce:
      case vcode::Family::Random:
      case vcode::Family::Pack:
        return true;
      default:
        return false;
    }
  }
  static bool takes(Op op, Type type) {
    const vcode::OpInfo& info = vcode::info(op);
    return info.takes_type() ? info.allows(type) : type == Type::Int;
  }

  /// INT in 1 ... 1000, FLOAT in 0 ... 1, BOOL half T.
  Vector random(Type type) {
    const auto n = static_cast<std::size_t>(options_.elements);
    if (type == Type::Float) {
      std::uniform_real_distribution<double> unit(0.0, 1.0);
      std::vector<double> elements(n);
      for (double& element : elements) element = unit(generator_);
      return cpu_.upload(type, elements.data(), options_.elements);
    }
    std::uniform_int_distribution<std::int32_t> range(1, 1000);
    std::vector<std::int32_t> numbers(n);
    for (std::int32_t& number : numbers) number = range(generator_);
    if (type == Type::Int) return cpu_.upload(type, numbers.data(), options_.elements);
    std::vector<std::uint8_t> flags(n);
    for (std::size_t i = 0; i < n; ++i) flags[i] = numbers[i] & 1;
    return cpu_.upload(type, flags.data(), options_.elements);
  }

  struct Run {
    double seconds;
    std::int64_t result_bytes;
  };
  /// The operands are kept elsewhere too, so that the operation does not take one over.
  Run run(Op op, Type type) {
    const vcode::OpInfo& info = vcode::info(op);
    Value operands[vcode::kMaxOperands];
    Value results[vcode::kMaxResults];
    for (std::size_t k = 0; k < info.operands.size(); ++k) {
      if (info.operands[k] == 'S') {
        operands[k] = cvl::Segdes::single(options_.elements);
      } else {
        operands[k] = operand(*vcode::operand_type(info.operands[k], type), k);
      }
    }
    const auto begin = std::chrono::steady_clock::now();
    cpu_.execute(op, type, operands, results);
    const double seconds = seconds_since(begin);
    const Vector& result = results[0].vector();
    return {seconds, result.length * static_cast<std::int64_t>(cpu_.element_bytes(result.type))};
  }
  const Vector& operand(Type type, std::size_t which) const {
    return operands_[static_cast<std::size_t>(type)][which % 2];
  }
  std::int64_t operand_bytes(Op op, Type type) const {
    std::size_t width = 0;
    for (const char letter : vcode::info(op).operands) {
      if (letter != 'S') width += cpu_.element_bytes(*vcode::operand_type(letter, type));
    }
    return options_.elements * static_cast<std::int64_t>(width);
  }

  void print_row(Op op, Type type) {
    const vcode::OpInfo& info = vcode::info(op);
    const std::string name = fmt::format("| {} | {} |", info.text, vcode::type_name(type));
    if (name.find(options_.filter) == std::string::npos) return;
    std::vector<double> fractions, in_cache, copies;
    double bytes = 0;
    run(op, type);  // takes the pages of the result from the system
    double before = copy_rate();
    for (int round = 0; round < options_.rounds; ++round) {
      const Run measured = run(op, type);
      const double after = copy_rate();
      const double copy = (before + after) / 2;
      bytes = static_cast<double>(operand_bytes(op, type) + measured.result_bytes);
      fractions.push_back(bytes / measured.seconds / copy);
      if (info.family == vcode::Family::Elementwise)
        in_cache.push_back(rate_in_l1(op, type) / copy);
      copies.push_back(after);
      before = after;
    }
    fmt::print("{} {:.1f} | {:.2f} | {} | {:.0f} |\n", name,
               bytes / static_cast<double>(options_.elements), median(fractions),
               in_cache.empty() ? "" : fmt::format("{:.2f}", median(in_cache)),
               median(copies) / 1e9);
    std::fflush(stdout);
  }

  double copy_rate() { return yardstick_.traffic() / yardstick_.seconds(); }

  /// Bytes per second of a kernel on blocks that stay in the L1 caches of all threads.
  double rate_in_l1(Op op, Type type) {
    constexpr std::int64_t kBlock = 512;
    constexpr int kTiles = 256;
    constexpr int kRepeats = 4;
    const vcode::OpInfo& info = vcode::info(op);
    const auto kernel =
        cpu_.kernels().elementwise[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
    const void* in[3] = {};
    for (std::size_t k = 0; k < info.operands.size(); ++k) {
      in[k] =
          cvl::cpu::elements<std::byte>(operand(*vcode::operand_type(info.operands[k], type), k));
    }
    auto body = [&](std::int64_t) {
      alignas(64) std::byte out[kBlock * sizeof(double)];
      for (int repeat = 0; repeat < kRepeats; ++repeat) kernel(out, in[0], in[1], in[2], kBlock);
      asm volatile("" : : "r"(out) : "memory");
    };
    const std::size_t result_width =
        cpu_.element_bytes(*vcode::operand_type(info.results[0], type));
    const double bytes =
        (static_cast<double>(operand_bytes(op, type)) / static_cast<double>(options_.elements) +
         static_cast<double>(result_width)) *
        kBlock * kTiles * kRepeats;
    const auto begin = std::chrono::steady_clock::now();
    cpu_.scheduler().for_tiles(kTiles, INT64_MAX, body);
    return bytes / seconds_since(begin);
  }

  Options options_;
  cvl::cpu::CpuBackend cpu_{cvl::cpu::CpuOptions{}};
  CopyYardstick yardstick_;
  std::mt19937 generator_{11};
  Vector operands_[vcode::kDataTypes][2];
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  bench::Options options;
  po::options_description known("options");
  known.add_options()("help", "print this")(
      "elements", po::value(&options.elements)->default_value(options.elements))(
      "rounds", po::value(&options.rounds)->default_value(options.rounds))(
      "filter", po::value(&options.filter), "only rows with this text, such as '| EXP |'");
  try {
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, known), given);
    po::notify(given);
    if (given.count("help") != 0) {
      std::cout << known;
      return 0;
    }
  } catch (const po::error& error) {
    std::cerr << error.what() << "\n" << known;
    return 2;
  }
  bench::CopyShare(options).print();
  return 0;
}
