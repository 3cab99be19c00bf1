#include "generator.hpp"

#include <algorithm>

namespace neslc::random_test {
namespace {

using Kind = Type::Kind;

constexpr int kDeepestType = 3;

int depth_of(const Type& type) {
  int depth = 0;
  for (const Type& argument : type.arguments) depth = std::max(depth, depth_of(argument));
  return depth + (type.is(Kind::Sequence) ? 1 : 0);
}

}  // namespace

Node Generator::form(const Type& type, const std::string& format, std::vector<Node> operands) {
  Node node{type, {""}, std::move(operands)};
  for (const char c : format) {
    if (c == '$') {
      node.texts.emplace_back();
    } else {
      node.texts.back() += c;
    }
  }
  return node;
}

Node Generator::operation(const Type& type, int fuel, const std::string& format,
                          const std::vector<Type>& operands) {
  std::vector<Node> nodes;
  const int share = (fuel - 1) / std::max(1, static_cast<int>(operands.size()));
  for (const Type& operand : operands) nodes.push_back(expression(operand, share));
  return form(type, format, std::move(nodes));
}

Type Generator::scalar_type() {
  return one_of(std::vector<Type>{kInt, kInt, kInt, kFloat, kBool, kChar});
}

Type Generator::type(int depth) {
  const int choice = below(12);
  if (depth > 0 && choice < 6) return sequence_of(type(depth - 1));
  if (depth > 0 && choice == 6) return pair_of(type(depth - 1), type(depth - 1));
  if (choice == 7) return pair_of(scalar_type(), scalar_type());
  if (choice == 8) return kPoint;
  if (choice == 9) return {Kind::Cell, {scalar_type()}};
  return scalar_type();
}

// ---- Leaves

Node Generator::literal(const Type& type) {
  static const std::vector<std::string> kNumbers{"0",  "1",  "2",  "3",   "5",
                                                 "10", "-1", "-7", "100", "max_int"};
  static const std::vector<std::string> kFractions{"0.0", "0.5", "1.0", "-1.5", "3.25", "-20.0"};
  static const std::vector<std::string> kCharacters{"`a", "`z", "`Q", "`7", "` ", "`-"};
  static const std::vector<std::string> kStrings{"\"\"",    "\"abc\"", "\"a b  c\"",
                                                 "\"-12\"", "\"007\"", "\"Mixed\""};
  switch (type.kind) {
    case Kind::Int:
      return {type, {"(" + one_of(kNumbers) + ")"}, {}};
    case Kind::Float:
      return {type, {"(" + one_of(kFractions) + ")"}, {}};
    case Kind::Bool:
      return {type, {chance(50) ? "t" : "f"}, {}};
    case Kind::Char:
      return {type, {one_of(kCharacters)}, {}};
    case Kind::Point:
      return form(type, "point($, $)", {literal(kInt), literal(kInt)});
    case Kind::Cell:
      return form(type, "cell($, $)", {literal(type.element()), literal(kInt)});
    case Kind::Pair:
      return form(type, "($, $)", {literal(type.arguments[0]), literal(type.arguments[1])});
    case Kind::Sequence:
      break;
  }
  if (type == kString && chance(60)) return {type, {one_of(kStrings)}, {}};
  const int count = below(4);
  if (count == 0) return smallest(type);
  std::vector<Node> elements;
  std::string format = "[";
  for (int i = 0; i < count; ++i) {
    format += i == 0 ? "$" : ", $";
    elements.push_back(literal(type.element()));
  }
  return form(type, format + "]", std::move(elements));
}

Node Generator::variable(const Type& type) {
  static const std::vector<Variable> kTopLevel{{"numbers", kInts},
                                               {"fractions", sequence_of(kFloat)},
                                               {"flags", sequence_of(kBool)},
                                               {"rows", sequence_of(kInts)},
                                               {"deep", sequence_of(sequence_of(kInts))},
                                               {"letters", kString},
                                               {"words", sequence_of(kString)},
                                               {"pairs", sequence_of(pair_of(kInt, kBool))},
                                               {"points", sequence_of(kPoint)},
                                               {"seven", kInt},
                                               {"half", kFloat}};
  std::vector<std::string> names;
  for (const std::vector<Variable>* variables : {&scope_, &top_level_}) {
    for (const Variable& candidate : *variables) {
      if (candidate.type == type) names.push_back(candidate.name);
    }
  }
  if (names.empty() || chance(10)) {
    for (const Variable& candidate : kTopLevel) {
      if (candidate.type == type) names.push_back(candidate.name);
    }
  }
  if (names.empty()) return literal(type);
  return {type, {one_of(names)}, {}};
}

std::string Generator::from_outside(int number) {
  const std::string text = std::to_string(number);
  switch (below(4)) {
    case 0:
      return "(" + text + " + rand(1))";  // the only number that is known to be drawn
    case 1:
      return "(seven - " + std::to_string(7 - number) + ")";
    case 2:
      return "(#numbers - " + std::to_string(8 - number) + ")";
    default:
      return "(" + text + " + #{x in numbers | x < 0})";
  }
}

Node Generator::small_number(int limit, int fuel) {
  if (chance(25)) return {kInt, {from_outside(below(limit))}, {}};
  if (fuel < 3 || chance(50)) return {kInt, {std::to_string(below(limit))}, {}};
  return form(kInt, "mod($, " + std::to_string(limit) + ")", {expression(kInt, fuel - 2)});
}

// ---- Expressions

Node Generator::expression(const Type& type, int fuel) {
  if (fuel < 2) return chance(75) ? variable(type) : literal(type);
  if (chance(12)) return variable(type);
  const bool in_scope =
      std::any_of(scope_.begin(), scope_.end(), [&](const Variable& v) { return v.type == type; });
  if (in_scope && chance(15)) return variable(type);
  static const std::vector<Maker> kGeneral{
      &Generator::conditional,  &Generator::conditional, &Generator::let,
      &Generator::let,          &Generator::call,        &Generator::call,
      &Generator::higher_order, &Generator::element,     &Generator::any_type};
  if (chance(45)) return (this->*one_of(kGeneral))(type, fuel);
  return compound(type, fuel);
}

Node Generator::compound(const Type& type, int fuel) {
  switch (type.kind) {
    case Kind::Int:
      return int_expression(type, fuel);
    case Kind::Float:
      return float_expression(type, fuel);
    case Kind::Bool:
      return bool_expression(type, fuel);
    case Kind::Char:
      return char_expression(type, fuel);
    case Kind::Pair:
      return operation(type, fuel, "($, $)", type.arguments);
    case Kind::Point:
    case Kind::Cell:
      return record_expression(type, fuel);
    case Kind::Sequence:
      break;
  }
  if (chance(45)) return apply_to_each(type, fuel);
  if (type == kInts && chance(50)) return int_sequence(type, fuel);
  if (type == kString && chance(50)) return string_expression(type, fuel);
  if (type.element().is(Kind::Sequence) && chance(50)) return nested_sequence(type, fuel);
  return sequence_expression(type, fuel);
}

Node Generator::conditional(const Type& type, int fuel) {
  return operation(type, fuel, "(if $ then $ else $)", {kBool, type, type});
}

std::string Generator::pattern(const Type& type) {
  if (type.is(Kind::Pair) && chance(70)) {
    const std::string first = pattern(type.arguments[0]);
    return "(" + first + ", " + pattern(type.arguments[1]) + ")";
  }
  if (type.is(Kind::Point) && chance(70)) {
    const std::string first = pattern(kInt);
    return "point(" + first + ", " + pattern(kInt) + ")";
  }
  if (type.is(Kind::Cell) && chance(70)) {
    const std::string first = pattern(type.element());
    return "cell(" + first + ", " + pattern(kInt) + ")";
  }
  const std::string name = fresh("v");
  scope_.push_back({name, type});
  return name;
}

Node Generator::let(const Type& type, int fuel) {
  const Type bound = this->type(kDeepestType - 1);
  Node value = expression(bound, fuel / 2);
  const std::size_t scope = scope_.size();
  const std::string names = pattern(bound);
  Node body = expression(type, fuel / 2);
  scope_.resize(scope);
  return form(type, "(let " + names + " = $ in $)", {std::move(value), std::move(body)});
}

Node Generator::call(const Type& type, int fuel) {
  std::vector<const Function*> candidates;
  for (const Function& function : functions_) {
    if (function.result == type) candidates.push_back(&function);
  }
  if (candidates.empty()) return compound(type, fuel);
  const Function& chosen = *one_of(candidates);
  std::vector<Node> arguments;
  std::string format = chosen.name + "(";
  for (std::size_t i = 0; i < chosen.parameters.size(); ++i) {
    format += i == 0 ? "$" : ", $";
    const int share = (fuel - 1) / static_cast<int>(chosen.parameters.size());
    arguments.push_back(i == 0 && chosen.counts_down ? small_number(4, share)
                                                     : expression(chosen.parameters[i], share));
  }
  return form(type, format + ")", std::move(arguments));
}

Node Generator::higher_order(const Type& type, int fuel) {
  const Type from = chance(50) ? type : this->type(1);
  Node argument = expression(from, fuel / 2);
  const std::size_t scope = scope_.size();
  const std::string name = fresh("v");
  scope_.push_back({name, from});
  Node body = expression(type, fuel / 2);
  scope_.resize(scope);
  // The type of the parameter is made known: it could not be found from uses as a number and, in
  // another place, as bits.
  const std::string typed = "let u = eql(" + name + ", " + text_of(smallest(from)) + ") in $";
  const std::string lambda = "(" + name + " => " + typed + ")";
  if (from == type && chance(40)) {
    return form(type, "twice(" + lambda + ", $)", {std::move(body), std::move(argument)});
  }
  if (chance(50)) {
    return form(type, "apply(" + lambda + ", $)", {std::move(body), std::move(argument)});
  }
  const std::string function = fresh("g");
  return form(type, "(let " + function + " = " + lambda + " in " + function + "($))",
              {std::move(body), std::move(argument)});
}

Node Generator::element(const Type& type, int fuel) {
  if (depth_of(type) >= kDeepestType) return compound(type, fuel);
  Node sequence = expression(sequence_of(type), fuel / 2);
  if (chance(8)) return form(type, "$[$]", {std::move(sequence), small_number(3, fuel / 3)});
  const std::string name = fresh("v");
  scope_.push_back({name, sequence_of(type)});
  Node index = expression(kInt, fuel / 3);
  Node otherwise = expression(type, fuel / 4);
  scope_.pop_back();
  return form(type,
              "(let " + name + " = $ in if #" + name + " == 0 then $ else " + name + "[mod($, #" +
                  name + ")])",
              {std::move(sequence), std::move(otherwise), std::move(index)});
}

Node Generator::any_type(const Type& type, int fuel) {
  switch (below(4)) {
    case 0:
      return operation(type, fuel, "first($, $)", {type, scalar_type()});
    case 1:
      return operation(type, fuel, "rest($, $)", {scalar_type(), type});
    case 2:
      return operation(type, fuel, "select($, $, $)", {kBool, type, type});
    default:
      if (!is_plain(type)) return compound(type, fuel);
      return operation(type, fuel, "identity($)", {type});
  }
}

Node Generator::record_expression(const Type& type, int fuel) {
  if (type.is(Kind::Point)) return operation(type, fuel, "point($, $)", {kInt, kInt});
  return operation(type, fuel, "cell($, $)", {type.element(), kInt});
}

Node Generator::apply_to_each(const Type& type, int fuel) {
  const std::size_t scope = scope_.size();
  const int generators = 1 + (chance(35) ? 1 : 0) + (chance(10) ? 1 : 0);
  const int share = fuel / (generators + 1);
  // The sequences are seen by each other only through their lengths.
  std::vector<Node> sources;
  std::string head;
  std::string generator_text;
  std::vector<Type> types;
  for (int i = 0; i < generators; ++i) types.push_back(this->type(kDeepestType - 2));
  Node first = expression(sequence_of(types[0]), share);
  sources.push_back(std::move(first));
  const std::string name = fresh("s");
  const bool equal_lengths = generators > 1 && chance(92);
  if (equal_lengths) head = "let " + name + " = $ in ";
  std::vector<std::string> patterns;
  for (int i = 1; i < generators; ++i) {
    if (!equal_lengths) {
      sources.push_back(expression(sequence_of(types[static_cast<std::size_t>(i)]), share));
      continue;
    }
    const std::size_t inner_scope = scope_.size();
    const std::string element_pattern = pattern(types[0]);
    Node body = expression(types[static_cast<std::size_t>(i)], share);
    scope_.resize(inner_scope);
    sources.push_back(form(sequence_of(types[static_cast<std::size_t>(i)]),
                           "{$ : " + element_pattern + " in " + name + "}", {std::move(body)}));
  }
  for (const Type& element_type : types) patterns.push_back(pattern(element_type));
  std::vector<Node> children;
  if (equal_lengths) {
    children.push_back(std::move(sources[0]));
    generator_text = patterns[0] + " in " + name;
  } else {
    generator_text = patterns[0] + " in $";
  }
  for (int i = 1; i < generators; ++i) {
    generator_text += "; " + patterns[static_cast<std::size_t>(i)] + " in $";
  }
  Node body = expression(type.element(), share);
  const bool sieve = chance(35);
  Node condition = sieve ? expression(kBool, share) : Node();
  scope_.resize(scope);
  children.push_back(std::move(body));
  for (std::size_t i = equal_lengths ? 1 : 0; i < sources.size(); ++i) {
    children.push_back(std::move(sources[i]));
  }
  std::string format = "(" + head + "{$ : " + generator_text;
  if (sieve) {
    format += " | $";
    children.push_back(std::move(condition));
  }
  return form(type, format + "})", std::move(children));
}

Program Generator::program() {
  Program result;
  const int count = below(4);
  for (int i = 0; i < count; ++i) {
    result.definitions.push_back(chance(30) ? top_level_variable() : function());
  }
  result.expression = expression(type(kDeepestType), 12 + below(120));
  return result;
}

}  // namespace neslc::random_test
