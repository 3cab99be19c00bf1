#include "vcode-smith/builder.hpp"

#include <algorithm>
#include <utility>

#include "vcode/link.hpp"

namespace smith {

using reference::Value;
using vcode::Constant;
using vcode::ConstantForm;
using vcode::Instruction;
using vcode::Op;
using vcode::Type;

Builder::Builder(const reference::Widths& widths, bool strict, std::int64_t max_elements,
                 std::vector<reference::Ints> input)
    : widths_(widths), strict_(strict), max_elements_(max_elements), input_(std::move(input)) {}

Mark Builder::mark() const {
  return {functions_.size(), outer_.size(), code_.size(), constants_.size(),
          names_.size(),     stack_,        random_,      next_input_};
}

void Builder::rewind(const Mark& mark) {
  if (outer_.size() > mark.outer) {
    code_ = std::move(outer_[mark.outer].code);
    outer_.resize(mark.outer);
  }
  functions_.resize(mark.functions);
  code_.resize(mark.code);
  constants_.resize(mark.constants);
  names_.resize(mark.names);
  go_back(mark);
}

Id Builder::place_on_top(Value value) {
  stack_.push_back({next_id_, std::move(value)});
  return next_id_++;
}

Id Builder::push(Constant constant) {
  Value value;
  if (constant.type == Type::Float) {
    reference::Floats floats = constant.floats();
    for (double& number : floats) number = widths_.round(number);
    value = std::move(floats);
  } else if (constant.type == Type::Bool) {
    value = constant.bools();
  } else if (constant.type == Type::Segdes) {
    value = reference::Segdes{constant.ints()};
  } else {
    value = constant.ints();
  }
  Instruction instruction;
  instruction.op = Op::Const;
  instruction.type = constant.type;
  instruction.a = static_cast<std::uint32_t>(constants_.size());
  constants_.push_back(std::move(constant));
  code_.push_back(instruction);
  return place_on_top(std::move(value));
}

Id Builder::push_int(std::int64_t number) {
  Constant constant{Type::Int, ConstantForm::Scalar, reference::Ints{number}, {}};
  return push(std::move(constant));
}

Id Builder::push_ints(reference::Ints numbers) {
  return push({Type::Int, ConstantForm::Vector, std::move(numbers), {}});
}

Id Builder::push_floats(reference::Floats numbers) {
  return push({Type::Float, ConstantForm::Vector, std::move(numbers), {}});
}

Id Builder::push_bools(reference::Bools flags) {
  return push({Type::Bool, ConstantForm::Vector, std::move(flags), {}});
}

Id Builder::push_segdes(std::vector<std::int64_t> lengths) {
  const auto form = lengths.size() == 1 ? ConstantForm::Scalar : ConstantForm::Vector;
  return push({Type::Segdes, form, std::move(lengths), {}});
}

std::optional<Id> Builder::read() {
  if (next_input_ == input_.size()) return std::nullopt;
  Instruction instruction;
  instruction.op = Op::Read;
  instruction.type = Type::Int;
  code_.push_back(instruction);
  const Id id = place_on_top(input_[next_input_++]);
  place_on_top(reference::Ints{});
  place_on_top(reference::Bools{1});
  block(Op::Pop, 2, 0);
  return id;
}

std::optional<reference::Failure> Builder::emit(Op op, Type type, bool keep) {
  const std::size_t count = vcode::info(op).operands.size();
  std::vector<Value> operands;
  for (std::size_t i = height() - count; i < height(); ++i) operands.push_back(stack_[i].value);
  Instruction instruction;
  instruction.op = op;
  instruction.type = type;
  try {
    std::vector<Value> results = reference::evaluate(op, type, widths_, random_, operands, strict_);
    code_.push_back(instruction);
    drop(count);
    for (Value& result : results) place_on_top(std::move(result));
    return std::nullopt;
  } catch (const reference::Failure& failure) {
    if (keep) code_.push_back(instruction);
    return failure;
  }
}

void Builder::block(Op op, std::size_t count, std::size_t start) {
  Instruction instruction;
  instruction.op = op;
  instruction.a = static_cast<std::uint32_t>(count);
  instruction.b = static_cast<std::uint32_t>(start);
  code_.push_back(instruction);
  const auto end = stack_.end() - static_cast<std::ptrdiff_t>(start);
  const auto begin = end - static_cast<std::ptrdiff_t>(count);
  std::vector<Entry> entries(begin, end);
  if (op != Op::Copy) stack_.erase(begin, end);
  if (op == Op::Pop) return;
  for (Entry& entry : entries) {
    if (op == Op::Copy) entry.id = next_id_++;
    stack_.push_back(std::move(entry));
  }
}

void Builder::pair() {
  Instruction instruction;
  instruction.op = Op::Pair;
  code_.push_back(instruction);
  Value second = std::move(stack_.back().value);
  Value first = std::move(stack_[height() - 2].value);
  drop(2);
  place_on_top(std::make_shared<const reference::PairNode>(
      reference::PairNode{std::move(first), std::move(second)}));
}

void Builder::unpair() {
  Instruction instruction;
  instruction.op = Op::Unpair;
  code_.push_back(instruction);
  const auto node = std::get<reference::Pair>(stack_.back().value);
  drop(1);
  place_on_top(node->first);
  place_on_top(node->second);
}

void Builder::fetch(Id id, bool move) {
  const std::size_t start = height() - 1 - place(id);
  block(move ? Op::CPop : Op::Copy, 1, start);
}

std::size_t Builder::place(Id id) const {
  const auto at = std::find_if(stack_.rbegin(), stack_.rend(),
                               [id](const Entry& entry) { return entry.id == id; });
  return static_cast<std::size_t>(stack_.rend() - at) - 1;
}

std::uint32_t Builder::name_index(const std::string& name) {
  const auto at = std::find(names_.begin(), names_.end(), name);
  const auto index = static_cast<std::uint32_t>(at - names_.begin());
  if (at == names_.end()) names_.push_back(name);
  return index;
}

std::string Builder::begin_function() {
  outer_.push_back({std::move(code_), "f_" + std::to_string(++begun_)});
  code_.clear();
  return outer_.back().name;
}

void Builder::end_function() {
  vcode::Function function;
  function.name = std::move(outer_.back().name);
  Instruction instruction;
  instruction.op = Op::Return;
  code_.push_back(instruction);
  function.code = std::move(code_);
  code_ = std::move(outer_.back().code);
  outer_.pop_back();
  functions_.push_back(std::move(function));
}

void Builder::raw_call(const std::string& name) {
  Instruction instruction;
  instruction.op = Op::Call;
  instruction.a = name_index(name);
  code_.push_back(instruction);
}

bool Builder::call(const std::string& name) {
  vcode::Diagnostics diagnostics;
  const auto linked = vcode::link(program_with({}), diagnostics);
  if (!linked) return false;
  reference::MachineOptions options;
  options.widths = widths_;
  options.strict = strict_;
  options.max_steps = 3000;
  options.max_elements = max_elements_;
  options.input = input_;
  reference::Activation activation;
  activation.random = random_;
  activation.next_input = next_input_;
  for (const Entry& entry : stack_) activation.stack.push_back(entry.value);
  for (std::size_t i = 0; i < linked->functions.size(); ++i) {
    if (linked->functions[i].name == name) activation.function = static_cast<std::uint32_t>(i);
  }
  const reference::Outcome outcome = reference::run(*linked, options, activation);
  if (!outcome.finished || outcome.failure || outcome.exited) return false;
  raw_call(name);
  random_ = activation.random;
  next_input_ = activation.next_input;
  // Entries that the function did not touch keep their ids.
  std::vector<Entry> after;
  for (std::size_t i = 0; i < activation.stack.size(); ++i) {
    const Id id = i < stack_.size() ? stack_[i].id : next_id_++;
    after.push_back({id, std::move(activation.stack[i])});
  }
  stack_ = std::move(after);
  return true;
}

vcode::Program Builder::program_with(std::vector<Instruction> main) const {
  vcode::Program program;
  program.source = std::make_shared<const vcode::Source>("generated", "");
  program.functions = functions_;
  program.constants = constants_;
  program.names = names_;
  vcode::Function entry;
  entry.name = "MAIN";
  entry.code = std::move(main);
  Instruction instruction;
  instruction.op = Op::Return;
  entry.code.push_back(instruction);
  program.functions.push_back(std::move(entry));
  return program;
}

TestProgram Builder::finish() const {
  return {program_with(code_), input_};
}

}  // namespace smith
