#include "vcode-smith/generator.hpp"

#include <algorithm>
#include <cmath>

#include "vcode-smith/operands.hpp"

namespace smith {
namespace {

using property::Random;
using reference::Floats;
using reference::Value;
using vcode::Family;
using vcode::Instruction;
using vcode::Op;
using vcode::Type;

bool has_negative_zero(const Floats& floats) {
  return std::any_of(floats.begin(), floats.end(),
                     [](double x) { return x == 0 && std::signbit(x); });
}

/// Is every partial sum exact, whatever the order?
bool sums_exactly(const Floats& floats, const reference::Widths& widths) {
  const double limit = widths.float_bits == 64 ? 0x1p40 : 0x1p13;
  double sum = 0;
  for (const double x : floats) {
    const double scaled = x * 0x1p10;
    if (!std::isfinite(scaled) || std::floor(scaled) != scaled) return false;
    sum += std::fabs(x);
  }
  return sum < limit;
}

/// Is every partial product a power of two far from the ends of the range?
bool multiplies_exactly(const Floats& floats) {
  int exponents = 0;
  for (const double x : floats) {
    int exponent = 0;
    if (!std::isfinite(x) || std::fabs(std::frexp(x, &exponent)) != 0.5) return false;
    exponents += std::abs(exponent - 1);
  }
  return exponents < 100;
}

/// Can the results of the operation differ between right evaluations? Then it is left out.
bool depends_on_evaluation(Op op, const Floats& data, const reference::Widths& widths) {
  switch (op) {
    case Op::AddScan:
    case Op::AddReduce:
    case Op::AddCombine:
      return !sums_exactly(data, widths);
    case Op::MultiplyScan:
    case Op::MultiplyReduce:
    case Op::MultiplyCombine:
      return !multiplies_exactly(data);
    case Op::MaxScan:
    case Op::MinScan:
    case Op::MaxReduce:
    case Op::MinReduce:
    case Op::MaxCombine:
    case Op::MinCombine:
      return has_negative_zero(data);  // which zero is the greater one is left open
    case Op::RankUp:
    case Op::RankDown:
    case Op::SortUp:
    case Op::SortDown:
      // The sign of a computed NaN is left open.
      return std::any_of(data.begin(), data.end(), [](double x) { return std::isnan(x); });
    default:
      return false;
  }
}

bool is_math_function(Op op) {
  return op >= Op::Log && op <= Op::Tanh && op != Op::Sqrt;
}

class Generator {
 public:
  Generator(const GeneratorOptions& options, Random& random)
      : options_(options),
        random_(random),
        builder_(options.widths, options.strict, options.max_length, some_input(random)),
        from_outside_(random.pick(std::vector<double>{0, 0.2, 0.8})) {
    for (const vcode::OpInfo& row : vcode::all_ops()) {
      if (row.is_vector_op()) vector_ops_.push_back(row.op);
    }
  }

  TestProgram run() {
    if (random_.chance(from_outside_)) {  // lengths that lie there from the start
      for (std::int64_t i = random_.between(1, 3); i > 0; --i) builder_.read();
    }
    const std::int64_t steps = random_.between(1, options_.size);
    for (std::int64_t i = 0; i < steps; ++i) step(0, 0);
    if (random_.chance(options_.failing)) fail();
    if (random_.chance(0.01)) add(Op::Exit);
    return builder_.finish();
  }

 private:
  // Deeper nests of arms and functions add nothing but length.
  static constexpr int kMaxNesting = 3;

  /// Scalars and short vectors of small numbers.
  static std::vector<reference::Ints> some_input(Random& random) {
    std::vector<reference::Ints> input(static_cast<std::size_t>(random.between(0, 30)));
    for (reference::Ints& value : input) {
      value.resize(static_cast<std::size_t>(random.chance(0.6) ? 1 : random.between(0, 12)));
      for (std::int64_t& number : value) number = random.between(0, random.chance(0.3) ? 60 : 9);
    }
    return input;
  }

  Operands operands_from(std::size_t base) { return {builder_, random_, base, from_outside_}; }

