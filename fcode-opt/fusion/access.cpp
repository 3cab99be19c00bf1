#include "fcode-opt/fusion/access.hpp"

#include <algorithm>
#include <cmath>

#include "fcode-opt/checks.hpp"
#include "vcode/numbers.hpp"

namespace fcode {

using vcode::Family;

namespace {

// REPLACE, RANK_* and the flagged fetch have no form, or none that is better, in a kernel.
Role permute_role(Op op) {
  switch (op) {
    case Op::BPermute:
      return Role::Map;
    case Op::BFPermute:
      return Role::Opaque;
    default:
      return Role::Scatter;
  }
}

// The operand numbers of the descriptors of a permutation: of the source and of the target.
struct Descriptors {
  int source, target;
};

Descriptors descriptors_of(Op op) {
  switch (op) {
    case Op::Permute:
      return {2, 2};
    case Op::DPermute:
    case Op::FPermute:
      return {3, 4};
    case Op::BPermute:
      return {2, 3};
    default:  // DFPERMUTE
      return {4, 5};
  }
}

// One number that can be written in a kernel for all widths.
bool is_literal(const vcode::Constant& constant) {
  if (!vcode::is_data(constant.type) || constant.size() != 1) return false;
  if (constant.type == Type::Float) return std::isfinite(constant.floats()[0]);
  if (constant.type == Type::Bool) return true;
  return vcode::fits_32_bits(constant.ints()[0]);
}

// MAKE_SEGDES runs over its operand, which is no scalar here unless it makes one segment.
bool is_scalar_space(const Statement& statement, Shapes& shapes) {
  return !pushes_constant(statement) && shapes.is_number(domain_of(statement, shapes), 1);
}

}  // namespace

bool is_positive(ValueId value, const Module& module, Shapes& shapes) {
  const auto known = shapes.known_element(value);
  if (known) return *known >= 1;
  const Definition* made = shapes.definition(value);
  if (made == nullptr || !made->is_const()) return false;
  const vcode::Constant& constant = module.constants[made->index];
  return constant.type == Type::Int &&
         std::all_of(constant.ints().begin(), constant.ints().end(), [](std::int64_t number) {
           return number >= 1 && vcode::fits_32_bits(number);
         });
}

bool is_generator(const Statement& statement) {
  if (statement.kind != Statement::Kind::Op) return false;
  const Family family = vcode::info(statement.op).family;
  return family == Family::Distribute || family == Family::Index || family == Family::Lengths;
}

bool reads_elements(const Statement& reader, std::size_t operand) {
  if (reader.kind != Statement::Kind::Op) return false;
  switch (vcode::info(reader.op).family) {
    case Family::Elementwise:
    case Family::Reduce:
    case Family::Scan:
    case Family::Pack:
    case Family::MakeSegdes:
    case Family::Random:
      return true;
    case Family::Permute:
      return reader.op != Op::BFPermute && (reader.op != Op::BPermute || operand != 0);
    case Family::Extract:
      return operand != 0;
    default:
      return is_generator(reader);
  }
}

namespace {

// Of a fetch: what makes its positions, if they are those of an INDEX.
const Definition* index_of(const Statement& statement, const Shapes& shapes) {
  if (statement.kind != Statement::Kind::Op || statement.op != Op::BPermute) return nullptr;
  const Definition* index = shapes.definition(statement.operands[1]);
  return index != nullptr && index->is(Op::Index) ? index : nullptr;
}

}  // namespace

bool is_copy_of_runs(const Statement& statement, const Shapes& shapes) {
  return index_of(statement, shapes) != nullptr;
}

bool is_copy_of_one_run(const Statement& statement, Shapes& shapes) {
  const Definition* index = index_of(statement, shapes);
  const auto source = static_cast<std::size_t>(descriptors_of(Op::BPermute).source);
  if (index == nullptr || !shapes.one_segment(statement.operands[source])) return false;
  const Definition* start = shapes.definition(index->operands[0]);
  return start != nullptr && start->is(Op::Distribute);
}

Role role_of(const Statement& statement, const Module& module, Shapes& shapes) {
  if (statement.kind == Statement::Kind::Const) {
    return is_literal(module.constants[statement.index]) ? Role::Literal : Role::Opaque;
  }
  if (is_assertion(module, statement)) return Role::Assert;
  if (statement.kind != Statement::Kind::Op) return Role::Opaque;
  switch (vcode::info(statement.op).family) {
    case Family::Elementwise:
    case Family::Extract:
      return Role::Map;
    case Family::Random:  // of one number is an instruction
      return is_scalar_space(statement, shapes) ? Role::Opaque : Role::Random;
    case Family::Distribute:
    case Family::Index:
    case Family::Lengths:
    case Family::Length:
      return Role::Generator;
    case Family::Reduce:
      return Role::Reduce;
    case Family::Scan:
      return Role::Scan;
    case Family::Pack:
      return Role::Filter;
    case Family::Permute:
      return permute_role(statement.op);
    case Family::MakeSegdes:
      return shapes.is_scalar(statement.operands[0]) ? Role::Generator : Role::Segments;
    default:
      return Role::Opaque;
  }
}

std::vector<Access> accesses(const Statement& statement, Shapes& shapes) {
  const ValueList& operands = statement.operands;
  const Access own = is_scalar_space(statement, shapes) ? Access::Zero : Access::Own;
  auto descriptor = [&](ValueId segdes) {
    return shapes.one_segment(segdes) ? Access::Length : Access::Descriptor;
  };
  auto per_segment = [&](ValueId segdes) {
    return shapes.one_segment(segdes) ? Access::Zero : Access::Segment;
  };
  if (statement.kind == Statement::Kind::Run) return {own};
  if (pushes_constant(statement)) return {};
  std::vector<Access> result;
  switch (vcode::info(statement.op).family) {
    case Family::Distribute:
      return {per_segment(operands[1]), descriptor(operands[1])};
    case Family::Index:
      return {per_segment(operands[2]), per_segment(operands[2]), descriptor(operands[2])};
    case Family::Lengths:
      return {descriptor(operands[0])};
    case Family::Length:
      return {Access::Length};
    case Family::Extract:
      return {Access::Foreign, own, descriptor(operands[2])};
    case Family::Reduce:
    case Family::Scan:
      return {own, descriptor(operands[1])};
    case Family::Pack:
      return {own, own, descriptor(operands[2])};
    case Family::Permute: {
      const Descriptors segments = descriptors_of(statement.op);
      for (int i = 0; i < static_cast<int>(operands.size()); ++i) {
        const auto operand = static_cast<std::size_t>(i);
        if (i >= segments.source) {
          result.push_back(descriptor(operands[operand]));
        } else if (i == default_operand(statement.op)) {
          result.push_back(shapes.is_scalar(operands[operand]) ? Access::Zero : Access::Target);
        } else {
          result.push_back(own);
        }
      }
      if (statement.op == Op::BPermute) result[0] = Access::Foreign;
      return result;
    }
    default:
      return std::vector<Access>(operands.size(), own);
  }
}

int default_operand(Op op) {
  switch (op) {
    case Op::DPermute:
      return 2;
    case Op::DFPermute:
      return 3;
    default:
      return -1;
  }
}

Linear domain_of(const Statement& statement, Shapes& shapes) {
  const ValueList& operands = statement.operands;
  if (pushes_constant(statement)) return Linear::number(1);
  if (statement.kind == Statement::Kind::Run) return shapes.of(operands[0]).length;
  switch (vcode::info(statement.op).family) {
    case Family::Reduce:
    case Family::Scan:
    case Family::Pack:
    case Family::MakeSegdes:
      return shapes.of(operands[0]).length;
    case Family::Permute:
      return shapes.of(operands[statement.op == Op::BPermute ? 1 : 0]).length;
    default:
      return shapes.of(statement.results[0]).length;
  }
}

int segments_operand(const Statement& statement, Shapes& shapes) {
  if (statement.kind != Statement::Kind::Op) return -1;
  int operand = -1;
  switch (vcode::info(statement.op).family) {
    case Family::Reduce:
    case Family::Scan:
    case Family::Distribute:
      operand = 1;
      break;
    case Family::Pack:
    case Family::Index:
    case Family::Extract:
      operand = 2;
      break;
    case Family::Permute:
      operand = statement.op == Op::BPermute ? descriptors_of(statement.op).target
                                             : descriptors_of(statement.op).source;
      break;
    default:
      return -1;
  }
  return shapes.one_segment(statement.operands[static_cast<std::size_t>(operand)]) ? -1 : operand;
}

}  // namespace fcode
