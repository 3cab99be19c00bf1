#include "neslc/front/random_warnings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "neslc/front/free_variables.hpp"
#include "neslc/front/session.hpp"

namespace neslc {
namespace {

bool is_rand(const Expr& callee) {
  const auto* reference = std::get_if<GlobalRef>(&callee.node);
  return reference != nullptr && reference->definition->library &&
         reference->definition->name == "rand";
}

/// The variables that an expression binds, at whatever depth.
void append_bound(const Expr& expr, std::vector<const Local*>& variables) {
  const auto append = [&](const std::vector<Binding>& bindings) {
    for (const Binding& binding : bindings) append_locals(*binding.pattern, variables);
  };
  for_each_expression(expr, [&](const Expr& part) {
    if (const auto* let = std::get_if<Let>(&part.node)) append(let->bindings);
    if (const auto* each = std::get_if<ApplyToEach>(&part.node)) append(each->generators);
    return Visit::Below;
  });
}

class RandomWarnings {
 public:
  std::vector<vcode::Diagnostic> of(const Body& body) {
    source_ = body.source.get();
    look_through(*body.expression);
    for (const auto& lambda : body.lambdas) look_through(*lambda->body);
    return std::move(found_);
  }

 private:
  void look_through(const Expr& whole) {
    for_each_expression(whole, [&](const Expr& part) {
      const auto* each = std::get_if<ApplyToEach>(&part.node);
      if (each == nullptr) return Visit::Below;
      for (const Binding& generator : each->generators) look_through(*generator.value);
      // What depends on a variable of an outer apply-to-each alone is evaluated for each inner
      // element, too.
      std::vector<const Local*> variables;
      append_bound(part, variables);
      look_inside(*each->body, variables);
      if (each->sieve) look_inside(*each->sieve, variables);
      return Visit::Past;
    });
  }

  void look_inside(const Expr& expr, const std::vector<const Local*>& variables) {
    for_each_expression(expr, [&](const Expr& part) {
      const auto* call = std::get_if<Call>(&part.node);
      if (call == nullptr || !is_rand(*call->callee)) return Visit::Below;
      const auto& used = free_.of(*call->argument);
      const bool depends = std::any_of(used.begin(), used.end(), [&](const Local* local) {
        return std::find(variables.begin(), variables.end(), local) != variables.end();
      });
      if (!depends) warn(part);
      return Visit::Below;
    });
  }

  void warn(const Expr& call) {
    vcode::Diagnostic warning;
    warning.severity = vcode::Severity::Warning;
    warning.code = vcode::ErrorCode::NeslEqualRandom;
    warning.span = call.span;
    warning.message = "this random number is drawn once, and is the same for all elements";
    const std::string_view range = source_->text(std::get<Call>(call.node).argument->span);
    warning.hint = fmt::format("`{{rand(m) : m in dist({}, n)}}` draws one for each of n elements",
                               range.empty() ? "range" : range);
    found_.push_back(std::move(warning));
  }

  const vcode::Source* source_ = nullptr;
  FreeVariables free_;
  std::vector<vcode::Diagnostic> found_;
};

}  // namespace

std::vector<vcode::Diagnostic> random_warnings(const Body& body) {
  return RandomWarnings().of(body);
}

}  // namespace neslc
