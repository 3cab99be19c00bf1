#include "vinterp/decoded.hpp"

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

Decoded decode_one(const vcode::Instruction& instruction, bool strict) {
  const OpInfo& op = vcode::info(instruction.op);
  Decoded step;
  step.action = action_of(op);
  step.op = instruction.op;
  step.type = instruction.type;
  step.operands = static_cast<std::uint8_t>(op.operands.size());
  step.results = static_cast<std::uint8_t>(op.results.size());
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    step.accepted[i] = accepted_types(op, op.operands[i], instruction.type, strict);
  }
  if (op.family == Family::Elementwise) {
    step.rules = kElementwiseRules;
    step.rule_count = static_cast<std::uint8_t>(step.operands - 1);
  } else {
    const auto rules = vcode::length_rules(op.op);
    step.rules = rules.data();
    step.rule_count = static_cast<std::uint8_t>(rules.size());
  }
  step.a = instruction.a;
  step.b = instruction.b;
  return step;
}

}  // namespace

std::vector<Decoded> decode(const vcode::LinkedProgram& program, bool strict) {
  std::vector<Decoded> code;
  code.reserve(program.code.size());
  for (const vcode::Instruction& instruction : program.code) {
    code.push_back(decode_one(instruction, strict));
  }
  return code;
}

}  // namespace vinterp
