// NESL values as the flattener sees them: trees of variables.
//
// A value lives in a *context*, a level of parallelism with some number of instances. In a context
// of k instances a scalar is a vector of length k, and a sequence a descriptor of k segments with
// the vectors of all its elements, of all instances, one after another (reference 10.1). Code
// outside of every apply-to-each is the context with one instance.
//
// A value stays in the context where it was computed, and is brought to a deeper one only where an
// operation needs it there: what does not depend on the instance is computed once.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "ir/builder.hpp"
#include "neslc/front/types.hpp"

namespace neslc {

/// A level of parallelism. Owned by the flattener of a function.
struct Context {
  enum class Kind : std::uint8_t {
    Serial,   // one instance; the outermost context of every function
    Lifted,   // the instances of a lifted function
    ForEach,  // the elements of a sequence: `descriptor` has a segment for each instance of
              // `parent`
    Branch,   // the instances of `parent` whose flag is T
    Fetch,    // instances each of which reads the values of one of `parent`, in any order
  };
  Kind kind = Kind::Serial;
  Context* parent = nullptr;
  ir::LengthId count = ir::kOne;          // number of instances
  ir::ValueId sample = ir::kNoValue;      // some vector of that length
  ir::ValueId descriptor = ir::kNoValue;  // ForEach
  ir::ValueId flags = ir::kNoValue;       // Branch
  ir::ValueId positions = ir::kNoValue;   // Branch, Fetch: the instances among those of `parent`

  bool serial() const { return kind == Kind::Serial; }
  /// Is `other` this context, or one inside it?
  bool encloses(const Context* other) const {
    while (other != nullptr && other != this) other = other->parent;
    return other == this;
  }
};

/// The innermost Fetch between `outer` and `inner`, which it encloses; null if there is none, or
/// the outer context is serial.
Context* fetch_between(const Context* outer, Context* inner);

/// Are there several instances of `inner` for one of `outer`, which encloses it, one behind the
/// other?
bool multiplies(const Context* outer, Context* inner);

struct StreamNode;  // streams.hpp
struct StreamFold;

struct Value {
  enum class Kind : std::uint8_t {
    Scalar,    // `var`
    Sequence,  // `var`: descriptor; parts[0]: the elements, one behind another
    Tuple,     // pairs, fields of records, captured variables
    Stream,    // `stream`: how its elements will be computed
    Pending,   // `fold`: what a stream will give when it is traversed
  };
  Kind kind = Kind::Tuple;
  ir::ValueId var = ir::kNoValue;
  Context* context = nullptr;  // Scalar, Sequence; that of elements means nothing
  std::vector<Value> parts;
  std::shared_ptr<StreamNode> stream;
  std::shared_ptr<StreamFold> fold;

  static Value scalar(ir::ValueId var, Context* context) {
    return {Kind::Scalar, var, context, {}, {}, {}};
  }
  static Value sequence(ir::ValueId descriptor, Value elements, Context* context) {
    return {Kind::Sequence, descriptor, context, {std::move(elements)}, {}, {}};
  }
  static Value tuple(std::vector<Value> parts) {
    return {Kind::Tuple, ir::kNoValue, nullptr, std::move(parts), {}, {}};
  }
  static Value of_stream(std::shared_ptr<StreamNode> stream, Context* context) {
    return {Kind::Stream, ir::kNoValue, context, {}, std::move(stream), {}};
  }
  static Value pending(std::shared_ptr<StreamFold> fold, Context* context) {
    return {Kind::Pending, ir::kNoValue, context, {}, {}, std::move(fold)};
  }

  bool is_scalar() const { return kind == Kind::Scalar; }
  bool is_sequence() const { return kind == Kind::Sequence; }
  bool is_tuple() const { return kind == Kind::Tuple; }
  bool is_stream() const { return kind == Kind::Stream; }
  bool is_pending() const { return kind == Kind::Pending; }
  const Value& elements() const { return parts[0]; }
};

/// The VCODE type of an atomic type.
vcode::Type vector_type(TypePtr atom);

/// The types of the variables that make up a value, in their order on the stack (reference 10.1).
void append_types(TypeTable& types, TypePtr type, std::vector<vcode::Type>& result);

/// The parameters of a loop that such a value stands for, each of a kind. False if it has other
/// parts than scalars and sequences of them.
bool append_parameters(TypeTable& types, TypePtr type,
                       const std::function<ir::SerialFunction::Parameter::Kind()>& kind_of_leaf,
                       std::vector<ir::SerialFunction::Parameter>& result);

/// The types of the parts of a pair, or of what a function value has captured.
std::vector<TypePtr> part_types(TypeTable& types, TypePtr type);

/// A value of `type` made of `vars[next...]`; `next` moves on.
Value make_value(TypeTable& types, TypePtr type, const ir::ValueList& vars, std::size_t& next,
                 Context* context);

/// The variables of a value, in their order on the stack.
void append_vars(const Value& value, ir::ValueList& vars);
ir::ValueList vars_of(const Value& value);

/// A value of the same form made of other variables.
Value with_vars(const Value& form, const ir::ValueList& vars, Context* context);
Value with_vars(const Value& form, const ir::ValueList& vars, std::size_t& next, Context* context);

/// Calls visit(scalar) for each part, until that gives false. False then, or if there is a part
/// that is no scalar.
template <class Visit>
bool for_scalars(const Value& value, const Visit& visit) {
  if (value.is_scalar()) return visit(value);
  return value.is_tuple() &&
         std::all_of(value.parts.begin(), value.parts.end(),
                     [&](const Value& part) { return for_scalars(part, visit); });
}
/// Is it a scalar, or made of scalars, one at least?
bool has_scalars_only(const Value& value);

/// The same variables in another context.
Value in_context(Value value, Context* context);

/// Calls `action` for each Scalar and outermost Sequence.
template <class Action>
void for_each_leaf(Value& value, const Action& action) {
  if (!value.is_tuple()) {
    action(value);
    return;
  }
  for (Value& part : value.parts) for_each_leaf(part, action);
}
template <class Action>
void for_each_leaf(const Value& value, const Action& action) {
  if (!value.is_tuple()) {
    action(value);
    return;
  }
  for (const Value& part : value.parts) for_each_leaf(part, action);
}

}  // namespace neslc
