#include "fcode-opt/fusion/lifetimes.hpp"

#include <utility>

#include "ir/tools.hpp"

namespace fcode {
namespace {

void mark_reads(const Statement& statement, std::vector<bool>& read) {
  for (const ValueId operand : statement.operands) read[operand] = true;
  for (const Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
    if (arm) for_each_use(*arm, [&](ValueId value) { read[value] = true; });
  }
}

}  // namespace

Lifetimes::Lifetimes(const Function& function) {
  enter(function.body, std::vector<bool>(function.values.size()));
}

void Lifetimes::enter(const Block& block, std::vector<bool> behind) {
  behind_[&block] = behind;
  for (const ValueId result : block.results) behind[result] = true;
  for (std::size_t i = block.statements.size(); i-- > 0;) {
    const Statement& statement = block.statements[i];
    for (const Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
      if (arm) enter(*arm, behind);
    }
    mark_reads(statement, behind);
  }
}

std::vector<bool> Lifetimes::read_behind(const Block& block, std::size_t end) const {
  std::vector<bool> read = behind_.at(&block);
  for (const ValueId result : block.results) read[result] = true;
  for (std::size_t i = end; i < block.statements.size(); ++i) mark_reads(block.statements[i], read);
  return read;
}

}  // namespace fcode
