// Random programs as trees of text: whole sub-expressions can be replaced, to make them smaller.
#pragma once

#include <string>
#include <vector>

namespace neslc::random_test {

/// A NESL type without variables.
struct Type {
  enum class Kind { Int, Float, Bool, Char, Sequence, Pair, Point, Cell };
  Kind kind = Kind::Int;
  std::vector<Type> arguments;  // Sequence, Cell: one; Pair: two

  bool operator==(const Type&) const = default;
  bool is(Kind other) const { return kind == other; }
  const Type& element() const { return arguments[0]; }
};

inline Type sequence_of(Type element) {
  return {Type::Kind::Sequence, {std::move(element)}};
}
inline Type pair_of(Type first, Type second) {
  return {Type::Kind::Pair, {std::move(first), std::move(second)}};
}

inline const Type kInt{Type::Kind::Int, {}};
inline const Type kFloat{Type::Kind::Float, {}};
inline const Type kBool{Type::Kind::Bool, {}};
inline const Type kChar{Type::Kind::Char, {}};
inline const Type kPoint{Type::Kind::Point, {}};
inline const Type kInts = sequence_of(kInt);
inline const Type kFlags = sequence_of(kBool);
inline const Type kString = sequence_of(kChar);

std::string type_text(const Type& type);
/// Without records, whose text is not that of a tuple.
bool is_plain(const Type& type);

/// A piece of a program: texts with sub-expressions between them.
struct Node {
  Type type;
  std::vector<std::string> texts;  // one more than children
  std::vector<Node> children;
};

std::string text_of(const Node& node);
/// The smallest expression of a type.
Node smallest(const Type& type);

/// Definitions of functions and top-level variables, and the expression that is evaluated.
struct Program {
  std::vector<Node> definitions;
  Node expression;
};

std::string text_of(const Program& program);

/// What every program may use.
extern const char* const kPrelude;

}  // namespace neslc::random_test