  void step(std::size_t base, int nesting) {
    const std::int64_t choice = random_.between(0, 99);
    if (choice < 62) {
      vector_step(base);
    } else if (choice < 74) {
      stack_step(base);
    } else if (choice < 78) {
      pair_step(base);
    } else if (choice < 82) {
      write_step(base);
    } else if (choice < 84) {
      seed_step();
    } else if (nesting < kMaxNesting && choice < 91) {
      conditional(base, nesting);
    } else if (nesting < kMaxNesting && choice < 95) {
      function(base, nesting);
    } else if (nesting < kMaxNesting && choice < 97) {
      recursion(base, nesting);
    } else {
      call_again(base);
    }
  }

  void vector_step(std::size_t base) {
    const Op op = random_.chance(0.06) ? Op::Rand : random_.pick(vector_ops_);
    const vcode::OpInfo& row = vcode::info(op);
    Type type = random_.pick(std::vector<Type>{Type::Int, Type::Int, Type::Bool, Type::Float});
    if (!row.takes_type()) {
      type = Type::Int;
    } else if (!row.allows(type)) {
      type = Type::Int;  // allowed everywhere
    }
    const Mark before = builder_.mark();
    Operands operands = operands_from(base);
    operands.prepare(op, type);
    if (!acceptable(row) || builder_.emit(op, type) || too_long()) {
      builder_.rewind(before);
      return;
    }
    if (is_math_function(op)) {
      // Last digits are the library's own affair; what is left is where NaN comes out.
      builder_.block(Op::Copy, 1, 0);
      builder_.emit(Op::Equal, Type::Float);
    }
  }

  /// Is the operation on what lies on top defined to the last bit?
  bool acceptable(const vcode::OpInfo& row) const {
    const std::size_t count = row.operands.size();
    for (std::size_t i = builder_.height() - count; i < builder_.height(); ++i) {
      const auto* floats = std::get_if<Floats>(&builder_.stack()[i].value);
      if (floats != nullptr && depends_on_evaluation(row.op, *floats, options_.widths)) {
        return false;
      }
    }
    return true;
  }

  bool too_long() const {
    const Value& value = builder_.stack().back().value;
    const auto* segdes = std::get_if<reference::Segdes>(&value);
    return segdes != nullptr && segdes->total() > options_.max_length;
  }

  void stack_step(std::size_t base) {
    const auto reach = static_cast<std::int64_t>(builder_.height() - base);
    if (reach == 0) return;
    const std::int64_t count = random_.between(0, std::min<std::int64_t>(reach, 4));
    const std::int64_t start = random_.between(0, reach - count);
    const Op op = random_.pick(std::vector<Op>{Op::Copy, Op::Pop, Op::CPop});
    if (op == Op::Copy && reach > 40) return;
    builder_.block(op, static_cast<std::size_t>(count), static_cast<std::size_t>(start));
  }

  void pair_step(std::size_t base) {
    if (builder_.height() == base) return;
    if (reference::type_of(builder_.stack().back().value) == Type::Pair && random_.chance(0.7)) {
      builder_.unpair();
    } else if (builder_.height() >= base + 2) {
      builder_.pair();
      if (random_.chance(0.3)) builder_.block(Op::Copy, 1, 0);
    }
  }

  void write_step(std::size_t base) {
    if (builder_.height() == base) return;
    const Type type = reference::type_of(builder_.stack().back().value);
    if (type == Type::Pair) return;
    const bool to_stderr = random_.chance(0.2);
    builder_.block(Op::Copy, 1, 0);
    Instruction write;
    write.type = type == Type::Int && random_.chance(0.2) ? Type::Char : type;
    if (to_stderr) {
      write.op = Op::Write;
      builder_.drop(1);
    } else {
      builder_.push_int(1);
      write.op = Op::FWrite;
      builder_.drop(2);
    }
    builder_.raw(write);
    builder_.place_on_top(reference::Ints{});
    builder_.place_on_top(reference::Bools{1});
    if (random_.chance(0.8)) builder_.block(Op::Pop, 2, 0);
  }

  void seed_step() {
    const std::int64_t seed = random_.between(-1000, 1000);
    operands_from(builder_.height()).number(seed);
    builder_.drop(1);
    add(Op::Srand);
    builder_.reseed(static_cast<std::uint64_t>(seed));
    builder_.place_on_top(reference::Bools{1});
  }

