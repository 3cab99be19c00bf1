#include "cuda/ptx/operation_table.hpp"

#include "cuda/ptx/fault.hpp"

namespace ptx_machine {

OperationTable::OperationTable() {
  add_integer_operations(*this);
  add_bit_operations(*this);
  add_float_operations(*this);
  add_conversions(*this);
  add_memory_operations(*this);
  add_control_operations(*this);
  add_warp_operations(*this);
}

const OperationTable& OperationTable::instance() {
  static const OperationTable table;
  return table;
}

const Operation* OperationTable::find(const std::string& name) const {
  const auto found = operations_.find(name);
  return found == operations_.end() ? nullptr : &found->second;
}

void OperationTable::add(const std::string& name, Instruction::Run run) {
  insert(name, {run, nullptr});
}

void OperationTable::add_together(const std::string& name, Instruction::Run wait,
                                  Instruction::RunTogether run) {
  insert(name, {wait, run});
}

void OperationTable::insert(const std::string& name, Operation operation) {
  if (!operations_.emplace(name, operation).second) {
    throw Fault("two operations of the machine have the name " + name);
  }
}

}  // namespace ptx_machine
