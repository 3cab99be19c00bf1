#include "kernels/kernel_check.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "cvl/failure.hpp"
#include "property/compare.hpp"
#include "property/convert.hpp"
#include "property/shapes.hpp"
#include "vcode/parser.hpp"

namespace kernel_test {

using property::Random;
using reference::Value;

std::optional<vcode::Program> parsed(const std::string& text, std::string& messages) {
  vcode::Diagnostics diagnostics;
  const auto source = std::make_shared<vcode::Source>("kernel.fcode", text);
  auto program = vcode::parse(source, diagnostics);
  messages = vcode::render(diagnostics, source.get(), {});
  return program;
}

std::vector<Value> random_operands(Random& random, const std::vector<std::int64_t>& lengths,
                                   const reference::Widths& widths) {
  const auto ints = [&](std::int64_t count) {
    reference::Ints result;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t any = random.bits();
      result.push_back(random.chance(0.02) ? widths.wrap(any) : random.between(-20, 20));
    }
    return result;
  };
  reference::Segdes d{lengths}, e;
  for (std::size_t k = 0; k < lengths.size(); ++k) e.lengths.push_back(random.between(0, 4));
  reference::Floats x;
  reference::Bools f;
  for (std::int64_t i = 0; i < d.total(); ++i) {
    x.push_back(widths.round(random.unit() * 10 - 5));
    f.push_back(random.chance(0.5));
  }
  return {d, e, ints(d.total()), ints(d.total()), x, f, ints(e.total()), ints(e.count()), ints(1)};
}

namespace {

/// Equal, FLOAT up to the bracketing of sums and products.
bool close(const Value& expected, const Value& found, const reference::Widths& widths) {
  if (property::identical(expected, found)) return true;
  const auto* a = std::get_if<reference::Floats>(&expected);
  const auto* b = std::get_if<reference::Floats>(&found);
  if (a == nullptr || b == nullptr || a->size() != b->size()) return false;
  double largest = 1;
  for (const double each : *a) {
    if (std::isfinite(each)) largest = std::max(largest, std::abs(each));
  }
  const double tolerance = (widths.float_bits == 32 ? 1e-3 : 1e-9) * largest;
  for (std::size_t i = 0; i < a->size(); ++i) {
    const double x = (*a)[i], y = (*b)[i];
    const bool same = x == y || (std::isnan(x) && std::isnan(y));
    // Sums that overflow do so at other places when they are bracketed otherwise.
    const bool overflow = !std::isfinite(x) || !std::isfinite(y);
    if (!same && !overflow && std::abs(x - y) > tolerance) return false;
  }
  return true;
}

std::string text_of(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) text += reference::format(value);
  return text;
}

/// Operands of more elements are not printed.
constexpr std::size_t kShown = 1000;

/// The number that is drawn behind a kernel tells how many the kernel has drawn.
constexpr std::int64_t kNextBelow = 1'000'000'000;

struct Outcome {
  bool failed = false;
  std::vector<Value> results;
  std::int64_t next = 0;  // random number
};

Outcome by_reference(const vcode::Kernel& kernel, const reference::Widths& widths,
                     const std::vector<Value>& operands, reference::Random random,
                     reference::Dropped dropped = reference::Dropped::Evaluated) {
  try {
    Outcome outcome;
    outcome.results = reference::run_kernel(kernel, widths, operands, random, dropped);
    outcome.next = std::get<reference::Ints>(reference::evaluate(
        vcode::Op::Rand, vcode::Type::Int, widths, random, {reference::Ints{kNextBelow}})[0])[0];
    return outcome;
  } catch (const reference::Failure&) {
    return {true, {}, 0};
  }
}

std::int64_t next_number(cvl::Backend& backend) {
  cvl::Value bound = cvl::make_int(backend.widths(), kNextBelow), number;
  backend.execute(vcode::Op::Rand, vcode::Type::Int, &bound, &number);
  return cvl::read_int(backend, number.vector());
}

/// Nothing: the library leaves this kernel to its SPEC.
std::optional<Outcome> by_library(cvl::Backend& backend, const vcode::Kernel& kernel,
                                  const std::vector<Value>& operands, std::uint64_t seed,
                                  Random& random) {
  const auto prepared = backend.prepare(kernel);
  if (!prepared) return std::nullopt;
  std::vector<cvl::Value> values, results(kernel.outputs.size());
  for (const Value& operand : operands) {
    values.push_back(property::to_library(backend, {operand}, random));
  }
  backend.seed(seed);
  try {
    if (!backend.run(*prepared, values.data(), results.data())) return std::nullopt;
    backend.synchronize();
  } catch (const cvl::Failure&) {
    return Outcome{true, {}, 0};
  }
  Outcome outcome;
  outcome.next = next_number(backend);
  for (const cvl::Value& result : results) {
    outcome.results.push_back(property::from_library(backend, result));
  }
  return outcome;
}

}  // namespace

void check_on_lengths(cvl::Backend& backend, const vcode::Kernel& kernel,
                      const std::vector<std::int64_t>& lengths, Random& random, Counts& counts) {
  const reference::Widths widths = property::widths_of(backend.widths());
  const auto operands = random_operands(random, lengths, widths);
  const std::uint64_t seed = random.bits();
  Outcome expected = by_reference(kernel, widths, operands, reference::Random(seed));
  const auto found = by_library(backend, kernel, operands, seed, random);
  counts.ran += found ? 1 : 0;
  counts.left += found ? 0 : 1;
  if (!found) return;
  counts.failed += expected.failed ? 1 : 0;
  if (expected.failed && !found->failed) {
    expected = by_reference(kernel, widths, operands, reference::Random(seed),
                            reference::Dropped::LeftOut);
  }
  const bool few = std::get<reference::Ints>(operands[2]).size() <= kShown;
  INFO((few ? text_of(operands) : "many operands"));
  INFO("expected" << (expected.failed ? " a failure" : "") << '\n'
                  << (few ? text_of(expected.results) : ""));
  INFO("found" << (found->failed ? " a failure" : "") << '\n'
               << (few ? text_of(found->results) : ""));
  REQUIRE(found->failed == expected.failed);
  REQUIRE(found->next == expected.next);
  REQUIRE(found->results.size() == expected.results.size());
  for (std::size_t i = 0; i < expected.results.size(); ++i) {
    INFO("result " << i);
    REQUIRE(close(expected.results[i], found->results[i], widths));
  }
}

void check_on_operands(cvl::Backend& backend, const vcode::Kernel& kernel, Random& random,
                       Counts& counts) {
  const auto shapes = property::small_shapes(random);
  for (int k = 0; k < 3; ++k) {
    const auto& shape = random.pick(shapes);
    if (shape.total() <= 400) check_on_lengths(backend, kernel, shape.lengths, random, counts);
  }
}

}  // namespace kernel_test
