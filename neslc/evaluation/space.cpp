#include "neslc/evaluation/space.hpp"

#include <algorithm>

#include "neslc/flatten/compiler.hpp"
#include "vcode/stack_moves.hpp"

namespace neslc {

std::int64_t length_of(const cvl::Value& value) {
  if (value.is_vector()) return value.vector().length;
  return value.type() == vcode::Type::Segdes ? value.segdes().count : 0;
}

SpaceMeter::SpaceMeter(const vcode::LinkedProgram& program)
    : program_(program), instructions_(program.code.size()) {
  for (const vcode::LinkedFunction& function : program_.functions) {
    makes_pieces_.push_back(function.name.starts_with(kStreamFunction));
    makes_any_ = makes_any_ || makes_pieces_.back();
  }
}

void SpaceMeter::enter_function(std::uint32_t function, std::uint32_t) {
  if (makes_pieces_[function]) pieces_.push_back({++last_piece_, total_});
}

void SpaceMeter::leave_function(std::uint32_t function) {
  if (makes_pieces_[function]) pieces_.pop_back();
}

void SpaceMeter::after(const vinterp::Step& step, double) {
  using vcode::Op;
  switch (step.op->op) {
    case Op::Copy:
    case Op::Pop:
    case Op::CPop:
      vcode::move_entries(*step.code, held_);
      break;
    default: {
      held_.resize(held_.size() - static_cast<std::size_t>(step.operand_count));
      for (const cvl::Value& result :
           step.stack.last(static_cast<std::size_t>(step.result_count))) {
        const auto elements = static_cast<std::uint64_t>(length_of(result));
        held_.push_back(std::make_shared<const Held>(total_, elements));
      }
    }
  }
  note(step.instruction);
}

void SpaceMeter::note(std::uint32_t instruction) {
  space_.used = std::max(space_.used, total_);
  space_.parallel = std::max(space_.parallel, total_);
  if (pieces_.empty()) return;
  const Piece& piece = pieces_.back();
  OfInstruction& all = instructions_[instruction];
  const std::uint64_t now = total_ > piece.held_before ? total_ - piece.held_before : 0;
  if (all.piece != piece.number) {
    all.piece = piece.number;
    all.in_piece = 0;
  }
  if (now > all.in_piece) {
    all.in_all += now - all.in_piece;
    all.in_piece = now;
  }
  space_.parallel = std::max(space_.parallel, piece.held_before + all.in_all);
}

}  // namespace neslc
