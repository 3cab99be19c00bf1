// Operands that make an operation fail: every library must fail with the code of the reference and
// name the first position at fault.
#include <map>

#include <catch2/catch.hpp>

#include "property/harness.hpp"

namespace {

using property::Harness;
using property::Layout;
using property::Operand;
using property::OperandChoice;
using property::Shape;
using reference::Bools;
using reference::Ints;
using reference::Segdes;
using vcode::Op;
using vcode::Type;

constexpr int kRounds = 40;
// On the emulated device these are hundreds of tiles, and for the CPU library as many blocks as its
// numbers are set to (tuned.hpp).
constexpr std::int64_t kLongest = 10'000;

std::vector<Shape> shapes_of(Harness& harness) {
  std::vector<Shape> shapes = property::small_shapes(harness.random());
  for (Shape& shape : property::medium_shapes(harness.random())) {
    if (shape.total() <= kLongest) shapes.push_back(std::move(shape));
  }
  std::erase_if(shapes, [](const Shape& shape) { return shape.total() == 0; });
  return shapes;
}

/// Overwrites up to three elements by ones at fault.
void spoil(Harness& harness, Operand& operand, const std::vector<std::int64_t>& bad) {
  auto& ints = std::get<Ints>(operand.value);
  operand.layout = Layout::Plain;
  const auto last = static_cast<std::int64_t>(ints.size()) - 1;
  for (std::int64_t count = harness.random().between(1, 3); count > 0; --count) {
    // The ends are where checks are forgotten.
    const std::int64_t where = harness.random().chance(0.2)    ? 0
                               : harness.random().chance(0.25) ? last
                                                               : harness.random().between(0, last);
    ints[static_cast<std::size_t>(where)] = harness.random().pick(bad);
  }
}

void check(Harness& harness, const OperandChoice& choice, const Shape& shape,
           const std::vector<Operand>& operands) {
  const std::string differs = harness.check(choice, operands);
  INFO(property::label(choice) << ", shape `" << shape.name << "`");
  CHECK(differs == "");
}

/// One for all operations: what takes the time of a harness is to make its libraries.
Harness& harness_for(const cvl::Widths& widths) {
  static std::map<std::size_t, Harness> harnesses;  // by bytes of INT
  return harnesses.try_emplace(widths.int_bytes, widths, property::test_seed()).first->second;
}

/// Spoils operand `which` of the operation with the numbers that `bad` gives for a shape.
template <class Bad>
void check_spoilt(Op op, Type type, std::size_t which, Bad bad) {
  for (const cvl::Widths& widths : {cvl::Widths{4, 8}, cvl::Widths{8, 4}}) {
    Harness& harness = harness_for(widths);
    const std::vector<Shape> shapes = shapes_of(harness);
    for (int round = 0; round < kRounds; ++round) {
      const Shape& shape = harness.random().pick(shapes);
      const OperandChoice choice{op, type, harness.widths(), true, false};
      auto operands = property::make_operands(choice, shape, harness.random());
      if (reference::length_of(operands[which].value) == 0) continue;
      spoil(harness, operands[which], bad(harness, shape));
      check(harness, choice, shape, operands);
    }
  }
}

/// One past the end of some segment, one before its beginning, and far away.
std::vector<std::int64_t> bad_indices(Harness& harness, const Shape& shape) {
  return {harness.random().pick(shape.lengths), -1, 1'000'000'000, -1'000'000'000};
}

/// Cuts or lengthens one operand, which the operation must refuse by its lengths alone.
void check_misfit(Op op, Type type) {
  Harness& harness = harness_for({4, 8});
  const std::size_t count = vcode::info(op).operands.size();
  const std::vector<Shape> shapes = property::small_shapes(harness.random());
  for (const Shape& shape : shapes) {
    for (std::size_t which = 0; which < count; ++which) {
      const OperandChoice choice{op, type, harness.widths(), false, false};
      auto operands = property::make_operands(choice, shape, harness.random());
      const bool longer = harness.random().chance(0.5);
      std::visit(
          [&](auto& value) {
            using V = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<V, Segdes>) {
              if (longer || value.lengths.empty()) {
                value.lengths.push_back(0);
              } else {
                value.lengths.pop_back();
              }
            } else if constexpr (!std::is_same_v<V, reference::Pair>) {
              value.resize(longer || value.empty() ? value.size() + 1 : value.size() - 1);
            }
          },
          operands[which].value);
      check(harness, choice, shape, operands);
    }
  }
}

}  // namespace

