// Functions that are defined by the type of their argument (reference, 6.12 and 6.13).
#include <algorithm>

#include "neslc/flatten/literals.hpp"
#include "neslc/flatten/primitives.hpp"

namespace neslc {
namespace {

using ir::ValueId;
using ir::ValueList;
using vcode::Op;
using VectorType = vcode::Type;
using CallSite = Flattener::CallSite;

Value scalar_op(Flattener& f, Op op, VectorType type, const Value& a, const Value& b) {
  Context* const context = Flattener::deeper(a.context, b.context);
  return Value::scalar(
      f.builder().op(op, type, {f.bring_scalar(a, context), f.bring_scalar(b, context)}), context);
}

Value int_value(Flattener& f, std::int64_t value) {
  return Value::scalar(f.builder().int_constant(value), f.serial());
}

// ---- Equality

Value equal(Flattener& f, TypePtr type, const Value& a, const Value& b, Context* context) {
  switch (type->kind) {
    case TypeKind::Record:
      return equal(f, f.types().fields_of(type), a, b, context);
    case TypeKind::Pair:
      return scalar_op(f, Op::And, VectorType::Bool,
                       equal(f, type->first(), a.parts[0], b.parts[0], context),
                       equal(f, type->second(), a.parts[1], b.parts[1], context));
    case TypeKind::Sequence:
    case TypeKind::Stream:
      return f.call_library("eql.sequences", {type->element()}, Value::tuple({a, b}), context);
    case TypeKind::Function:
      return Value::scalar(f.builder().bool_constant(true), f.serial());
    case TypeKind::Bool: {
      const Value differs = scalar_op(f, Op::Xor, VectorType::Bool, a, b);
      return Value::scalar(f.builder().op(Op::Not, VectorType::Bool, {differs.var}),
                           differs.context);
    }
    default:
      return scalar_op(f, Op::Equal, vector_type(type), a, b);
  }
}

Value eql(Flattener& f, const CallSite& site, const Value& argument) {
  return equal(f, (*site.types)[0], argument.parts[0], argument.parts[1], site.context);
}

// ---- Hashing

/// A number of any size; equal values have equal ones.
Value digest(Flattener& f, TypePtr type, const Value& value, Context* context) {
  switch (type->kind) {
    case TypeKind::Record:
      return digest(f, f.types().fields_of(type), value, context);
    case TypeKind::Pair: {
      const Value first = digest(f, type->first(), value.parts[0], context);
      const Value second = digest(f, type->second(), value.parts[1], context);
      return f.call_library("hash.pair", {}, Value::tuple({first, second}), context);
    }
    case TypeKind::Sequence:
    case TypeKind::Stream: {
      const Value parts = f.map(value, context, [&](const Value& element, Context* each) {
        return digest(f, type->element(), element, each);
      });
      return f.call_library("hash.sequence", {}, parts, context);
    }
    case TypeKind::Function:
      return int_value(f, 0);
    case TypeKind::Bool:
      return f.call_library("btoi", {}, value, context);
    case TypeKind::Float:
      return f.call_library("hash.float", {}, value, context);
    default:
      return value;
  }
}

Value hash_digest(Flattener& f, const CallSite& site, const Value& argument) {
  return digest(f, (*site.types)[0], argument, site.context);
}

// ---- Select, identity

Value select(Flattener& f, const CallSite& site, const Value& argument) {
  const std::vector<Value> parts = components(argument, 3);
  return f.select(parts[0], site.context, parts[1], parts[2]);
}

}  // namespace

Value identity_of(Flattener& f, TypePtr type) {
  ir::Builder& b = f.builder();
  switch (type->kind) {
    case TypeKind::Record:
      return identity_of(f, f.types().fields_of(type));
    case TypeKind::Pair:
    case TypeKind::Function: {
      std::vector<Value> parts;
      for (const TypePtr part : part_types(f.types(), type)) parts.push_back(identity_of(f, part));
      return Value::tuple(std::move(parts));
    }
    case TypeKind::Sequence:
    case TypeKind::Stream:
      return empty_sequence(b, f.types(), type, f.serial());
    case TypeKind::Float:
      return Value::scalar(b.float_constant(0), f.serial());
    case TypeKind::Bool:
      return Value::scalar(b.bool_constant(false), f.serial());
    case TypeKind::Char:
      return int_value(f, ' ');
    default:
      return int_value(f, 0);
  }
}

namespace {

Value identity(Flattener& f, const CallSite& site, const Value& argument) {
  // A function value has no identity but itself.
  return site.result_type->kind == TypeKind::Function ? argument : identity_of(f, site.result_type);
}

/// The identity of the element type.
Value null_element(Flattener& f, const CallSite& site, const Value&) {
  return identity_of(f, site.result_type);
}

/// The empty sequence of what a function gives.
Value no_elements(Flattener& f, const CallSite& site, const Value&) {
  return empty_sequence(f.builder(), f.types(), site.result_type, f.serial());
}

// ---- Values as text

class Printer {
 public:
  Printer(Flattener& f, Context* context) : f_(f), context_(context) {}

