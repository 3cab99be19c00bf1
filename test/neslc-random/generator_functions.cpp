// Functions of random programs: ordinary ones, and two forms of recursion that end.
#include <algorithm>

#include "generator.hpp"

namespace neslc::random_test {
std::string Generator::parameter_text(const std::vector<Variable>& parameters) {
  std::string text = "(";
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    text += (i == 0 ? "" : ", ") + parameters[i].name;
  }
  text += ") : (";
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    text += (i == 0 ? "" : ", ") + type_text(parameters[i].type);
  }
  return text + ") -> ";
}

Node Generator::function() {
  if (chance(30)) return recursive_function();
  if (chance(20)) return dividing_function();
  Function made{"f" + std::to_string(seed_) + "_" + fresh(""), {}, type(2), false};
  std::vector<Variable> parameters;
  for (int i = 0; i < 1 + below(3); ++i) parameters.push_back({fresh("p"), type(2)});
  for (const Variable& parameter : parameters) made.parameters.push_back(parameter.type);
  scope_ = parameters;
  Node body = expression(made.result, chance(30) ? 40 : 12);
  scope_.clear();
  Node result =
      form(made.result,
           "function " + made.name + parameter_text(parameters) + type_text(made.result) + " = $;",
           {std::move(body)});
  functions_.push_back(std::move(made));
  return result;
}

Node Generator::top_level_variable() {
  const Variable made{"n" + std::to_string(seed_) + "_" + fresh(""), type(2)};
  Node value = expression(made.type, 12);
  top_level_.push_back(made);
  return form(made.type, made.name + " = $;", {std::move(value)});
}

/// Counts its first argument down to zero. Some have a third one, which they pass on unchanged.
Node Generator::recursive_function() {
  Function made{"r" + std::to_string(seed_) + "_" + fresh(""), {kInt}, type(1), true};
  const Variable count{fresh("p"), kInt};
  const Variable state{fresh("p"), made.result};
  made.parameters.push_back(made.result);
  scope_ = {count, state};
  if (chance(50)) {
    scope_.push_back({fresh("p"), type(2)});
    made.parameters.push_back(scope_.back().type);
  }
  const std::vector<Variable> parameters = scope_;
  const std::string unchanged = parameters.size() == 3 ? ", " + parameters[2].name : "";
  Node base = expression(made.result, 4);
  Node step = expression(made.result, 8);
  Node after = expression(made.result, 4);
  scope_.clear();
  const std::string again = made.name + "(" + count.name + " - 1, $" + unchanged + ")";
  std::string format = "function " + made.name + parameter_text(parameters) +
                       type_text(made.result) + " = if " + count.name + " <= 0 then $ else ";
  // Some use what the call gives.
  format += chance(50) ? again : "(let " + state.name + " = " + again + " in $)";
  std::vector<Node> children{std::move(base), std::move(step)};
  if (std::count(format.begin(), format.end(), '$') == 3) children.push_back(std::move(after));
  functions_.push_back(std::move(made));
  return form(kInt, format + ";", std::move(children));
}

/// Divides its argument into two halves, and combines their results.
Node Generator::dividing_function() {
  const Type element = scalar_type();
  Function made{
      "d" + std::to_string(seed_) + "_" + fresh(""), {sequence_of(element)}, type(1), false};
  const Variable argument{fresh("p"), made.parameters[0]};
  scope_ = {argument};
  Node base = expression(made.result, 5);
  scope_.push_back({"left", made.result});
  scope_.push_back({"right", made.result});
  Node combined = expression(made.result, 8);
  scope_.clear();
  functions_.push_back(made);
  return form(made.result,
              "function " + made.name + parameter_text({argument}) + type_text(made.result) +
                  " = if #" + argument.name + " < 2 then $ else let both = {" + made.name +
                  "(part) : part in bottop(" + argument.name +
                  ")}; left = both[0]; right = both[1] in $;",
              {std::move(base), std::move(combined)});
}

}  // namespace neslc::random_test
