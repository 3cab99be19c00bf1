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
    const bool characters = random.chance(0.3);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t any = random.bits();
      const std::int64_t few = random.between(-20, 20);
      result.push_back(characters ? few & 255 : random.chance(0.02) ? widths.wrap(any) : few);
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

using vcode::Op;

/// How the elements of a result may differ from those of the reference.
enum class Rounding {
  Exact,     // not at all; of NaN the payload
  Extremum,  // which of two zeros is the greater one is left open
  Folded,    // FLOAT sums and products are bracketed in any way
};

/// For each array of the kernel. What is made of rounded numbers is rounded, too.
std::vector<Rounding> roundings(const vcode::Kernel& kernel) {
  std::vector<Rounding> result(kernel.arrays.size(), Rounding::Exact);
  for (const vcode::Binding& binding : kernel.bindings) {
    const auto& nodes = binding.elements.nodes;
    const bool reads_rounded =
        std::any_of(nodes.begin(), nodes.end(), [&](const vcode::ThunkNode& node) {
          return node.kind == vcode::ThunkNode::Kind::Subscript &&
                 result[node.id] == Rounding::Folded;
        });
    for (std::size_t k = 0; k < binding.arrays.size(); ++k) {
      Rounding& rounding = result[binding.arrays[k]];
      if (!binding.monoids.empty()) {
        const Op op = binding.monoids[k].op;
        const bool folded = op == Op::AddReduce || op == Op::MultiplyReduce;
        rounding = folded ? Rounding::Folded : Rounding::Extremum;
      }
      if (reads_rounded) rounding = Rounding::Folded;
    }
  }
  return result;
}

/// The same number up to `tolerance`: NaN equals NaN only, an infinity only itself.
bool close(double expected, double found, Rounding rounding, double tolerance) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
  if (expected == found) {
    return rounding != Rounding::Exact || std::signbit(expected) == std::signbit(found);
  }
  return rounding == Rounding::Folded && std::isfinite(expected) && std::isfinite(found) &&
         std::abs(expected - found) <= tolerance;
}

bool equal(const Value& expected, const Value& found, Rounding rounding,
           const reference::Widths& widths) {
  const auto* a = std::get_if<reference::Floats>(&expected);
  const auto* b = std::get_if<reference::Floats>(&found);
  if (a == nullptr || b == nullptr) return property::identical(expected, found);
  if (a->size() != b->size()) return false;
  double largest = 1;
  for (const double each : *a) {
    if (std::isfinite(each)) largest = std::max(largest, std::abs(each));
  }
  const double tolerance = (widths.float_bits == 32 ? 1e-3 : 1e-9) * largest;
  return std::equal(a->begin(), a->end(), b->begin(),
                    [&](double x, double y) { return close(x, y, rounding, tolerance); });
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
  std::optional<reference::KernelFailure> failure;
  std::vector<Value> results;
  std::int64_t next = 0;  // random number
};

Outcome by_reference(const vcode::Kernel& kernel, const reference::Widths& widths,
                     const std::vector<Value>& operands, reference::Random random,
                     reference::Dropped dropped) {
  try {
    Outcome outcome;
    outcome.results = reference::run_kernel(kernel, widths, operands, random, dropped);
    outcome.next = std::get<reference::Ints>(reference::evaluate(
        Op::Rand, vcode::Type::Int, widths, random, {reference::Ints{kNextBelow}})[0])[0];
    return outcome;
  } catch (const reference::KernelFailure& failure) {
    return {failure, {}, 0};
  }
}

/// What a library did: as Outcome, but for how it tells of a failure.
struct Found {
  std::optional<vcode::ErrorCode> failure;
  std::string message;
  std::vector<Value> results;
  std::int64_t next = 0;
};

/// What the message of a failure must say.
std::vector<std::string> phrases_of(const vcode::Kernel& kernel,
                                    const reference::KernelFailure& failure) {
  using vcode::ErrorCode;
  const std::int64_t number = failure.number.value_or(0);
  const std::string element = fmt::format("element {} ", failure.position);
  const std::string position = fmt::format("at position {} of ", failure.position);
  const vcode::Binding& binding = kernel.bindings[failure.binding];
  switch (failure.code) {
    case ErrorCode::AssertionFailed:
      return {binding.message, position};
    case ErrorCode::DivisionByZero:
      return {element};
    case ErrorCode::RandRange:
      return {element + fmt::format("is {} ", number)};
    case ErrorCode::NegativeLength:
      if (binding.kind == vcode::Binding::Kind::Size) return {fmt::format("cannot be {}", number)};
      return {fmt::format("cannot have {} elements", number), element};
    default:
      return {fmt::format("index {} is out of range", number), position};
  }
}

