// The functions of the library that are compiled to VCODE directly. All others are written in NESL
// (library/definitions.nesl).
#pragma once

#include <string>
#include <vector>

#include "neslc/flatten/flattener.hpp"

namespace neslc {

using Primitive = Value (*)(Flattener&, const Flattener::CallSite&, const Value& argument);

/// Null if the library has no primitive of that name.
Primitive find_primitive(const std::string& name);

// The tables that find_primitive looks into.
struct PrimitiveEntry {
  const char* name;
  Primitive code;
};
std::vector<PrimitiveEntry> scalar_primitives();
std::vector<PrimitiveEntry> sequence_primitives();
std::vector<PrimitiveEntry> reordering_primitives();
std::vector<PrimitiveEntry> ordering_primitives();
std::vector<PrimitiveEntry> reduction_primitives();
std::vector<PrimitiveEntry> polymorphic_primitives();
std::vector<PrimitiveEntry> io_primitives();
std::vector<PrimitiveEntry> stream_primitives();

/// The components of an argument tuple of `count` parts.
std::vector<Value> components(const Value& argument, std::size_t count);

/// 0, F, a space, no elements: the value of the type that NESL's `identity` gives.
Value identity_of(Flattener& f, TypePtr type);

/// [values[0], values[1] ...], all in `context`.
Value sequence_of(Flattener& f, const std::vector<Value>& values, Context* context);

/// The elements of the elements, one behind another.
Value flatten(Flattener& f, const Value& sequences);

/// a ++ b, both in `context`.
Value appended(Flattener& f, const std::vector<Value>& parts, Context* context);

/// Where elements lie that are so far behind the starts of their sequences: of each instance of the
/// context, to which the starts are brought.
ir::ValueId positions_from(Flattener& f, const Value& starts, ir::ValueId offsets,
                           Context* context);

/// The elements at the positions in the vector, which `whole` describes. Where checks do not keep
/// positions inside, any element for those outside.
Value elements_at(Flattener& f, const Value& elements, ir::ValueId whole, const Value& positions);

/// An index of a[i][j] ..., and the part of the program that it is used in.
struct ElementIndex {
  Value index;
  ir::Origin origin;
  bool inside = false;  // there is such an element: nothing to check
};
/// The element a[i][j] ...; no a[i] is made. In an arm that is computed where it is not taken, too,
/// it is a scalar, and there any element, or a null value. Elements of a row that a loop has copied
/// are read where it was copied from.
Value element_of(Flattener& f, const Value& sequence, std::vector<ElementIndex> indices,
                 Context* context);

}  // namespace neslc
