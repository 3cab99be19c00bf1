#include "property/harness.hpp"

#include <cctype>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "cvl/check.hpp"
#include "cvl/failure.hpp"
#include "property/compare.hpp"
#include "property/convert.hpp"
#include "reference/evaluator.hpp"

namespace property {
namespace {

constexpr std::uint64_t kRandSeed = 77;

std::vector<reference::Value> values_of(const std::vector<Operand>& operands) {
  std::vector<reference::Value> values;
  for (const Operand& operand : operands) values.push_back(operand.value);
  return values;
}

/// Does `text` contain the number as a word of its own?
bool names_number(const std::string& text, std::int64_t number) {
  const std::string digits = std::to_string(number);
  for (std::size_t at = text.find(digits); at != std::string::npos;
       at = text.find(digits, at + 1)) {
    const auto digit_at = [&](std::size_t i) {
      return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    };
    if ((at == 0 || !digit_at(at - 1)) && !digit_at(at + digits.size())) return true;
  }
  return false;
}

std::string failure_text(const cvl::Failure& failure) {
  std::string text = failure.message();
  for (const std::string& note : failure.notes()) text += "; " + note;
  return text;
}

}  // namespace

struct Harness::Run {
  std::vector<reference::Value> results;
  std::optional<vcode::ErrorCode> failure;
  std::string failure_text;
  std::string damage;  // which shared operand was changed
};

Harness::Harness(const cvl::Widths& widths, std::uint64_t seed)
    : widths_(widths_of(widths)), random_(seed) {
  for (const Library& library : backends_under_test()) {
    auto& instances = libraries_.emplace_back();
    for (const BackendChoice& choice : library.choices) {
      instances.push_back({choice.name, choice.make(widths)});
    }
  }
}

Harness::Run Harness::run(cvl::Backend& backend, const OperandChoice& operation,
                          const std::vector<Operand>& operands, std::uint64_t layout_seed) {
  Random layout(layout_seed);
  const vcode::OpInfo& row = vcode::info(operation.op);
  std::vector<cvl::Value> values;
  std::vector<std::pair<std::size_t, cvl::Value>> held;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    // Equal operands may be one vector.
    const bool repeats = i > 0 && identical(operands[i].value, operands[i - 1].value) &&
                         operands[i].layout == operands[i - 1].layout;
    values.push_back(repeats && layout.chance(0.7) ? values.back()
                                                   : to_library(backend, operands[i], layout));
    if (layout.chance(0.4)) held.emplace_back(i, values.back());
  }
  Run result;
  cvl::Value results[vcode::kMaxResults];
  backend.seed(kRandSeed);
  try {
    cvl::check_operands(row, operation.type, values.data(), false);
    backend.execute(operation.op, operation.type, values.data(), results);
    backend.synchronize();
    values.clear();
    for (std::size_t i = 0; i < row.results.size(); ++i) {
      result.results.push_back(from_library(backend, results[i]));
    }
  } catch (const cvl::Failure& failure) {
    result.failure = failure.code();
    result.failure_text = failure_text(failure);
  }
  for (const auto& [i, value] : held) {
    if (!identical(from_library(backend, value), operands[i].value)) {
      result.damage = fmt::format("operand {}, which is shared, was changed", i);
    }
  }
  return result;
}

std::string Harness::check(const OperandChoice& operation, const std::vector<Operand>& operands) {
  const std::vector<reference::Value> values = values_of(operands);
  std::vector<reference::Value> expected;
  std::optional<reference::Failure> failure;
  reference::Random stream(kRandSeed);
  try {
    expected = reference::evaluate(operation.op, operation.type, widths_, stream, values);
  } catch (const reference::Failure& thrown) {
    failure = thrown;
  }
  const std::uint64_t layout_seed = random_.bits();
  for (const auto& library : libraries_) {
    std::optional<Run> first;
    for (const Instance& instance : library) {
      Run found = run(*instance.backend, operation, operands, layout_seed);
      const auto report = [&](const std::string& text) { return instance.name + ": " + text; };
      if (!found.damage.empty()) return report(found.damage);
      if (failure) {
        if (!found.failure) return report("succeeds, the reference fails");
        if (*found.failure != failure->code) {
          return report("fails with another code: " + found.failure_text);
        }
        if (failure->position >= 0 && !names_number(found.failure_text, failure->position)) {
          return report(
              fmt::format("does not name position {}: {}", failure->position, found.failure_text));
        }
        continue;
      }
      if (found.failure) return report("fails: " + found.failure_text);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::string differs =
            difference(operation.op, widths_, values, expected[i], found.results[i]);
        if (!differs.empty()) return report(fmt::format("result {}: {}", i, differs));
        if (first && !identical(first->results[i], found.results[i])) {
          return report(fmt::format("result {} has other bits than with {}", i, library[0].name));
        }
      }
      if (!first) first = std::move(found);
    }
  }
  return {};
}

std::vector<cvl::Widths> all_widths() {
  return {{4, 8}, {8, 8}, {4, 4}, {8, 4}};
}

std::string label(const OperandChoice& operation) {
  const vcode::OpInfo& row = vcode::info(operation.op);
  std::string text(row.text);
  if (row.takes_type()) text += fmt::format(" {}", vcode::type_name(operation.type));
  return text +
         fmt::format(", INT {}, FLOAT {}", operation.widths.int_bits, operation.widths.float_bits);
}

}  // namespace property
