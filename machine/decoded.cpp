#include "machine/decoded.hpp"

#include <array>

namespace vinterp {
namespace {

using vcode::Family;
using vcode::Op;
using vcode::OpInfo;
using vcode::Type;

constexpr std::uint8_t bit(Type type) {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(type));
}
constexpr std::uint8_t kAnyVector = bit(Type::Int) | bit(Type::Bool) | bit(Type::Float);
constexpr std::uint8_t kAnything = 0xFF;

// All operands as long as the deepest.
constexpr vcode::LengthRule kElementwiseRules[] = {{{1, false}, {0, false}},
                                                   {{2, false}, {0, false}}};

Action action_of(const OpInfo& op) {
  if (op.is_vector_op()) return Action::Vector;
  if (op.family == Family::Io) return Action::Io;
  switch (op.op) {
    case Op::Copy:
      return Action::Copy;
    case Op::Pop:
      return Action::Pop;
    case Op::CPop:
      return Action::MoveToTop;
    case Op::Pair:
      return Action::Pair;
    case Op::Unpair:
      return Action::Unpair;
    case Op::Const:
      return Action::Push;
    case Op::Call:
      return Action::Call;
    case Op::Run:
      return Action::Run;
    case Op::Return:
      return Action::Return;
    case Op::If:
      return Action::Branch;
    case Op::Else:
      return Action::Jump;
    case Op::Exit:
      return Action::Exit;
    case Op::StartTimer:
      return Action::StartTimer;
    case Op::StopTimer:
      return Action::StopTimer;
    case Op::Srand:
      return Action::Seed;
    default:
      return Action::Nothing;  // ENDIF
  }
}

std::uint8_t accepted_types(const OpInfo& op, char letter, Type written, bool strict) {
  if (const auto type = vcode::operand_type(letter, written)) return bit(*type);
  if (letter == '*') return kAnything;
  return strict && op.family == Family::Length ? bit(written) : kAnyVector;
}

TypedOp typed_op(Op written, Type type, bool strict) {
  const OpInfo& row = vcode::info(written);
  TypedOp op;
  op.op = written;
  op.type = type;
  op.operands = static_cast<std::uint8_t>(row.operands.size());
  op.results = static_cast<std::uint8_t>(row.results.size());
  for (std::size_t i = 0; i < row.operands.size(); ++i) {
    op.accepted[i] = accepted_types(row, row.operands[i], type, strict);
  }
  if (row.family == Family::Elementwise) {
    op.rules = kElementwiseRules;
    op.rule_count = static_cast<std::uint8_t>(op.operands - 1);
  } else {
    const auto rules = vcode::length_rules(written);
    op.rules = rules.data();
    op.rule_count = static_cast<std::uint8_t>(rules.size());
  }
  return op;
}

/// Does nothing but a RET follow?
bool returns_at(const std::vector<Decoded>& code, std::uint32_t at) {
  while (code[at].action == Action::Nothing || code[at].action == Action::Jump) {
    at = code[at].action == Action::Jump ? code[at].a : at + 1;
  }
  return code[at].action == Action::Return;
}

}  // namespace

DecodedProgram decode(const vcode::LinkedProgram& program, bool strict) {
  DecodedProgram decoded;
  decoded.code.reserve(program.code.size());
  // What instructions of an operation and a type begin with, once there was one.
  struct Known {
    bool known = false;
    Decoded step;
  };
  std::array<std::array<Known, vcode::kTypeCount>, vcode::kOpCount> all{};
  for (const vcode::Instruction& instruction : program.code) {
    const Op op = instruction.op;
    const Type type = instruction.type;
    Known& entry = all[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
    if (!entry.known) {
      decoded.ops.push_back(typed_op(op, type, strict));
      entry = {true,
               {action_of(vcode::info(op)), decoded.ops.back().operands,
                static_cast<std::uint16_t>(decoded.ops.size() - 1)}};
    }
    Decoded step = entry.step;
    step.a = instruction.a;
    step.b = instruction.b;
    decoded.code.push_back(step);
  }
  for (std::uint32_t f = 0; f < program.functions.size(); ++f) {
    for (std::uint32_t at = program.functions[f].begin; at < program.functions[f].end; ++at) {
      Decoded& step = decoded.code[at];
      if (step.action == Action::Call && step.a == f && returns_at(decoded.code, at + 1)) {
        step.action = Action::CallAgain;
      }
    }
  }
  return decoded;
}

}  // namespace vinterp