/// Is it this failure that the library reports?
bool same_failure(const vcode::Kernel& kernel, const Outcome& expected, const Found& found) {
  if (!expected.failure || !found.failure) return !expected.failure && !found.failure;
  if (expected.failure->code != *found.failure) return false;
  const auto phrases = phrases_of(kernel, *expected.failure);
  return std::all_of(phrases.begin(), phrases.end(), [&](const std::string& phrase) {
    return found.message.find(phrase) != std::string::npos;
  });
}

std::string failure_text(const vcode::Kernel& kernel, const Outcome& expected) {
  if (!expected.failure) return {};
  std::string text(vcode::info(expected.failure->code).title);
  for (const std::string& phrase : phrases_of(kernel, *expected.failure)) text += ": " + phrase;
  return text + fmt::format(" (binding {})", expected.failure->binding);
}

std::int64_t next_number(cvl::Backend& backend) {
  cvl::Value bound = cvl::make_int(backend.widths(), kNextBelow), number;
  backend.execute(Op::Rand, vcode::Type::Int, &bound, &number);
  return cvl::read_int(backend, number.vector());
}

/// Nothing: the library leaves this kernel to its SPEC.
std::optional<Found> by_library(cvl::Backend& backend, const vcode::Kernel& kernel,
                                const std::vector<Value>& operands, std::uint64_t seed,
                                Random& random) {
  const auto prepared = backend.prepare(kernel);
  if (!prepared) return std::nullopt;
  std::vector<cvl::Value> values, results(kernel.outputs.size());
  for (const Value& value : operands) {
    property::Operand operand{value};
    const auto* ints = std::get_if<reference::Ints>(&value);
    if (ints != nullptr && property::are_characters(*ints) && random.chance(0.7)) {
      operand.layout = property::Layout::Narrow;
    }
    values.push_back(property::to_library(backend, operand, random));
  }
  backend.seed(seed);
  try {
    if (!backend.run(*prepared, values.data(), results.data())) return std::nullopt;
    backend.synchronize();
  } catch (const cvl::Failure& failure) {
    std::string message = failure.message();
    for (const std::string& note : failure.notes()) message += "; " + note;
    return Found{failure.code(), std::move(message), {}, 0};
  }
  Found found;
  found.next = next_number(backend);
  for (const cvl::Value& result : results) {
    found.results.push_back(property::from_library(backend, result));
  }
  return found;
}

}  // namespace

void check_on_lengths(cvl::Backend& backend, const vcode::Kernel& kernel,
                      const std::vector<std::int64_t>& lengths, Random& random, Counts& counts) {
  const reference::Widths widths = property::widths_of(backend.widths());
  const auto operands = random_operands(random, lengths, widths);
  const std::uint64_t seed = random.bits();
  const auto found = by_library(backend, kernel, operands, seed, random);
  counts.ran += found ? 1 : 0;
  counts.left += found ? 0 : 1;
  if (!found) return;
  const auto expect = [&](reference::Dropped dropped) {
    return by_reference(kernel, widths, operands, reference::Random(seed), dropped);
  };
  Outcome expected = expect(reference::Dropped::Evaluated);
  counts.failed += expected.failure ? 1 : 0;
  if (expected.failure && !same_failure(kernel, expected, *found)) {
    expected = expect(reference::Dropped::LeftOut);
  }
  const bool few = std::get<reference::Ints>(operands[2]).size() <= kShown;
  INFO((few ? text_of(operands) : "many operands"));
  INFO("expected " << failure_text(kernel, expected) << '\n'
                   << (few ? text_of(expected.results) : ""));
  INFO("found " << found->message << '\n' << (few ? text_of(found->results) : ""));
  REQUIRE(same_failure(kernel, expected, *found));
  REQUIRE(found->next == expected.next);
  REQUIRE(found->results.size() == expected.results.size());
  const std::vector<Rounding> rounding_by_array = roundings(kernel);
  for (std::size_t i = 0; i < expected.results.size(); ++i) {
    INFO("result " << i);
    const vcode::KernelParameter output = kernel.outputs[i];
    const Rounding rounding = output.segdes ? Rounding::Exact : rounding_by_array[output.id];
    REQUIRE(equal(expected.results[i], found->results[i], rounding, widths));
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