  Value text(TypePtr type, const Value& value) {
    switch (type->kind) {
      case TypeKind::Record: {
        const TypePtr fields = f_.types().fields_of(type);
        return text(fields, value);
      }
      case TypeKind::Pair: {
        std::vector<Value> parts{f_.string_constant("("), text(type->first(), value.parts[0])};
        const Value* rest = &value.parts[1];
        TypePtr second = type->second();
        for (; second->kind == TypeKind::Pair; second = second->second()) {
          parts.push_back(f_.string_constant(", "));
          parts.push_back(text(second->first(), rest->parts[0]));
          rest = &rest->parts[1];
        }
        parts.push_back(f_.string_constant(", "));
        parts.push_back(text(second, *rest));
        parts.push_back(f_.string_constant(")"));
        return appended(f_, parts, context_);
      }
      case TypeKind::Sequence:
      case TypeKind::Stream: {
        const Value parts = f_.map(value, context_, [&](const Value& element, Context* each) {
          return Printer(f_, each).text(type->element(), element);
        });
        return f_.call_library("string.list", {}, parts, context_);
      }
      case TypeKind::Function:
        return f_.string_constant("function");
      case TypeKind::Bool:
        return f_.call_library("string.bool", {}, value, context_);
      case TypeKind::Float:
        return f_.call_library("string.float", {}, value, context_);
      case TypeKind::Char:
        return f_.call_library("string.char", {}, value, context_);
      default:
        return f_.call_library("string.int", {}, value, context_);
    }
  }

 private:
  Flattener& f_;
  Context* context_;
};

Value string(Flattener& f, const CallSite& site, const Value& argument) {
  return Printer(f, site.context).text((*site.types)[0], argument);
}

// ---- Errors

std::string literal_text(Flattener& f, const Value& string) {
  std::string text;
  for (const std::int64_t code : f.builder().known(string.elements().var)->ints()) {
    text += static_cast<char>(code);
  }
  return text;
}

/// (condition, message, labels, values): `RUNTIME ERROR` where the condition holds. Labels are
/// separated by commas.
Value runtime_check(Flattener& f, const CallSite& site, const Value& argument) {
  const std::vector<Value> parts = components(argument, 4);
  const std::string labels = literal_text(f, parts[2]);
  const auto count = static_cast<std::size_t>(std::count(labels.begin(), labels.end(), ',')) + 1;
  Flattener::Details details;
  std::size_t begin = 0;
  for (const Value& value : components(parts[3], count)) {
    const std::size_t end = std::min(labels.find(',', begin), labels.size());
    details.push_back({labels.substr(begin, end - begin), value});
    begin = end + 1;
  }
  f.check(parts[0], site.context, literal_text(f, parts[1]), details);
  return Value::scalar(f.builder().bool_constant(true), f.serial());
}

Value error(Flattener& f, const CallSite& site, const Value& argument) {
  ir::Builder& b = f.builder();
  Vectors& v = f.vectors();
  Context* const context = site.context;
  const auto fail = [&] {
    // The text of the first instance.
    Value text = argument;
    if (!argument.context->serial()) {
      text = v.gather(f.bring(argument, context), context->count, b.int_constant(0));
    }
    b.fail({{"\nERROR: ", text.elements().var, VectorType::Char}, {"\n"}});
    return ValueList();
  };
  if (context->serial()) {
    fail();
  } else {
    const ValueId some =
        b.op(Op::Greater, VectorType::Int, {v.lengths(f.instances(context)), b.int_constant(0)});
    b.conditional(some, fail, [] { return ValueList(); });
  }
  return identity_of(f, site.result_type);  // nobody gets it
}

}  // namespace

std::vector<PrimitiveEntry> polymorphic_primitives() {
  return {
      {"eql", eql},
      {"hash.digest", hash_digest},
      {"select", select},
      {"identity", identity},
      {"string", string},
      {"error", error},
      {"runtime.check", runtime_check},
      {"machine.null", null_element},
      {"machine.none", no_elements},
  };
}

}  // namespace neslc
