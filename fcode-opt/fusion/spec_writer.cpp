#include "fcode-opt/fusion/spec_writer.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "fcode-opt/checks.hpp"
#include "ir/lower.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

class SpecWriter {
 public:
  SpecWriter(const RegionGraph& graph, const std::vector<NodeIndex>& members,
             const Assumptions& assumptions, const Function& function, Module& module,
             Shapes& shapes, WrittenKernel& written)
      : graph_(graph),
        assumptions_(assumptions),
        function_(function),
        module_(module),
        shapes_(shapes),
        written_(written),
        used_(with_generators(graph, members)),
        names_(function.values.size(), kNoValue) {}

  void run() {
    for (ValueId operand : written_.operands) add_parameter(operand);
    leave_out_unwanted();
    for (NodeIndex i : used_) copy(*graph_.nodes[i].statement);
    for (ValueId result : written_.results) {
      spec_.body.results.push_back(names_[result]);
      spec_.result_types.push_back(function_.values[result].type);
    }
    set_spec(std::move(spec_), module_, written_.kernel);
  }

 private:
  void add_parameter(ValueId value) {
    names_[value] = new_value(spec_, function_.values[value].type, function_.values[value].origin);
    spec_.parameters.push_back(names_[value]);
  }

  // What only its length is asked for of need not be made, nor live on, where an operand tells it.
  void leave_out_unwanted() {
    values_.insert(written_.results.begin(), written_.results.end());
    for (auto i = used_.end(); i != used_.begin();) {
      --i;
      const Node& node = graph_.nodes[*i];
      const ValueList& results = node.statement->results;
      const bool wanted = node.role == Role::Random || results.empty() ||
                          std::any_of(results.begin(), results.end(),
                                      [&](ValueId value) { return values_.contains(value); });
      if (!wanted) {
        i = used_.erase(i);
      } else if (!is_told_length(*node.statement)) {
        const ValueList& operands = node.statement->operands;
        values_.insert(operands.begin(), operands.end());
      }
    }
  }

  void copy(const Statement& statement) {
    if (std::all_of(statement.results.begin(), statement.results.end(),
                    [&](ValueId value) { return names_[value] != kNoValue; }) &&
        !statement.results.empty()) {
      return;  // a generator that is an operand as well
    }
    if (is_told_length(statement)) {
      const Linear& length = assumptions_.proved(statement.operands[0]).length;
      names_[statement.results[0]] = length_value(length, statement.origin);
      return;
    }
    for (ValueId operand : statement.operands) {
      if (names_[operand] == kNoValue) provide(operand);
    }
    if (is_assertion(module_, statement)) {
      expand_assertion(statement);
      return;
    }
    spec_.body.statements.push_back(clone_statement(statement, function_, spec_, names_));
  }

  // Does it ask for a length which is known without the vector, that nothing else is asked of?
  bool is_told_length(const Statement& statement) const {
    if (statement.kind != Statement::Kind::Op || statement.op != Op::Length) return false;
    const ValueId vector = statement.operands[0];
    const auto is_vector = [&](ValueId operand) { return operand == vector; };
    const Linear& length = assumptions_.proved(vector).length;
    return !values_.contains(vector) &&
           std::none_of(written_.operands.begin(), written_.operands.end(), is_vector) &&
           (length.is_number() || teller(length));
  }

  ValueId emit(Op op, Type written, ValueList operands, const Origin& origin) {
    spec_.body.statements.push_back(make_op(spec_, op, written, std::move(operands), origin));
    return spec_.body.statements.back().results[0];
  }

  // IF some of ok is F: message, EXIT.
  void expand_assertion(const Statement& statement) {
    const Origin& origin = statement.origin;
    const ValueId ok = names_[statement.operands[0]];
    const ValueId lengths = emit(Op::Length, Type::Bool, {ok}, origin);
    const ValueId segdes = emit(Op::MakeSegdes, Type::Int, {lengths}, origin);
    const ValueId all = emit(Op::AndReduce, Type::Bool, {ok, segdes}, origin);
    spec_.body.statements.push_back(check_statement(
        module_, spec_, all, module_.kernels[statement.index].bindings[0].message, origin));
  }

