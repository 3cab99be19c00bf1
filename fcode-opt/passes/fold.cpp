// Constant folding. INT and FLOAT are 32 or 64 bits wide, as the run decides, so a result is only
// taken if all four combinations of widths agree on it; where they do not, the four results are
// remembered, because what is computed from them may be the same again: ROUND of a quotient.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "cvl/scalar_ops.hpp"
#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/passes/rewriter.hpp"
#include "vcode/math_functions.hpp"
#include "vcode/numbers.hpp"

namespace fcode {
namespace {

using vcode::Constant;
using vcode::ConstantForm;

// Longer results are left to the run: the text of the program would grow.
constexpr std::size_t kLongestResult = 64;

/// One element in its widest type: INT, BOOL (as std::uint8_t) or FLOAT.
using Element = std::variant<std::int64_t, cvl::ops::Bool, double>;

bool same(const Element& a, const Element& b) {
  if (a.index() != b.index()) return false;
  if (const double* x = std::get_if<double>(&a)) {
    return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(std::get<double>(b));
  }
  return a == b;
}

/// Arithmetic at one combination of widths.
template <class Int, class Float>
class Arithmetic {
 public:
  // Inlined four times over it would count as cold code, in which g++ calls the math library for
  // FLOOR; programs start without that library.
  [[gnu::noinline]] static std::optional<Element> apply(Op op, Type written,
                                                        const Element* operands) {
    switch (op) {
#define ELEMENTWISE(id, text, types, in, out, doc)                                         \
  case Op::id:                                                                             \
    if constexpr (vcode::is_math_function(Op::id))                                         \
      return std::nullopt;                                                                 \
    else                                                                                   \
      return by_type<cvl::ops::id, vcode::Argument::types, in[0], sizeof(in) - 1>(written, \
                                                                                  operands);
#include "vcode/opcodes.def"
      default:
        return std::nullopt;
    }
  }

 private:
  // May the first operand have that type?
  static constexpr bool takes(vcode::Argument types, char letter, Type type) {
    switch (letter) {
      case 'I':
        return type == Type::Int;
      case 'F':
        return type == Type::Float;
      case 'B':
        return type == Type::Bool;
      default:
        return type == Type::Int || types == vcode::Argument::Data ||
               type == (types == vcode::Argument::Logic ? Type::Bool : Type::Float);
    }
  }

  template <class T>
  static T get(const Element& element) {
    if constexpr (std::is_same_v<T, cvl::ops::Bool>) {
      return std::get<cvl::ops::Bool>(element);
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(std::get<double>(element));
    } else {
      return static_cast<T>(std::get<std::int64_t>(element));
    }
  }

  template <class T>
  static std::optional<Element> made(T value) {
    if constexpr (std::is_same_v<T, cvl::ops::Bool>) {
      return Element(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value)) return std::nullopt;  // cannot be written in a program
      return Element(static_cast<double>(value));
    } else {
      return Element(static_cast<std::int64_t>(value));
    }
  }

  // By the type of the first operand; SELECT takes the one that its flag names.
  template <class Functor, vcode::Argument types, char letter, std::size_t count>
  static std::optional<Element> by_type(Type written, const Element* operands) {
    if constexpr (std::is_same_v<Functor, cvl::ops::Select>) {
      return operands[std::get<cvl::ops::Bool>(operands[0]) ? 1 : 2];
    } else {
      if constexpr (takes(types, letter, Type::Int)) {
        if (letter != 'T' || written == Type::Int) return run<Functor, Int, count>(operands);
      }
      if constexpr (takes(types, letter, Type::Bool)) {
        if (letter != 'T' || written == Type::Bool) {
          return run<Functor, cvl::ops::Bool, count>(operands);
        }
      }
      if constexpr (takes(types, letter, Type::Float)) {
        if (letter != 'T' || written == Type::Float) return run<Functor, Float, count>(operands);
      }
      return std::nullopt;
    }
  }

