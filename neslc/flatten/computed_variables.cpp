#include "neslc/flatten/computed_variables.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_set>
#include <utility>

#include "ir/tools.hpp"
#include "neslc/flatten/literals.hpp"
#include "neslc/flatten/value.hpp"

namespace neslc {
namespace {

using ir::Statement;

/// The definitions that a body mentions, in the order of the session.
std::vector<const Definition*> mentioned_in(const Body& body) {
  std::vector<const Definition*> mentioned;
  for (const Body::Reference& reference : body.references) {
    mentioned.push_back(reference.definition);
  }
  std::sort(mentioned.begin(), mentioned.end(),
            [](const Definition* a, const Definition* b) { return a->number < b->number; });
  return mentioned;
}

}  // namespace

bool is_computed_once(const Definition& variable) {
  return variable.kind == DefinitionKind::Variable && !variable.library && variable.body &&
         variable.scheme.variables.empty() && !contains_stream(variable.scheme.type) &&
         !is_literal(*variable.body->expression);
}

std::vector<const Definition*> variables_needed(const Body& body) {
  /// A definition, null for the body itself, and what is still to be looked at of it.
  struct Visit {
    const Definition* definition;
    std::vector<const Definition*> mentioned;
    std::size_t next = 0;
  };
  std::vector<const Definition*> found;
  std::unordered_set<const Definition*> seen;
  std::vector<Visit> visits{{nullptr, mentioned_in(body)}};
  while (!visits.empty()) {
    Visit& visit = visits.back();
    if (visit.next < visit.mentioned.size()) {
      const Definition* const definition = visit.mentioned[visit.next++];
      if (definition->body && seen.insert(definition).second) {
        visits.push_back({definition, mentioned_in(*definition->body)});
      }
      continue;
    }
    if (visit.definition != nullptr && is_computed_once(*visit.definition)) {
      found.push_back(visit.definition);
    }
    visits.pop_back();
  }
  return found;
}

std::int64_t ComputedVariables::first_component(TypeTable& types, const Definition& variable) {
  const auto next = kFirst + static_cast<std::int64_t>(types_.size());
  const auto [at, inserted] = first_.try_emplace(&variable, next);
  if (!inserted) return at->second;
  const auto first = static_cast<std::uint32_t>(types_.size());
  append_types(types, variable.scheme.type, types_);
  parameters_.resize(types_.size());
  std::vector<ir::SerialFunction::Parameter> parameters;
  const auto uniform = [] { return ir::SerialFunction::Parameter::Kind::Uniform; };
  if (append_parameters(types, variable.scheme.type, uniform, parameters)) {
    for (ir::SerialFunction::Parameter& parameter : parameters) {
      if (parameter.descriptor) *parameter.descriptor += first;
    }
    std::copy(parameters.begin(), parameters.end(), parameters_.begin() + first);
  }
  return at->second;
}

void ComputedVariables::add_values(std::int64_t first, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    values_.push_back(static_cast<std::size_t>(first - kFirst) + k);
  }
}

/// What functions use themselves, and what those that they call do.
ComputedVariables::Uses ComputedVariables::find_uses(
    const ir::Module& module, const std::vector<std::int64_t>& components) const {
  Uses uses(module.functions.size(), std::vector<bool>(types_.size()));
  for (const std::vector<std::uint32_t>& group : ir::call_groups(module)) {
    std::vector<bool> all(types_.size());
    for (const std::uint32_t function : group) {
      ir::for_each_statement(module.functions[function].body, [&](const Statement& statement) {
        if (is_computed(statement, components)) {
          all[component_of(statement, components)] = true;
        } else if (statement.kind == Statement::Kind::Call) {
          const std::vector<bool>& called = uses[statement.index];
          std::transform(all.begin(), all.end(), called.begin(), all.begin(), std::logical_or<>());
        }
      });
    }
    for (const std::uint32_t function : group) uses[function] = all;
  }
  return uses;
}

bool ComputedVariables::is_computed(const Statement& statement,
                                    const std::vector<std::int64_t>& components) {
  return statement.kind == Statement::Kind::Given && components[statement.index] >= kFirst;
}

std::size_t ComputedVariables::component_of(const Statement& statement,
                                            const std::vector<std::int64_t>& components) {
  return static_cast<std::size_t>(components[statement.index] - kFirst);
}

void ComputedVariables::hand_down(ir::Module& module, std::vector<std::int64_t>& components) const {
  if (types_.empty()) return;
  const Uses uses = find_uses(module, components);
  for (std::uint32_t number = 0; number < module.functions.size(); ++number) {
    ir::Function& function = module.functions[number];
    std::vector<ir::ValueId> values(types_.size(), ir::kNoValue);
    if (number == module.entry) {
      ir::ValueList& results = function.body.results;
      const std::size_t own = results.size() - values_.size();
      for (std::size_t k = 0; k < values_.size(); ++k) values[values_[k]] = results[own + k];
      results.resize(own);
      function.result_types.resize(own);
    } else {
      for (std::size_t k = 0; k < types_.size(); ++k) {
        if (!uses[number][k]) continue;
        values[k] = ir::new_value(function, types_[k], function.origin);
        function.parameters.push_back(values[k]);
      }
    }
    put_in_place(function, values, uses, components);
    if (number == module.entry) ir::drop_unused(function);
    if (function.serial) hand_to_loop(module, number, uses);
  }
  for (std::size_t k = 0; k < components.size(); ++k) {
    if (components[k] < kFirst) continue;
    components[k] = -1;
    module.given[k] = false;
  }
}

/// The function for one instance has the same further parameters, if both use the same.
void ComputedVariables::hand_to_loop(ir::Module& module, std::uint32_t number,
                                     const Uses& uses) const {
  std::optional<ir::SerialFunction>& serial = module.functions[number].serial;
  std::map<std::size_t, std::uint32_t> place;  // of a component: which parameter it becomes
  bool fits = uses[number] == uses[serial->function];
  for (std::size_t k = 0; k < types_.size() && fits; ++k) {
    if (!uses[number][k]) continue;
    place[k] = static_cast<std::uint32_t>(serial->parameters.size());
    std::optional<ir::SerialFunction::Parameter> parameter = parameters_[k];
    if (parameter && parameter->descriptor) {
      const auto described = place.find(*parameter->descriptor);
      if (described == place.end()) {
        parameter.reset();
      } else {
        parameter->descriptor = described->second;
      }
    }
    fits = parameter.has_value();
    if (fits) serial->parameters.push_back(*parameter);
  }
  if (!fits) serial.reset();
}

void ComputedVariables::put_in_place(ir::Function& function, const std::vector<ir::ValueId>& values,
                                     const Uses& uses,
                                     const std::vector<std::int64_t>& components) const {
  ir::Renaming names(function.values.size());
  ir::for_each_block(function.body, [&](ir::Block& block) {
    for (Statement& statement : block.statements) {
      if (is_computed(statement, components)) {
        names.set(statement.results[0], values[component_of(statement, components)]);
      } else if (statement.kind == Statement::Kind::Call) {
        for (std::size_t k = 0; k < values.size(); ++k) {
          if (uses[statement.index][k]) statement.operands.push_back(values[k]);
        }
      }
    }
    std::erase_if(block.statements,
                  [&](const Statement& statement) { return is_computed(statement, components); });
  });
  names.apply(function.body);
}

}  // namespace neslc
