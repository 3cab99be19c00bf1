#include "neslc/flatten/value.hpp"

#include "neslc/front/session.hpp"

namespace neslc {
namespace {

/// The types of the data of a function value of this identity.
std::vector<TypePtr> captured_types(TypeTable& types, TypePtr identity) {
  std::vector<TypePtr> result;
  if (identity->kind == TypeKind::LambdaIdentity) {
    for (const Local* local : identity->lambda->captures) {
      result.push_back(types.substitute(local->type, identity->arguments));
    }
  } else if (identity->kind == TypeKind::PartialIdentity) {
    result = identity->arguments;
  }
  return result;
}

}  // namespace

bool append_parameters(TypeTable& types, TypePtr type,
                       const std::function<ir::SerialFunction::Parameter::Kind()>& kind_of_leaf,
                       std::vector<ir::SerialFunction::Parameter>& result) {
  if (type->kind == TypeKind::Pair) {
    return append_parameters(types, type->first(), kind_of_leaf, result) &&
           append_parameters(types, type->second(), kind_of_leaf, result);
  }
  ir::SerialFunction::Parameter parameter{kind_of_leaf(), {}};
  result.push_back(parameter);
  if (type->kind != TypeKind::Sequence) return is_scalar_type(type);
  if (!is_scalar_type(type->element())) return false;
  parameter.descriptor = static_cast<std::uint32_t>(result.size() - 1);
  std::vector<vcode::Type> elements;
  append_types(types, type->element(), elements);
  result.insert(result.end(), elements.size(), parameter);
  return true;
}

std::vector<TypePtr> part_types(TypeTable& types, TypePtr type) {
  if (type->kind == TypeKind::Function) return captured_types(types, type->identity());
  return {type->first(), type->second()};
}

Context* fetch_between(const Context* outer, Context* inner) {
  if (outer->serial()) return nullptr;
  while (inner != outer && inner->kind != Context::Kind::Fetch) inner = inner->parent;
  return inner == outer ? nullptr : inner;
}

bool multiplies(const Context* outer, Context* inner) {
  if (fetch_between(outer, inner) != nullptr) return false;
  for (const Context* step = inner; step != outer; step = step->parent) {
    if (step->kind != Context::Kind::Branch) return true;
  }
  return false;
}

vcode::Type vector_type(TypePtr atom) {
  switch (atom->kind) {
    case TypeKind::Float:
      return vcode::Type::Float;
    case TypeKind::Bool:
      return vcode::Type::Bool;
    default:
      return vcode::Type::Int;
  }
}

void append_types(TypeTable& types, TypePtr type, std::vector<vcode::Type>& result) {
  switch (type->kind) {
    case TypeKind::Sequence:
    case TypeKind::Stream:
      result.push_back(vcode::Type::Segdes);
      append_types(types, type->element(), result);
      return;
    case TypeKind::Record:
      append_types(types, types.fields_of(type), result);
      return;
    case TypeKind::Pair:
    case TypeKind::Function:
      for (const TypePtr part : part_types(types, type)) append_types(types, part, result);
      return;
    default:
      result.push_back(vector_type(type));
  }
}

Value make_value(TypeTable& types, TypePtr type, const ir::ValueList& vars, std::size_t& next,
                 Context* context) {
  switch (type->kind) {
    case TypeKind::Sequence:
    case TypeKind::Stream: {
      const ir::ValueId descriptor = vars[next++];
      return Value::sequence(descriptor, make_value(types, type->element(), vars, next, context),
                             context);
    }
    case TypeKind::Record:
      return make_value(types, types.fields_of(type), vars, next, context);
    case TypeKind::Pair:
    case TypeKind::Function: {
      std::vector<Value> parts;
      for (const TypePtr part : part_types(types, type)) {
        parts.push_back(make_value(types, part, vars, next, context));
      }
      return Value::tuple(std::move(parts));
    }
    default:
      return Value::scalar(vars[next++], context);
  }
}

void append_vars(const Value& value, ir::ValueList& vars) {
  if (!value.is_tuple()) vars.push_back(value.var);
  for (const Value& part : value.parts) append_vars(part, vars);
}

ir::ValueList vars_of(const Value& value) {
  ir::ValueList vars;
  append_vars(value, vars);
  return vars;
}

Value with_vars(const Value& form, const ir::ValueList& vars, std::size_t& next, Context* context) {
  Value result;
  result.kind = form.kind;
  if (!form.is_tuple()) {
    result.var = vars[next++];
    result.context = context;
  }
  for (const Value& part : form.parts) {
    result.parts.push_back(with_vars(part, vars, next, context));
  }
  return result;
}

Value with_vars(const Value& form, const ir::ValueList& vars, Context* context) {
  std::size_t next = 0;
  return with_vars(form, vars, next, context);
}

bool has_scalars_only(const Value& value) {
  return for_scalars(value, [](const Value&) { return true; }) && !vars_of(value).empty();
}

Value in_context(Value value, Context* context) {
  value.context = context;
  for (Value& part : value.parts) part = in_context(std::move(part), context);
  return value;
}

}  // namespace neslc
