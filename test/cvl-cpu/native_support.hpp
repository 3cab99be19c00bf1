// What tests of machine code share: operands with numbers at the ends of what a type holds, and
// kernels that are run again and again.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {

/// Numbers at the ends of what a type holds, and between them.
inline Vector operand(CpuBackend& cpu, Type type, std::int64_t n, unsigned seed) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static const std::vector<double> kFloats = {
      0.0,    -0.0,   0.5,          -0.5,          0.49999999999999994,
      1.5,    -1.5,   2.5,          -2.5,          kInfinity,
      -1e300, 1e300,  2147483647.0, -2147483648.0, 2147483648.5,
      1e-310, 4.0e18, -kInfinity,   9.3e18,        std::numeric_limits<double>::quiet_NaN()};
  static const std::vector<double> kInts = {1,  -1, 2,          7,           -7,         31,
                                            32, 63, 2147483647, -2147483648, 1000000007, -64};
  std::vector<double> elements = numbers(n, seed, type == Type::Int ? 1e6 : 100.0);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::size_t at = i * 7 + seed;
    if (type == Type::Bool) {
      elements[i] = elements[i] < 0 ? 1 : 0;
    } else if (type == Type::Float && i % 3 == 0) {
      elements[i] = kFloats[at % kFloats.size()];
    } else if (type == Type::Int) {
      elements[i] = i % 3 == 0 ? kInts[at % kInts.size()] : std::floor(elements[i]);
      if (elements[i] == 0) elements[i] = 3;  // divisors
    }
  }
  return upload(cpu, type, elements);
}

/// A kernel that is run again and again: its code is made once.
class Runs {
 public:
  Runs(CpuBackend& cpu, const vcode::Kernel& kernel)
      : cpu_(cpu), kernel_(kernel), prepared_(cpu.prepare(kernel)) {}

  /// The bits of all results, NaN for any NaN, or the message of the failure.
  std::string of(std::vector<Value> operands) {
    std::vector<Value> results(kernel_.outputs.size());
    std::string text;
    try {
      cpu_.run(*prepared_, operands.data(), results.data());
      for (const Value& result : results) {
        const bool floats = result.is_vector() && result.vector().type == Type::Float;
        if (floats && cpu_.widths().float_bytes == 8) {
          text += with_one_nan<double>(bits(cpu_, result));
        } else {
          text += floats ? with_one_nan<float>(bits(cpu_, result)) : bits(cpu_, result);
        }
      }
    } catch (const cvl::Failure& failure) {
      text = failure.message();
      for (const std::string& note : failure.notes()) text += "\n" + note;
    }
    return text;
  }

 private:
  /// Which one comes of two depends on which is the first operand of a product.
  template <class Float>
  static std::string with_one_nan(std::string bits) {
    for (std::size_t at = 0; at < bits.size(); at += sizeof(Float)) {
      Float number;
      std::memcpy(&number, bits.data() + at, sizeof number);
      if (std::isnan(number)) number = std::numeric_limits<Float>::quiet_NaN();
      std::memcpy(bits.data() + at, &number, sizeof number);
    }
    return bits;
  }

  CpuBackend& cpu_;
  const vcode::Kernel& kernel_;
  std::unique_ptr<cvl::PreparedKernel> prepared_;
};

}  // namespace kernel_test