  template <class Functor, class T, std::size_t count>
  static std::optional<Element> run(const Element* operands) {
    const T a = get<T>(operands[0]);
    if constexpr (count == 1) {
      return unary<Functor>(a);
    } else {
      const T b = get<T>(operands[1]);
      if constexpr (cvl::ops::CanFail<Functor, T, T>) {
        if (Functor::fails(a, b)) return std::nullopt;
      }
      return made(Functor::apply(a, b));
    }
  }

  // Conversions are told their result: INT, but FLOAT from INT.
  template <class Functor, class T>
  static std::optional<Element> unary(T a) {
    using Result = std::conditional_t<std::is_same_v<T, Int>, Float, Int>;
    if constexpr (cvl::ops::FindsOutResult<Functor, T>) {
      return made(Functor::apply(a));
    } else {
      return made(Functor::template apply<Result, T>(a));
    }
  }
};

/// What an element is at each combination of widths.
using ByWidth = std::array<Element, 4>;

template <class Int, class Float>
bool compute_at(std::size_t width, Op op, Type written, std::span<const ByWidth* const> operands,
                ByWidth& result) {
  Element at_width[vcode::kMaxOperands];
  for (std::size_t i = 0; i < operands.size(); ++i) at_width[i] = (*operands[i])[width];
  const auto computed = Arithmetic<Int, Float>::apply(op, written, at_width);
  if (computed) result[width] = *computed;
  return computed.has_value();
}

std::optional<ByWidth> compute(Op op, Type written, std::span<const ByWidth* const> operands) {
  ByWidth result;
  const bool all = compute_at<std::int32_t, float>(0, op, written, operands, result) &&
                   compute_at<std::int32_t, double>(1, op, written, operands, result) &&
                   compute_at<std::int64_t, float>(2, op, written, operands, result) &&
                   compute_at<std::int64_t, double>(3, op, written, operands, result);
  return all ? std::optional(result) : std::nullopt;
}

/// Can a run of 32-bit FLOATs load the number? It rounds it then.
std::optional<double> narrowed(double wide) {
  if (std::isfinite(wide) && std::abs(wide) > std::numeric_limits<float>::max())
    return std::nullopt;
  return static_cast<float>(wide);
}

/// What runs of each width make of an element of a constant; nothing: not all can load it.
std::optional<ByWidth> loaded(const Element& element) {
  if (const double* const wide = std::get_if<double>(&element)) {
    const auto narrow = narrowed(*wide);
    if (!narrow) return std::nullopt;
    return ByWidth{*narrow, *wide, *narrow, *wide};
  }
  if (const auto* const number = std::get_if<std::int64_t>(&element)) {
    if (!vcode::fits_32_bits(*number)) return std::nullopt;
  }
  return ByWidth{element, element, element, element};
}

/// The element of a constant that every run loads as that, if there is one.
std::optional<Element> constant_element(const ByWidth& element) {
  const Element& widest = element.back();
  const auto again = loaded(widest);
  if (!again || !std::equal(element.begin(), element.end(), again->begin(), same))
    return std::nullopt;
  return widest;
}

/// A vector at each combination of widths.
struct Folded {
  Type type;
  std::vector<ByWidth> elements;
};

Element element(const Constant& constant, std::size_t at) {
  if (constant.type == Type::Float) return constant.floats()[at];
  if (constant.type == Type::Bool) return constant.bools()[at];
  return constant.ints()[at];
}

std::optional<Folded> folded(const Constant& constant) {
  if (constant.size() > kLongestResult || !vcode::is_data(constant.type)) return std::nullopt;
  Folded result{constant.type, {}};
  for (std::size_t at = 0; at < constant.size(); ++at) {
    const auto each = loaded(element(constant, at));
    if (!each) return std::nullopt;
    result.elements.push_back(*each);
  }
  return result;
}

void append(Constant& constant, const Element& element) {
  std::visit(
      [&](auto value) {
        std::get<std::vector<decltype(value)>>(constant.elements).push_back(value);
      },
      element);
}

/// The constant that every run loads as that, if there is one.
std::optional<Constant> constant_of(const Folded& vector) {
  Constant result = empty_constant(vector.type);
  for (const ByWidth& each : vector.elements) {
    const auto element = constant_element(each);
    if (!element) return std::nullopt;
    append(result, *element);
  }
  if (vector.elements.size() == 1) result.form = ConstantForm::Scalar;
  return result;
}

std::optional<Folded> elementwise(const Statement& statement,
                                  const std::vector<const Folded*>& operands) {
  const vcode::OpInfo& info = vcode::info(statement.op);
  const std::size_t length = operands[0]->elements.size();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    // Longer operands are an error in runs with -c.
    if (operands[i]->elements.size() != length ||
        operands[i]->type != vcode::operand_type(info.operands[i], statement.written)) {
      return std::nullopt;
    }
  }
  Folded result{*vcode::operand_type(info.results[0], statement.written), {}};
  for (std::size_t at = 0; at < length; ++at) {
    const ByWidth* elements[vcode::kMaxOperands];
    for (std::size_t i = 0; i < operands.size(); ++i) elements[i] = &operands[i]->elements[at];
    const auto computed = compute(statement.op, statement.written, {elements, operands.size()});
    if (!computed) return std::nullopt;
    result.elements.push_back(*computed);
  }
  return result;
}

