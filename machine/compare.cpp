#include "machine/compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "machine/format.hpp"
#include "machine/report_text.hpp"

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

/// Mathematical functions. IEEE arithmetic gives the same bits everywhere.
bool rounds_differently(const vcode::OpInfo& row) {
  return row.family == Family::Elementwise && row.operands == "F" && row.op != Op::Sqrt;
}

double epsilon_of(const cvl::Widths& widths) {
  return widths.float_bytes == 8 ? std::numeric_limits<double>::epsilon()
                                 : std::numeric_limits<float>::epsilon();
}

Tolerance tolerance(Op op, const cvl::Widths& widths, const std::vector<double>& operand) {
  const double epsilon = epsilon_of(widths);
  const double least = widths.float_bytes == 8 ? std::numeric_limits<double>::min()
                                               : std::numeric_limits<float>::min();
  const vcode::OpInfo& row = vcode::info(op);
  if (row.family == Family::Elementwise) {
    if (!rounds_differently(row)) return {};
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

/// Does one library's FLOAT result of the kernel depend on its mathematical functions, or on the
/// order in which it combines?
bool rounds_differently(const vcode::Kernel& kernel) {
  const auto thunk_does = [](const vcode::Thunk* thunk) {
    return std::any_of(thunk->nodes.begin(), thunk->nodes.end(), [](const vcode::ThunkNode& node) {
      return node.kind == vcode::ThunkNode::Kind::Apply && rounds_differently(vcode::info(node.op));
    });
  };
  const auto monoid_does = [](const vcode::Monoid& monoid) {
    const std::string_view combiner = vcode::info(monoid.op).combiner;
    return monoid.type == Type::Float && (combiner == "Add" || combiner == "Multiply");
  };
  return std::any_of(
      kernel.bindings.begin(), kernel.bindings.end(), [&](const vcode::Binding& binding) {
        const auto thunks = vcode::thunks_of(binding);
        return std::any_of(binding.monoids.begin(), binding.monoids.end(), monoid_does) ||
               std::any_of(thunks.begin(), thunks.end(), thunk_does);
      });
}

/// Of what a kernel computes nothing is known but its operands, and lengths that are written in it
/// or that an operand of one element may tell: it is taken for a sum of so many numbers, each as
/// large as the largest operand.
Tolerance kernel_tolerance(const vcode::Kernel& kernel, const cvl::Widths& widths,
                           const std::vector<std::vector<double>>& operands) {
  double largest = 1, longest = 1, elements = 0;
  for (const std::vector<double>& operand : operands) {
    for (const double x : operand) {
      if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
    }
    elements += static_cast<double>(operand.size());
    if (operand.size() == 1 && std::isfinite(operand[0])) {
      longest = std::max(longest, operand[0]);
    }
  }
  for (const vcode::KernelSize& size : kernel.sizes) {
    if (size.literal) longest = std::max(longest, static_cast<double>(*size.literal));
  }
  const double bound = 8 * (longest + elements) * epsilon_of(widths);
  return {bound, bound * largest};
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

/// What is to be done on both libraries.
struct CompareBackend::Task {
  std::string name;
  std::size_t results = 0;
  /// False: the library leaves it to others, and nothing has changed.
  std::function<bool(cvl::Backend&, Value* operands, Value* results)> run;
  /// How far FLOAT results may lie apart.
  std::function<Tolerance()> tolerance;
};

struct CompareBackend::Run {
  std::vector<Value> results;
  std::optional<Failure> failure;
  bool left = false;  // to others
  double seconds = 0;
  cvl::Backend* backend = nullptr;
};

/// A kernel that both libraries have made ready.
struct CompareBackend::BothPrepared final : cvl::PreparedKernel {
  BothPrepared(const vcode::Kernel& kernel, std::unique_ptr<cvl::PreparedKernel> first,
               std::unique_ptr<cvl::PreparedKernel> second)
      : kernel(kernel), first(std::move(first)), second(std::move(second)) {}

  const vcode::Kernel& kernel;
  std::unique_ptr<cvl::PreparedKernel> first, second;
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
  const vcode::OpInfo& row = vcode::info(op);
  const std::vector<Value> own(operands, operands + row.operands.size());
  Task task;
  task.name = operation_name(op, type);
  task.results = row.results.size();
  task.run = [&](cvl::Backend& backend, Value* from, Value* to) {
    backend.execute(op, type, from, to);
    return true;
  };
  task.tolerance = [&] {
    const bool folds = own[0].is_vector() && own[0].type() == Type::Float;
    return tolerance(op, widths(),
                     folds ? numbers<double>(*first_, own[0].vector()) : std::vector<double>());
  };
  run_on_both(task, own, results);
}

void CompareBackend::expect(std::vector<const vcode::Kernel*> kernels) {
  first_->expect(kernels);
  second_->expect(std::move(kernels));
}

// A kernel that draws random numbers is left to its operations: where one library runs it and the
// other one does not, they would draw different ones from then on.
std::unique_ptr<cvl::PreparedKernel> CompareBackend::prepare(const vcode::Kernel& kernel) {
  const auto draws = [](const vcode::Binding& binding) {
    return binding.kind == vcode::Binding::Kind::Random;
  };
  if (kernel.has_spec && std::any_of(kernel.bindings.begin(), kernel.bindings.end(), draws)) {
    return nullptr;
  }
  auto first = first_->prepare(kernel);
  if (first == nullptr) return nullptr;
  auto second = second_->prepare(kernel);
  if (second == nullptr) return nullptr;
  return std::make_unique<BothPrepared>(kernel, std::move(first), std::move(second));
}

std::int64_t CompareBackend::kernels_pay_after() const {
  return std::min(first_->kernels_pay_after(), second_->kernels_pay_after());
}

bool CompareBackend::run(cvl::PreparedKernel& prepared, Value* operands, Value* results) {
  auto& both = static_cast<BothPrepared&>(prepared);
  const std::vector<Value> own(operands, operands + both.kernel.inputs.size());
  Task task;
  task.name = "kernel " + both.kernel.name;
  task.results = both.kernel.outputs.size();
  task.run = [&](cvl::Backend& backend, Value* from, Value* to) {
    return backend.run(&backend == first_.get() ? *both.first : *both.second, from, to);
  };
  task.tolerance = [&] {
    if (!rounds_differently(both.kernel)) return Tolerance{};
    std::vector<std::vector<double>> all;
    for (const Value& operand : own) {
      if (operand.is_vector()) all.push_back(numbers<double>(*first_, operand.vector()));
    }
    return kernel_tolerance(both.kernel, widths(), all);
  };
  return run_on_both(task, own, results);
}

bool CompareBackend::run_on_both(const Task& task, const std::vector<Value>& operands,
                                 Value* results) {
  std::vector<Value> copies;
  for (const Value& operand : operands) copies.push_back(copy(operand));
  first_->origin = second_->origin = origin;
  first_->stop = second_->stop = stop;
  second_->synchronize();
  Run a = run_on(*first_, task, operands);
  const Run b = run_on(*second_, task, std::move(copies));
  if (a.left || b.left) return false;

  Row& row = rows_[task.name];
  row.calls += 1;
  row.seconds[0] += a.seconds;
  row.seconds[1] += b.seconds;
  for (const Value& operand : operands) row.bytes += bytes_of(operand);
  for (const Value& result : a.results) row.bytes += bytes_of(result);

  const std::string differs = difference(task, a, b);
  if (!differs.empty()) {
    ++differences_;
    if (row.differing++ == 0) row.example = differs;
    if (stop_) stop_at(task, operands, differs);
  }
  if (a.failure) throw *a.failure;
  std::move(a.results.begin(), a.results.end(), results);
  return true;
}

CompareBackend::Run CompareBackend::run_on(cvl::Backend& backend, const Task& task,
                                           std::vector<Value> operands) {
  Run result;
  result.backend = &backend;
  std::vector<Value> values(task.results);
  const auto begin = std::chrono::steady_clock::now();
  try {
    result.left = !task.run(backend, operands.data(), values.data());
    backend.synchronize();
    result.seconds = seconds_since(begin);
    if (!result.left) result.results = std::move(values);
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

std::string CompareBackend::difference(const Task& task, const Run& a, const Run& b) {
  if (a.failure || b.failure) {
    if (a.failure && b.failure && same_failure(*a.failure, *b.failure)) return {};
    const auto says = [](const Run& run) {
      return run.failure ? "\"" + run.failure->message() + "\"" : std::string("success");
    };
    return fmt::format("{} gives {}, {} gives {}", first_->name(), says(a), second_->name(),
                       says(b));
  }
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
      const Tolerance allowed = task.tolerance();
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

void CompareBackend::stop_at(const Task& task, const std::vector<Value>& operands,
                             const std::string& difference) {
  std::vector<std::string> notes{difference};
  for (std::size_t k = 0; k < operands.size(); ++k) {
    notes.push_back(
        fmt::format("operand {}: {}", k, shortened(*first_, operands[k], kShownElements)));
  }
  throw Failure(vcode::ErrorCode::Internal,
                fmt::format("the vector libraries `{}` and `{}` differ in `{}`", first_->name(),
                            second_->name(), task.name),
                std::move(notes));
}

// ---- the table ----

std::string CompareBackend::report() const {
  std::string text = fmt::format("{:<18}{:>9}{:>12}{:>12}{:>12}{:>8}  {}\n", "operation", "calls",
                                 "bytes", first_->name(), second_->name(), "ratio", "results");
  std::vector<std::pair<std::string, const Row*>> rows;
  for (const auto& [name, row] : rows_) rows.emplace_back(name, &row);
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
  for (const auto& [name, row] : rows) {
    line(name, *row);
    all.calls += row->calls;
    all.bytes += row->bytes;
    all.differing += row->differing;
    for (int k = 0; k < 2; ++k) all.seconds[k] += row->seconds[k];
  }
  line("all", all);
  for (const auto& [name, row] : rows) {
    if (row->differing == 0) continue;
    text += fmt::format("{} differs: {}\n", name, row->example);
  }
  return text;
}

}  // namespace vinterp
