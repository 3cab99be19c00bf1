#include "vinterp/compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "vinterp/format.hpp"
#include "vinterp/report_text.hpp"

namespace vinterp {
namespace {

using cvl::Failure;
using cvl::Type;
using cvl::Value;
using cvl::Vector;
using vcode::Family;
using vcode::Op;

constexpr std::int64_t kShownElements = 20;

/// Elements of a vector in the widest types of the host.
template <class T>
std::vector<T> numbers(cvl::Backend& backend, const Vector& vector) {
  const auto length = static_cast<std::size_t>(vector.length);
  const auto fetch = [&](auto zero) {
    std::vector<decltype(zero)> raw(length);
    backend.download(vector, 0, vector.length, raw.data());
    return std::vector<T>(raw.begin(), raw.end());
  };
  const std::size_t width = backend.widths().element_bytes(vector.type);
  if (vector.type == Type::Bool) return fetch(std::uint8_t{0});
  if (vector.type == Type::Float) return width == 8 ? fetch(0.0) : fetch(0.0F);
  return width == 8 ? fetch(std::int64_t{0}) : fetch(std::int32_t{0});
}

/// How far two FLOAT results of an operation may lie apart. Operations of IEEE arithmetic agree to
/// the bit. Mathematical functions are within 4 units in the last place of the truth on either
/// library. A sum of n numbers x in any order is within n eps sum|x| of the truth, a product within
/// the relative error n eps (Higham: Accuracy and Stability of Numerical Algorithms, section 4.2).
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

Tolerance tolerance(Op op, double epsilon, double least, const std::vector<double>& operand) {
  const vcode::OpInfo& row = vcode::info(op);
  if (row.family == Family::Elementwise) {
    if (row.operands != "F" || op == Op::Sqrt) return {};
    return {8 * epsilon, 8 * epsilon * least};  // the latter for denormal results
  }
  if (row.combiner.empty()) return {};
  const double bound = 2 * static_cast<double>(operand.size()) * epsilon;
  if (row.combiner == "Multiply") return {bound, 0};
  if (row.combiner != "Add") return {};
  double sum = 0;
  for (const double x : operand) {
    if (std::isfinite(x)) sum += std::abs(x);
  }
  return {0, bound * sum};
}

bool agree(double a, double b, const Tolerance& allowed) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  if (std::isinf(a) || std::isinf(b)) return false;  // however large the tolerance that they give
  return std::abs(a - b) <=
         allowed.absolute + allowed.relative * std::max(std::abs(a), std::abs(b));
}

/// The limits of a library are its own, and so is what it says when it reaches them.
bool same_failure(const Failure& a, const Failure& b) {
  if (a.code() != b.code()) return false;
  return vcode::info(a.code()).error_class != vcode::ErrorClass::Runtime ||
         (a.message() == b.message() && a.notes() == b.notes());
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

struct CompareBackend::Run {
  std::vector<Value> results;
  std::optional<Failure> failure;
  double seconds = 0;
  cvl::Backend* backend = nullptr;
};

CompareBackend::CompareBackend(std::unique_ptr<cvl::Backend> first,
                               std::unique_ptr<cvl::Backend> second, bool stop)
    : first_(std::move(first)), second_(std::move(second)), stop_(stop) {}

std::string CompareBackend::description() const {
  return fmt::format("{}, compared with {}", first_->description(), second_->description());
}

void CompareBackend::seed(std::uint64_t seed) {
  first_->seed(seed);
  second_->seed(seed);
}

void CompareBackend::execute(Op op, Type type, Value* operands, Value* results) {
  const std::size_t count = vcode::info(op).operands.size();
  const std::vector<Value> own(operands, operands + count);
  std::vector<Value> copies;
  for (const Value& operand : own) copies.push_back(copy(operand));
  first_->origin = second_->origin = origin;
  second_->synchronize();
  Run a = run_on(*first_, op, type, own);
  const Run b = run_on(*second_, op, type, std::move(copies));

  Row& row = rows_[{op, type}];
  row.calls += 1;
  row.seconds[0] += a.seconds;
  row.seconds[1] += b.seconds;
  for (const Value& operand : own) row.bytes += bytes_of(operand);
  for (const Value& result : a.results) row.bytes += bytes_of(result);

  const std::string differs = difference(op, own, a, b);
  if (!differs.empty()) {
    ++differences_;
    if (row.differing++ == 0) row.example = differs;
    if (stop_) stop_at(op, type, own, differs);
  }
  if (a.failure) throw *a.failure;
  std::move(a.results.begin(), a.results.end(), results);
}

CompareBackend::Run CompareBackend::run_on(cvl::Backend& backend, Op op, Type type,
                                           std::vector<Value> operands) {
  Run result;
  result.backend = &backend;
  Value values[vcode::kMaxResults];
  const auto begin = std::chrono::steady_clock::now();
  try {
    backend.execute(op, type, operands.data(), values);
    backend.synchronize();
    result.seconds = seconds_since(begin);
    for (std::size_t k = 0; k < vcode::info(op).results.size(); ++k) {
      result.results.push_back(std::move(values[k]));
    }
  } catch (const Failure& failure) {
    result.failure = failure;
  }
  return result;
}

// ---- copies for the second library ----

Vector CompareBackend::copy(const Vector& vector) {
  // Compact forms and short vectors mean the same everywhere.
  if (!vector.is_buffered()) return vector;
  std::vector<std::byte> elements(static_cast<std::size_t>(vector.length) *
                                  widths().element_bytes(vector.type));
  first_->download(vector, 0, vector.length, elements.data());
  return second_->upload(vector.type, elements.data(), vector.length);
}

Value CompareBackend::copy(const Value& value) {
  if (value.is_vector()) return copy(value.vector());
  if (value.segdes().uniform) return value;
  return cvl::make_segdes(*second_, copy(cvl::segdes_lengths(*first_, value.segdes())));
}

std::uint64_t CompareBackend::bytes_of(const Value& value) const {
  if (!value.is_vector()) {
    return value.segdes().uniform
               ? 0
               : static_cast<std::uint64_t>(value.segdes().count) * widths().int_bytes;
  }
  return stored_bytes(widths(), value.vector());
}

// ---- what differs ----

std::string CompareBackend::difference(Op op, const std::vector<Value>& operands, const Run& a,
                                       const Run& b) {
  if (a.failure || b.failure) {
    if (a.failure && b.failure && same_failure(*a.failure, *b.failure)) return {};
    const auto says = [](const Run& run) {
      return run.failure ? "\"" + run.failure->message() + "\"" : std::string("success");
    };
    return fmt::format("{} gives {}, {} gives {}", first_->name(), says(a), second_->name(),
                       says(b));
  }
  const double epsilon = widths().float_bytes == 8 ? std::numeric_limits<double>::epsilon()
                                                   : std::numeric_limits<float>::epsilon();
  const double least = widths().float_bytes == 8 ? std::numeric_limits<double>::min()
                                                 : std::numeric_limits<float>::min();
  for (std::size_t k = 0; k < a.results.size(); ++k) {
    const auto elements = [&](const Run& run) {
      const Value& value = run.results[k];
      return value.is_vector() ? value.vector() : cvl::segdes_lengths(*run.backend, value.segdes());
    };
    const Vector x = elements(a);
    const Vector y = elements(b);
    if (x.length != y.length) {
      return fmt::format("result {} has {} elements in {} and {} in {}", k, x.length,
                         first_->name(), y.length, second_->name());
    }
    const auto compare = [&](const auto& left, const auto& right, const auto& equal) {
      const auto at = std::mismatch(left.begin(), left.end(), right.begin(), equal);
      if (at.first == left.end()) return std::string();
      return fmt::format("element {} of result {} is {} in {} and {} in {}",
                         at.first - left.begin(), k, *at.first, first_->name(), *at.second,
                         second_->name());
    };
    std::string found;
    if (x.type == Type::Float) {
      const bool folds = operands[0].is_vector() && operands[0].type() == Type::Float;
      const Tolerance allowed =
          tolerance(op, epsilon, least,
                    folds ? numbers<double>(*first_, operands[0].vector()) : std::vector<double>());
      found = compare(numbers<double>(*first_, x), numbers<double>(*second_, y),
                      [&](double p, double q) { return agree(p, q, allowed); });
    } else {
      found = compare(numbers<std::int64_t>(*first_, x), numbers<std::int64_t>(*second_, y),
                      [](std::int64_t p, std::int64_t q) { return p == q; });
    }
    if (!found.empty()) return found;
  }
  return {};
}

void CompareBackend::stop_at(Op op, Type type, const std::vector<Value>& operands,
                             const std::string& difference) {
  std::vector<std::string> notes{difference};
  for (std::size_t k = 0; k < operands.size(); ++k) {
    notes.push_back(
        fmt::format("operand {}: {}", k, shortened(*first_, operands[k], kShownElements)));
  }
  throw Failure(vcode::ErrorCode::Internal,
                fmt::format("the vector libraries `{}` and `{}` differ in `{}`", first_->name(),
                            second_->name(), operation_name(op, type)),
                std::move(notes));
}

// ---- the table ----

std::string CompareBackend::report() const {
  std::string text = fmt::format("{:<18}{:>9}{:>12}{:>12}{:>12}{:>8}  {}\n", "operation", "calls",
                                 "bytes", first_->name(), second_->name(), "ratio", "results");
  std::vector<std::pair<std::pair<Op, Type>, const Row*>> rows;
  for (const auto& [key, row] : rows_) rows.emplace_back(key, &row);
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second->seconds[0] > b.second->seconds[0];
  });
  Row all;
  const auto line = [&](const std::string& name, const Row& row) {
    const double ratio = row.seconds[1] > 0 ? row.seconds[0] / row.seconds[1] : 0;
    text += fmt::format("{:<18}{:>9}{:>12}{:>12}{:>12}{:>8.2f}  {}\n", fitted(name, 17), row.calls,
                        cvl::format_bytes(row.bytes), format_seconds(row.seconds[0]),
                        format_seconds(row.seconds[1]), ratio,
                        row.differing == 0 ? "equal" : fmt::format("{} differ", row.differing));
  };
  for (const auto& [key, row] : rows) {
    line(operation_name(key.first, key.second), *row);
    all.calls += row->calls;
    all.bytes += row->bytes;
    all.differing += row->differing;
    for (int k = 0; k < 2; ++k) all.seconds[k] += row->seconds[k];
  }
  line("all", all);
  for (const auto& [key, row] : rows) {
    if (row->differing == 0) continue;
    text += fmt::format("{} differs: {}\n", operation_name(key.first, key.second), row->example);
  }
  return text;
}

}  // namespace vinterp