TEST_CASE("an index outside its segment, in any place", "[failures]") {
  for (const Type type : {Type::Int, Type::Bool, Type::Float}) {
    for (const Op op : {Op::Permute, Op::DPermute, Op::FPermute, Op::BPermute, Op::BFPermute,
                        Op::DFPermute, Op::Extract, Op::Replace}) {
      check_spoilt(op, type, 1, bad_indices);
    }
    check_spoilt(type == Type::Bool ? Op::OrCombine : Op::AddCombine, type, 1, bad_indices);
  }
}

TEST_CASE("an index into an empty segment", "[failures]") {
  Harness& harness = harness_for({4, 8});
  const OperandChoice extract{Op::Extract, Type::Int, harness.widths(), false, false};
  const OperandChoice replace{Op::Replace, Type::Int, harness.widths(), false, false};
  for (const std::vector<std::int64_t>& lengths :
       {std::vector<std::int64_t>{0}, {0, 2, 1}, {2, 0, 1}, {2, 1, 0}, {0, 0, 0}, {3, 0, 0, 0}}) {
    const Shape shape{"with empty segments", lengths};
    const Ints zeros(lengths.size());
    const Ints data(static_cast<std::size_t>(shape.total()), 7);
    check(harness, extract, shape, {{data}, {zeros}, {Segdes{lengths}}});
    check(harness, replace, shape, {{data}, {zeros}, {zeros}, {Segdes{lengths}}});
  }
}

TEST_CASE("compact index vectors outside their segments", "[failures]") {
  Harness& harness = harness_for({4, 8});
  for (const std::int64_t length : {20, 1000, 20000}) {
    const Shape shape{"one segment of " + std::to_string(length), {length}};
    const Segdes segdes{{length}};
    const auto size = static_cast<std::size_t>(length);
    Ints up(size), down(size), ones(size, length), data(size, 3);
    for (std::size_t i = 0; i < size; ++i) {
      up[i] = static_cast<std::int64_t>(i) + 1;
      down[i] = length - 2 - static_cast<std::int64_t>(i);
    }
    for (const Op op : {Op::Permute, Op::BPermute}) {
      const OperandChoice choice{op, Type::Int, harness.widths(), true, false};
      for (const Operand& index :
           {Operand{up, Layout::Progression}, Operand{down, Layout::Progression},
            Operand{ones, Layout::Constant}}) {
        std::vector<Operand> operands = {{data}, index, {segdes}};
        if (op == Op::BPermute) operands.push_back({segdes});
        check(harness, choice, shape, operands);
      }
    }
  }
}

TEST_CASE("division by zero, in any place", "[failures]") {
  const auto zero = [](Harness&, const Shape&) { return std::vector<std::int64_t>{0}; };
  check_spoilt(Op::Divide, Type::Int, 1, zero);
  check_spoilt(Op::Modulo, Type::Int, 1, zero);
}

TEST_CASE("bounds of RAND below 1", "[failures]") {
  check_spoilt(Op::Rand, Type::Int, 0, [](Harness&, const Shape&) {
    return std::vector<std::int64_t>{0, -1, -1000};
  });
}

TEST_CASE("negative lengths", "[failures]") {
  check_spoilt(Op::MakeSegdes, Type::Int, 0, [](Harness&, const Shape&) {
    return std::vector<std::int64_t>{-1, -1000};
  });
}

TEST_CASE("a compact divisor, bound or length at fault", "[failures]") {
  Harness& harness = harness_for({4, 8});
  const Shape shape{"one segment of 50", {50}};
  const Ints zeros(50), ones(50, 1);
  Ints down(50);
  for (int i = 0; i < 50; ++i) down[static_cast<std::size_t>(i)] = 20 - i;
  for (const Operand& bad :
       {Operand{zeros, Layout::Constant}, Operand{down, Layout::Progression}}) {
    for (const Op op : {Op::Divide, Op::Modulo}) {
      check(harness, {op, Type::Int, harness.widths(), true, false}, shape, {{ones}, bad});
    }
    check(harness, {Op::Rand, Type::Int, harness.widths(), true, false}, shape, {bad});
    check(harness, {Op::MakeSegdes, Type::Int, harness.widths(), true, false}, shape, {bad});
  }
  check(harness, {Op::MakeSegdes, Type::Int, harness.widths(), true, false}, shape,
        {{Ints(50, -1), Layout::Constant}});
}

TEST_CASE("operands whose lengths do not fit", "[failures]") {
  for (const vcode::OpInfo& row : vcode::all_ops()) {
    if (!row.is_vector_op()) continue;
    if (!row.takes_type()) {
      check_misfit(row.op, Type::Int);
      continue;
    }
    for (const Type type : {Type::Int, Type::Bool, Type::Float}) {
      if (row.allows(type)) check_misfit(row.op, type);
    }
  }
}
