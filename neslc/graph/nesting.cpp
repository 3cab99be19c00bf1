#include "neslc/graph/nesting.hpp"

#include <algorithm>

#include "neslc/front/free_variables.hpp"

namespace neslc::graph {

Nesting::Nesting(const Body& body) {
  add({}, body);
}

std::size_t Nesting::level(const std::string& function, vcode::Span span) const {
  const auto found = levels_.find({function, span.line, span.column, span.length});
  return found == levels_.end() ? 0 : found->second;
}

void Nesting::add(const std::string& function, const Body& body) {
  if (!known_.insert(&body).second) return;
  add(function, *body.expression, 0);
  for (const Body::Reference& reference : body.references) {
    const Definition& called = *reference.definition;
    const bool of_program = called.kind == DefinitionKind::Function && !called.library;
    if (of_program && called.body) add(called.name, *called.body);
  }
}

void Nesting::add(const std::string& function, const Expr& expr, std::size_t level) {
  for_each_expression(expr, [&](const Expr& part) {
    std::size_t& known = levels_[{function, part.span.line, part.span.column, part.span.length}];
    known = std::max(known, level);
    if (const auto* lambda = std::get_if<LambdaRef>(&part.node)) {
      add(function, *lambda->lambda->body, level);
    }
    const auto* each = std::get_if<ApplyToEach>(&part.node);
    if (each == nullptr) return Visit::Below;
    for (const Binding& generator : each->generators) add(function, *generator.value, level);
    add(function, *each->body, level + 1);
    if (each->sieve) add(function, *each->sieve, level + 1);
    return Visit::Past;
  });
}

}  // namespace neslc::graph