bool are_lengths(const std::vector<std::int64_t>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t number) {
    return number >= 0 && vcode::fits_32_bits(number);
  });
}

/// Lengths and descriptors of constants.
std::optional<Constant> measured(const Statement& statement, const Constant& operand) {
  switch (vcode::info(statement.op).family) {
    case vcode::Family::Length:
      if (operand.type == Type::Segdes) return std::nullopt;
      return int_constant(static_cast<std::int64_t>(operand.size()));
    case vcode::Family::MakeSegdes:
    case vcode::Family::Lengths: {
      // Lengths are numbers in both; a negative one, or one too large, is left to the run.
      const bool make = statement.op == Op::MakeSegdes;
      if (operand.type != (make ? Type::Int : Type::Segdes) || !are_lengths(operand.ints())) {
        return std::nullopt;
      }
      Constant result = operand;
      result.type = make ? Type::Segdes : Type::Int;
      result.form = operand.size() == 1 ? ConstantForm::Scalar : ConstantForm::Vector;
      result.element_spans.clear();
      return result;
    }
    default:
      return std::nullopt;
  }
}

class Folding {
 public:
  Rewrite operator()(Statement& statement, RewriteContext& context) {
    if (std::exchange(function_, &context.function) != &context.function) remembered_.clear();
    if (statement.kind != Statement::Kind::Op || !is_pure(statement) || statement.operands.empty())
      return Rewrite::None;
    const auto constant = vcode::info(statement.op).family == vcode::Family::Elementwise
                              ? computed(statement, context)
                              : measured_constant(statement, context);
    if (!constant) return Rewrite::None;
    become_constant(statement, add_constant(context.module, *constant));
    return Rewrite::Changed;
  }

 private:
  static std::optional<Constant> measured_constant(const Statement& statement,
                                                   const RewriteContext& context) {
    const Constant* const operand = context.constant(statement.operands[0]);
    return operand == nullptr ? std::nullopt : measured(statement, *operand);
  }

  std::optional<Constant> computed(const Statement& statement, const RewriteContext& context) {
    std::vector<const Folded*> operands;
    for (const ValueId operand : statement.operands) {
      const Folded* const known = find(operand, context);
      if (known == nullptr) return std::nullopt;
      operands.push_back(known);
    }
    auto result = elementwise(statement, operands);
    if (!result) return std::nullopt;
    auto constant = constant_of(*result);
    if (!constant) remembered_.emplace(statement.results[0], std::move(*result));
    return constant;
  }

  /// What is known of a value at each width; places last until the map is cleared.
  const Folded* find(ValueId value, const RewriteContext& context) {
    if (const auto known = remembered_.find(value); known != remembered_.end())
      return &known->second;
    const Constant* const constant = context.constant(value);
    auto loaded = constant == nullptr ? std::nullopt : folded(*constant);
    if (!loaded) return nullptr;
    return &remembered_.emplace(value, std::move(*loaded)).first->second;
  }

  const Function* function_ = nullptr;
  std::unordered_map<ValueId, Folded> remembered_;  // of the function's values
};

}  // namespace

bool fold_constants(Module& module) {
  return rewrite(module, Folding());
}

}  // namespace fcode