  // A value that the kernel does without.
  void provide(ValueId value) {
    const Origin& origin = function_.values[value].origin;
    if (function_.values[value].type == Type::Segdes && is_one_segment(value)) {
      const ValueId length = length_value(assumptions_.proved(value).sum, origin);
      if (length != kNoValue) {
        names_[value] = emit(Op::MakeSegdes, Type::Int, {length}, origin);
        return;
      }
    }
    vcode::Kernel& kernel = written_.kernel;
    const Shape shape = shapes_.of(value);
    const bool segdes = function_.values[value].type == Type::Segdes;
    const auto number = kernel.inputs.size();
    if (segdes) {
      kernel.segdes.push_back({"u" + std::to_string(number), unread_size(shape.length, 'c'),
                               unread_size(shape.sum, 't')});
      kernel.inputs.push_back({true, static_cast<std::uint32_t>(kernel.segdes.size() - 1)});
    } else {
      kernel.arrays.push_back({"u" + std::to_string(number), *function_.values[value].type,
                               unread_size(shape.length, 'c')});
      kernel.inputs.push_back({false, static_cast<std::uint32_t>(kernel.arrays.size() - 1)});
    }
    written_.operands.push_back(value);
    add_parameter(value);
  }

  vcode::SizeId unread_size(const Linear& length, char letter) {
    vcode::KernelSize size;
    size.literal = shapes_.equations.number(length);
    if (size.literal && *size.literal < 0) size.literal.reset();
    if (!size.literal) {
      size.name = std::string("u") + letter + std::to_string(written_.kernel.inputs.size());
    }
    written_.kernel.sizes.push_back(size);
    return static_cast<vcode::SizeId>(written_.kernel.sizes.size() - 1);
  }

  // A scalar that holds a length which some operand has.
  ValueId length_value(const Linear& length, const Origin& origin) {
    if (length.is_number()) {
      const std::uint32_t constant = add_constant(module_, int_constant(length.constant));
      spec_.body.statements.push_back(make_const(module_, spec_, constant, origin));
      return spec_.body.statements.back().results[0];
    }
    const std::optional<ValueId> teller = this->teller(length);
    if (!teller) return kNoValue;
    const ValueId name = names_[*teller];
    const Type type = *function_.values[*teller].type;
    if (type != Type::Segdes) return emit(Op::Length, type, {name}, origin);
    const ValueId lengths = emit(Op::Lengths, Type::Int, {name}, origin);
    if (is_one_segment(*teller)) return lengths;
    const ValueId count = emit(Op::Length, Type::Int, {lengths}, origin);
    const ValueId all = emit(Op::MakeSegdes, Type::Int, {count}, origin);
    return emit(Op::AddReduce, Type::Int, {lengths, all}, origin);
  }

  // An operand that is so long, or whose segments are so long together.
  std::optional<ValueId> teller(const Linear& length) const {
    std::optional<ValueId> found;
    for (const ValueId operand : written_.operands) {
      const Assumptions::Proved& proved = assumptions_.proved(operand);
      if (function_.values[operand].type != Type::Segdes) {
        if (proved.length == length) return operand;
      } else if (proved.sum == length) {
        if (is_one_segment(operand)) return operand;
        found = operand;
      }
    }
    return found;
  }

  bool is_one_segment(ValueId segdes) const {
    return assumptions_.proved(segdes).length == Linear::number(1);
  }

  const RegionGraph& graph_;
  const Assumptions& assumptions_;
  const Function& function_;
  Module& module_;
  Shapes& shapes_;
  WrittenKernel& written_;
  std::set<NodeIndex> used_;
  std::set<ValueId> values_;  // what those take and give
  std::vector<ValueId> names_;
  Function spec_;
};

}  // namespace

void set_spec(Function spec, Module& module, vcode::Kernel& kernel) {
  Module alone;
  alone.source = module.source;
  alone.constants.swap(module.constants);  // lent, not copied
  alone.functions.push_back(std::move(spec));
  Lowered lowered = lower(alone);
  module.constants.swap(alone.constants);
  std::vector<vcode::Instruction>& code = lowered.program.functions[0].code;
  code.pop_back();  // RET
  for (vcode::Instruction& instruction : code) {
    if (instruction.op == Op::Const) instruction.a = lowered.constants[instruction.a];
  }
  kernel.spec = std::move(code);
  kernel.has_spec = true;
}

void write_spec(const RegionGraph& graph, const std::vector<NodeIndex>& members,
                const Assumptions& assumptions, const Function& function, Module& module,
                Shapes& shapes, WrittenKernel& written) {
  SpecWriter(graph, members, assumptions, function, module, shapes, written).run();
}

}  // namespace fcode
