#include "program.hpp"

#include <algorithm>

namespace neslc::random_test {

const char* const kPrelude = R"(
datatype point(int, int);
datatype cell(a, int) :: (a in any);
numbers = [3, 1, 4, 1, 5, 9, 2, 6];
fractions = [0.5, -2.25, 8.0, 0.0];
flags = [t, f, f, t, t];
rows = [[2, 7], [] int, [1, 8, 2, 8], [-4]];
deep = [[[1], [] int], [] [int], [[5, 6], [7]]];
letters = "the quick brown fox";
words = ["one", "", "three", "f"];
pairs = [(1, t), (0, f), (-3, t)];
points = [point(1, 2), point(-1, 0), point(5, 5)];
seven = 7;
half = 0.5;
function apply(g, x) = g(x);
function twice(g, x) = g(g(x));
function each(g, s) = {g(x) : x in s};
function even(n) : int -> bool;
function odd(n) : int -> bool = if n <= 0 then f else even(n - 1);
function even(n) : int -> bool = if n <= 0 then t else odd(n - 1);
function fib(n) = if n < 2 then n else sum({fib(m) : m in [n - 1, n - 2]});
function qsort(s) =
  if #s < 2 then s
  else let pivot = s[#s / 2];
           parts = {qsort(part) : part in [{x in s | x < pivot}, {x in s | x > pivot}]}
       in parts[0] ++ {x in s | x == pivot} ++ parts[1];
)";

std::string type_text(const Type& type) {
  switch (type.kind) {
    case Type::Kind::Int:
      return "int";
    case Type::Kind::Float:
      return "float";
    case Type::Kind::Bool:
      return "bool";
    case Type::Kind::Char:
      return "char";
    case Type::Kind::Sequence:
      return "[" + type_text(type.element()) + "]";
    case Type::Kind::Pair:
      return "(" + type_text(type.arguments[0]) + ", " + type_text(type.arguments[1]) + ")";
    case Type::Kind::Point:
      return "point";
    case Type::Kind::Cell:
      return "cell(" + type_text(type.element()) + ")";
  }
  return "";
}

bool is_plain(const Type& type) {
  return !type.is(Type::Kind::Point) && !type.is(Type::Kind::Cell) && !type.is(Type::Kind::Float) &&
         std::all_of(type.arguments.begin(), type.arguments.end(), is_plain);
}

std::string text_of(const Node& node) {
  std::string text = node.texts[0];
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    text += text_of(node.children[i]) + node.texts[i + 1];
  }
  return text;
}

Node smallest(const Type& type) {
  switch (type.kind) {
    case Type::Kind::Int:
      return {type, {"0"}, {}};
    case Type::Kind::Float:
      return {type, {"0.0"}, {}};
    case Type::Kind::Bool:
      return {type, {"f"}, {}};
    case Type::Kind::Char:
      return {type, {"`a"}, {}};
    case Type::Kind::Sequence:
      return {type, {"([] " + type_text(type.element()) + ")"}, {}};
    case Type::Kind::Pair:
      return {type, {"(", ", ", ")"}, {smallest(type.arguments[0]), smallest(type.arguments[1])}};
    case Type::Kind::Point:
      return {type, {"point(0, 0)"}, {}};
    case Type::Kind::Cell:
      return {type, {"cell(", ", 0)"}, {smallest(type.element())}};
  }
  return {};
}

std::string text_of(const Program& program) {
  std::string text;
  for (const Node& definition : program.definitions) text += text_of(definition) + "\n";
  return text + text_of(program.expression) + ";\n";
}

}  // namespace neslc::random_test
