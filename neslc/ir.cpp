#include "neslc/ir.hpp"

#include <algorithm>

namespace neslc::ir {
namespace {

bool is_pure(const Block& block) {
  return std::all_of(block.code.begin(), block.code.end(),
                     [](const auto& instr) { return is_pure(*instr); });
}

/// Walks backward through the blocks with the set of variables that are needed.
class DeadCode {
 public:
  explicit DeadCode(std::size_t variables) : needed_(variables, false) {}

  void sweep(Block& block) {
    for (const Var result : block.results) needed_[result] = true;
    auto& code = block.code;
    for (std::size_t i = code.size(); i-- > 0;) {
      if (!keep(*code[i])) code[i].reset();
    }
    std::erase(code, nullptr);
  }

 private:
  bool keep(Instr& instr) {
    const bool used =
        std::any_of(instr.out.begin(), instr.out.end(), [&](Var out) { return needed_[out]; });
    if (!used && is_pure(instr)) return false;
    if (instr.kind == Instr::Kind::If) {
      drop_unused_results(instr);
      sweep(instr.then_block);
      sweep(instr.else_block);
    }
    for (const Var in : instr.in) needed_[in] = true;
    return true;
  }

  void drop_unused_results(Instr& instr) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < instr.out.size(); ++i) {
      if (!needed_[instr.out[i]]) continue;
      instr.out[kept] = instr.out[i];
      instr.then_block.results[kept] = instr.then_block.results[i];
      instr.else_block.results[kept] = instr.else_block.results[i];
      ++kept;
    }
    instr.out.resize(kept);
    instr.then_block.results.resize(kept);
    instr.else_block.results.resize(kept);
  }

  std::vector<bool> needed_;
};

}  // namespace

bool is_pure(const Instr& instr) {
  switch (instr.kind) {
    case Instr::Kind::Op:
      return vcode::info(instr.op).is_vector_op() && instr.op != vcode::Op::Rand;
    case Instr::Kind::Constant:
      return true;
    case Instr::Kind::If:
      return is_pure(instr.then_block) && is_pure(instr.else_block);
    case Instr::Kind::Call:
    case Instr::Kind::Fail:
      return false;
  }
  return false;
}

void remove_dead_code(Function& function) {
  DeadCode(function.variables.size()).sweep(function.body);
}

}  // namespace neslc::ir