  void add(Op op) {
    Instruction instruction;
    instruction.op = op;
    builder_.raw(instruction);
  }

  /// Removes what lies above `base` and leaves values of these types there instead.
  void finish_frame(std::size_t base, const std::vector<Type>& types) {
    // What has to be made for one of them must not come to lie between the others.
    std::vector<Id> ids;
    Operands operands = operands_from(base);
    for (const Type type : types) {
      ids.push_back(type == Type::Segdes ? operands.any_segdes() : operands.any(type));
    }
    for (const Id id : ids) builder_.fetch(id, false);
    const std::size_t extra = builder_.height() - base - types.size();
    builder_.block(Op::Pop, extra, types.size());
  }

  std::vector<Type> some_types() {
    std::vector<Type> types;
    for (std::int64_t i = random_.between(0, 3); i > 0; --i) {
      types.push_back(random_.pick(
          std::vector<Type>{Type::Int, Type::Int, Type::Float, Type::Bool, Type::Segdes}));
    }
    return types;
  }

  void body(std::size_t base, int nesting, const std::vector<Type>& types) {
    for (std::int64_t i = random_.between(0, 4); i > 0; --i) step(base, nesting + 1);
    finish_frame(base, types);
  }

  /// An arm begins with copies of a few outer values.
  void arm(std::size_t base, std::size_t inner, int nesting, const std::vector<Type>& types) {
    const auto reach = static_cast<std::int64_t>(inner - base);
    const std::int64_t count = random_.between(0, std::min<std::int64_t>(reach, 3));
    const std::int64_t start = random_.between(0, reach - count);
    builder_.block(Op::Copy, static_cast<std::size_t>(count), static_cast<std::size_t>(start));
    body(inner, nesting, types);
  }

  /// A conditional whose arms leave the same types. Both arms are generated from the same state;
  /// the one that is taken decides how it goes on.
  void conditional(std::size_t base, int nesting) {
    const bool flag = random_.chance(0.5);
    make_condition(base, flag);
    const std::size_t inner = builder_.height();
    add(Op::If);
    const std::vector<Type> types = random_.chance(0.2) ? std::vector<Type>{} : some_types();
    const bool has_else = !types.empty() || random_.chance(0.5);
    const Mark start = builder_.mark();
    arm(base, inner, nesting, types);
    Mark taken = builder_.mark();
    if (has_else || !flag) {
      // Back to the state before the first arm, but behind its code.
      builder_.go_back(start);
    }
    if (has_else) {
      add(Op::Else);
      arm(base, inner, nesting, types);
    }
    add(Op::EndIf);
    if (flag) {
      builder_.go_back(taken);
    }
  }

  void make_condition(std::size_t base, bool flag) {
    if (random_.chance(0.4)) {
      builder_.push({Type::Bool,
                     vcode::ConstantForm::Scalar,
                     reference::Bools{static_cast<std::uint8_t>(flag)},
                     {}});
    } else if (random_.chance(from_outside_)) {
      const std::int64_t number = random_.between(-5, 5);
      operands_from(base).number(number);
      builder_.push_int(flag ? number : number + 1);
      builder_.emit(Op::GreaterEqual, Type::Int);
    } else {
      // From data, so that it cannot be known beforehand.
      Operands operands = operands_from(base);
      const Id id = operands.any(Type::Int);
      builder_.fetch(id, false);
      builder_.emit(Op::Length, Type::Int);
      builder_.push_int(0);
      builder_.emit(flag ? Op::GreaterEqual : Op::Less, Type::Int);
    }
    builder_.drop(1);
  }

  /// Code of a function that takes the topmost values, called where it was made.
  void function(std::size_t base, int nesting) {
    const auto reach = static_cast<std::int64_t>(builder_.height() - base);
    const auto arguments =
        static_cast<std::size_t>(random_.between(0, std::min<std::int64_t>(reach, 3)));
    const Mark before = builder_.mark();
    const std::string name = builder_.begin_function();
    body(builder_.height() - arguments, nesting, some_types());
    builder_.end_function();
    builder_.go_back(before);
    if (!builder_.call(name)) builder_.rewind(before);
  }

