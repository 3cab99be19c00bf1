// Constant folding. INT and FLOAT are 32 or 64 bits wide, as the run decides, so a result is only
// taken if all four combinations of widths agree on it.
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <variant>

#include "cvl/scalar_ops.hpp"
#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/passes/rewriter.hpp"

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

/// Functions whose last bits depend on the library that computes them: left to the run.
constexpr bool is_inexact(Op op) {
  return op >= Op::Log && op <= Op::Tanh && op != Op::Sqrt;
}

/// Arithmetic at one combination of widths.
template <class Int, class Float>
class Arithmetic {
 public:
  static std::optional<Element> apply(Op op, Type written, const Element* operands) {
    switch (op) {
#define ELEMENTWISE(id, text, types, in, out, doc)                                         \
  case Op::id:                                                                             \
    if constexpr (is_inexact(Op::id))                                                      \
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
  static std::optional<T> get(const Element& element) {
    if constexpr (std::is_same_v<T, cvl::ops::Bool>) {
      return std::get<cvl::ops::Bool>(element);
    } else if constexpr (std::is_floating_point_v<T>) {
      const double value = std::get<double>(element);
      const T narrow = static_cast<T>(value);
      if (std::bit_cast<std::uint64_t>(static_cast<double>(narrow)) !=
          std::bit_cast<std::uint64_t>(value)) {
        return std::nullopt;
      }
      return narrow;
    } else {
      const std::int64_t value = std::get<std::int64_t>(element);
      const T narrow = static_cast<T>(value);
      return narrow == value ? std::optional<T>(narrow) : std::nullopt;
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
    const auto a = get<T>(operands[0]);
    if (!a) return std::nullopt;
    if constexpr (count == 1) {
      return unary<Functor>(*a);
    } else {
      const auto b = get<T>(operands[1]);
      if (!b) return std::nullopt;
      if constexpr (requires { Functor::fails(*a, *b); }) {
        if (Functor::fails(*a, *b)) return std::nullopt;
      }
      return made(Functor::apply(*a, *b));
    }
  }

  // Conversions are told their result: INT, but FLOAT from INT.
  template <class Functor, class T>
  static std::optional<Element> unary(T a) {
    using Result = std::conditional_t<std::is_same_v<T, Int>, Float, Int>;
    if constexpr (requires { Functor::apply(a); }) {
      return made(Functor::apply(a));
    } else {
      return made(Functor::template apply<Result, T>(a));
    }
  }
};

std::optional<Element> compute(Op op, Type written, const Element* operands) {
  const auto first = Arithmetic<std::int32_t, float>::apply(op, written, operands);
  if (!first) return std::nullopt;
  for (const auto& other : {Arithmetic<std::int32_t, double>::apply(op, written, operands),
                            Arithmetic<std::int64_t, float>::apply(op, written, operands),
                            Arithmetic<std::int64_t, double>::apply(op, written, operands)}) {
    if (!other || !same(*first, *other)) return std::nullopt;
  }
  return first;
}

Element element(const Constant& constant, std::size_t at) {
  if (constant.type == Type::Float) return constant.floats()[at];
  if (constant.type == Type::Bool) return constant.bools()[at];
  return constant.ints()[at];
}

void append(Constant& constant, const Element& element) {
  std::visit(
      [&](auto value) {
        std::get<std::vector<decltype(value)>>(constant.elements).push_back(value);
      },
      element);
}

Constant empty_constant(Type type) {
  Constant constant;
  constant.type = type;
  if (type == Type::Float) constant.elements = std::vector<double>();
  if (type == Type::Bool) constant.elements = std::vector<std::uint8_t>();
  return constant;
}

std::optional<Constant> elementwise(const Statement& statement,
                                    const std::vector<const Constant*>& operands) {
  const vcode::OpInfo& info = vcode::info(statement.op);
  const std::size_t length = operands[0]->size();
  if (length > kLongestResult) return std::nullopt;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    // Longer operands are an error in runs with -c.
    if (operands[i]->size() != length ||
        operands[i]->type != vcode::operand_type(info.operands[i], statement.written)) {
      return std::nullopt;
    }
  }
  Constant result = empty_constant(*vcode::operand_type(info.results[0], statement.written));
  for (std::size_t at = 0; at < length; ++at) {
    Element elements[vcode::kMaxOperands];
    for (std::size_t i = 0; i < operands.size(); ++i) elements[i] = element(*operands[i], at);
    const auto computed = compute(statement.op, statement.written, elements);
    if (!computed) return std::nullopt;
    append(result, *computed);
  }
  if (length == 1) result.form = ConstantForm::Scalar;
  return result;
}

bool all_fit(const std::vector<std::int64_t>& numbers, std::int64_t least) {
  for (const std::int64_t number : numbers) {
    if (number < least || number > std::numeric_limits<std::int32_t>::max()) return false;
  }
  return true;
}

std::optional<Constant> computed(const Statement& statement,
                                 const std::vector<const Constant*>& operands) {
  const Constant& first = *operands[0];
  switch (vcode::info(statement.op).family) {
    case vcode::Family::Elementwise:
      return elementwise(statement, operands);
    case vcode::Family::Length:
      if (first.type == Type::Segdes) return std::nullopt;
      return int_constant(static_cast<std::int64_t>(first.size()));
    case vcode::Family::MakeSegdes:
    case vcode::Family::Lengths: {
      // Lengths are numbers in both; a negative one, or one too large, is left to the run.
      const bool make = statement.op == Op::MakeSegdes;
      if (first.type != (make ? Type::Int : Type::Segdes) || !all_fit(first.ints(), 0)) {
        return std::nullopt;
      }
      Constant result = first;
      result.type = make ? Type::Segdes : Type::Int;
      result.form = first.size() == 1 ? ConstantForm::Scalar : ConstantForm::Vector;
      result.element_spans.clear();
      return result;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

bool fold_constants(Module& module) {
  return rewrite(module, [](Statement& statement, RewriteContext& context) {
    if (statement.kind != Statement::Kind::Op || !is_pure(statement)) return Rewrite::None;
    std::vector<const Constant*> operands;
    for (const ValueId operand : statement.operands) {
      operands.push_back(context.constant(operand));
      if (!operands.back()) return Rewrite::None;
    }
    if (operands.empty()) return Rewrite::None;
    const auto result = computed(statement, operands);
    if (!result) return Rewrite::None;
    become_constant(statement, add_constant(context.module, *result));
    return Rewrite::Changed;
  });
}

}  // namespace fcode
