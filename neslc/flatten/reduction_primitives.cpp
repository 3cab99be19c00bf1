// `reduce` and `scan` with any function. Where the function is an operation that the machine
// reduces by, they become that; else neighbours are combined, in a logarithmic number of rounds
// (library/definitions.nesl).
#include <algorithm>

#include "neslc/flatten/primitives.hpp"
#include "neslc/front/free_variables.hpp"

namespace neslc {
namespace {

using vcode::Op;
using VectorType = vcode::Type;
using CallSite = Flattener::CallSite;

/// A function of two scalars, and the functions of the library that reduce and scan by it.
struct Reduction {
  const char* function;
  const char* reduce;
  const char* scan;
};
constexpr Reduction kReductions[] = {
    {"+", "sum", "plus_scan"},      {"*", "product", "mult_scan"}, {"max", "max_val", "max_scan"},
    {"min", "min_val", "min_scan"}, {"or", "any", "or_scan"},      {"and", "all", "and_scan"},
    {"xor", "parity", "xor_scan"},
};

const Reduction* find_reduction(const Definition& definition) {
  if (!definition.library) return nullptr;
  const auto* const found =
      std::find_if(std::begin(kReductions), std::end(kReductions),
                   [&](const Reduction& known) { return definition.name == known.function; });
  return found == std::end(kReductions) ? nullptr : found;
}

/// That of (a, b) => a + b and the like. All of these functions commute.
const Reduction* reduction_of(const Pattern& parameter, const Expr& body) {
  const auto* call = std::get_if<Call>(&body.node);
  if (call == nullptr || parameter.kind != Pattern::Kind::Pair) return nullptr;
  const Pattern& a = *parameter.first;
  const Pattern& b = *parameter.second;
  const auto* callee = std::get_if<GlobalRef>(&call->callee->node);
  const auto* operands = std::get_if<Pair>(&call->argument->node);
  const bool applied =
      callee != nullptr && operands != nullptr && a.local != nullptr && b.local != nullptr &&
      ((is_local(*operands->first, a.local) && is_local(*operands->second, b.local)) ||
       (is_local(*operands->first, b.local) && is_local(*operands->second, a.local)));
  return applied ? find_reduction(*callee->definition) : nullptr;
}

/// Null: it has to be applied, or somebody watches it.
const Reduction* reduction_of(Flattener& f, TypePtr function, TypePtr element) {
  if (!belongs_to(element, TypeClass::Ordinal) && !belongs_to(element, TypeClass::Logical)) {
    return nullptr;
  }
  const TypePtr identity = function->identity();
  if (identity->kind == TypeKind::LambdaIdentity) {
    return reduction_of(*identity->lambda->parameter, *identity->lambda->body);
  }
  if (identity->kind != TypeKind::FunctionIdentity) return nullptr;
  const Definition& definition = *identity->function;
  if (f.compiler().observed(&definition) != nullptr) return nullptr;
  if (const Reduction* known = find_reduction(definition)) return known;
  return definition.body && definition.kind == DefinitionKind::Function
             ? reduction_of(*definition.body->parameter, *definition.body->expression)
             : nullptr;
}

/// (function, identity, sequence)
struct Arguments {
  Arguments(const CallSite& site, const Value& argument)
      : function_type(site.argument_type->first()),
        element(site.argument_type->second()->first()),
        parts(components(argument, 3)) {}
  const Value& function() const { return parts[0]; }
  const Value& identity() const { return parts[1]; }
  const Value& sequence() const { return parts[2]; }

  TypePtr function_type;
  TypePtr element;
  std::vector<Value> parts;
};

Value reduce(Flattener& f, const CallSite& site, const Value& argument) {
  const Arguments given(site, argument);
  const Reduction* known = reduction_of(f, given.function_type, given.element);
  if (known == nullptr) {
    return f.call_library("reduce.any", *site.types, argument, site.context);
  }
  const Value& sequence = given.sequence();
  const Value total = f.call_library(known->reduce, {given.element}, sequence, site.context);
  const Value zero = Value::scalar(f.builder().int_constant(0), f.serial());
  const ir::ValueId empty =
      f.builder().op(Op::Equal, VectorType::Int,
                     {f.vectors().lengths(sequence.var), f.bring_scalar(zero, sequence.context)});
  return f.select(Value::scalar(empty, sequence.context), site.context, given.identity(), total);
}

Value scan(Flattener& f, const CallSite& site, const Value& argument) {
  const Arguments given(site, argument);
  const Reduction* known = reduction_of(f, given.function_type, given.element);
  if (known == nullptr) return f.call_library("scan.any", *site.types, argument, site.context);
  const auto of_sequence = [&](const char* name) {
    return f.call_library(name, {given.element}, given.sequence(), site.context);
  };
  const Value parts = Value::tuple({of_sequence(known->scan), of_sequence(known->reduce)});
  return f.call_library("scan.from", *site.types,
                        Value::tuple({given.function(), Value::tuple({given.identity(), parts})}),
                        site.context);
}

}  // namespace

std::vector<PrimitiveEntry> reduction_primitives() {
  return {
      {"reduce", reduce},
      {"scan", scan},
  };
}

}  // namespace neslc