  /// ( value counter -- value ): works on the value until the counter is 0.
  void recursion(std::size_t base, int nesting) {
    const Mark before = builder_.mark();
    const Type type = random_.pick(std::vector<Type>{Type::Int, Type::Float, Type::Bool});
    Operands operands = operands_from(base);
    builder_.fetch(operands.any(type), false);
    operands.number(random_.between(0, random_.chance(0.1) ? 40 : 5));
    const Mark called = builder_.mark();
    const std::size_t frame = builder_.height() - 2;
    const std::string name = builder_.begin_function();
    builder_.block(Op::Copy, 1, 0);
    builder_.push_int(0);
    builder_.emit(Op::Greater, Type::Int);
    builder_.drop(1);
    add(Op::If);
    builder_.push_int(1);
    builder_.emit(Op::Subtract, Type::Int);
    const bool tail = random_.chance(0.5);
    builder_.block(Op::CPop, 1, 1);  // the value on top, the counter out of the way
    const std::size_t inner = frame + 1;
    if (!tail) {
      builder_.block(Op::CPop, 1, 1);
      builder_.raw_call(name);
      builder_.drop(1);
    }
    body(tail ? inner : frame, nesting, {type});
    if (tail) {
      builder_.block(Op::CPop, 1, 1);
      builder_.raw_call(name);
    }
    add(Op::Else);
    Instruction pop;
    pop.op = Op::Pop;
    pop.a = 1;
    builder_.raw(pop);
    add(Op::EndIf);
    builder_.end_function();
    builder_.go_back(called);
    if (!builder_.call(name)) builder_.rewind(before);
  }

  /// A function that exists already, if it fits what lies on the stack.
  void call_again(std::size_t base) {
    if (builder_.function_count() == 0 || base != 0) return;
    const auto which = static_cast<std::size_t>(
        random_.between(0, static_cast<std::int64_t>(builder_.function_count()) - 1));
    builder_.call(builder_.function_name(which));
  }

  /// Ends the program with an operation that fails.
  void fail() {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const Mark before = builder_.mark();
      Operands operands = operands_from(0);
      const Op op = random_.pick(std::vector<Op>{Op::Divide, Op::Modulo, Op::Extract, Op::Replace,
                                                 Op::Permute, Op::BPermute, Op::DPermute, Op::Rand,
                                                 Op::MakeSegdes, Op::Add, Op::Select});
      operands.prepare(op, Type::Int);
      spoil(op);
      if (builder_.emit(op, Type::Int, true)) return;
      builder_.rewind(before);
    }
  }

  /// Replaces the operand that can be at fault by one with a bad element in a random place.
  void spoil(Op op) {
    const vcode::OpInfo& row = vcode::info(op);
    const bool first = op == Op::Rand || op == Op::MakeSegdes;
    const std::size_t from_top = row.operands.size() - (first ? 1 : 2);
    const Value& old = builder_.stack()[builder_.height() - 1 - from_top].value;
    const auto* ints = std::get_if<reference::Ints>(&old);
    if (ints == nullptr) return;
    reference::Ints bad = *ints;
    if (bad.empty() || bad.size() > 50) return;
    const auto where =
        static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(bad.size()) - 1));
    if (op == Op::Add || op == Op::Select) {
      bad.pop_back();
    } else if (op == Op::Divide || op == Op::Modulo || op == Op::Rand) {
      bad[where] = 0;
    } else {
      bad[where] = random_.chance(0.5) ? -1 : bad[where] + random_.between(1, 100000);
    }
    // All operands once more, with the bad one in its place.
    const std::size_t count = row.operands.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (i + 1 == count - from_top) {
        builder_.push_ints(bad);
      } else {
        builder_.block(Op::Copy, 1, count - 1);
      }
    }
  }

  GeneratorOptions options_;
  Random& random_;
  Builder builder_;
  double from_outside_;  // how often what could be a constant is something that only the run knows
  std::vector<Op> vector_ops_;
};

}  // namespace

TestProgram generate(const GeneratorOptions& options, Random& random) {
  return Generator(options, random).run();
}

}  // namespace smith
