#include "neslc/front/sieve_warnings.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "neslc/front/free_variables.hpp"

namespace neslc {
namespace {

class SieveWarnings {
 public:
  SieveWarnings(const vcode::Source& source, const Definition& function)
      : source_(source), function_(function) {}

  void look_through(const Expr& whole) {
    for_each_expression(whole, [&](const Expr& part) {
      const auto* each = std::get_if<ApplyToEach>(&part.node);
      if (each != nullptr && each->sieve) look_inside(*each->body, *each);
      return Visit::Below;
    });
  }

  std::vector<vcode::Diagnostic> found;

 private:
  /// Warns of calls in the body of `each`, but not where an `if` decides about them, and not twice
  /// where an inner sieve is told of, too.
  void look_inside(const Expr& expr, const ApplyToEach& each) {
    for_each_expression(expr, [&](const Expr& part) {
      if (const auto* conditional = std::get_if<If>(&part.node)) {
        look_inside(*conditional->condition, each);
        return Visit::Past;
      }
      if (const auto* inner = std::get_if<ApplyToEach>(&part.node); inner && inner->sieve) {
        for (const Binding& generator : inner->generators) look_inside(*generator.value, each);
        return Visit::Past;
      }
      const GlobalRef* const callee = named_callee(part);
      if (callee != nullptr && callee->definition == &function_) warn(part, each);
      return Visit::Below;
    });
  }

  void warn(const Expr& call, const ApplyToEach& each) {
    vcode::Diagnostic warning;
    warning.severity = vcode::Severity::Warning;
    warning.code = vcode::ErrorCode::NeslLeftOutCalls;
    warning.span = call.span;
    warning.message = fmt::format(
        "`{}` calls itself for the elements that the condition leaves out, too", function_.name);
    warning.notes.push_back({"the condition is applied afterwards", each.sieve->span});
    warning.hint = hint(each);
    found.push_back(std::move(warning));
  }

  std::string hint(const ApplyToEach& each) const {
    constexpr std::size_t kLongest = 60;  // of a text that is shown again
    std::vector<std::string_view> patterns;
    std::vector<std::string> generators;
    for (const Binding& generator : each.generators) {
      patterns.push_back(source_.text(generator.pattern->span));
      generators.push_back(
          fmt::format("{} in {}", patterns.back(), source_.text(generator.value->span)));
    }
    std::string pattern = fmt::format("{}", fmt::join(patterns, ", "));
    std::string chosen;
    if (each.generators.size() > 1) {
      pattern = "(" + pattern + ")";
      chosen = pattern + " : ";
    }
    const std::string text =
        fmt::format("{} in {{{}{} | {}}}", pattern, chosen, fmt::join(generators, "; "),
                    source_.text(each.sieve->span));
    const bool is_shown = text.size() <= kLongest && text.find('\n') == std::string::npos;
    return fmt::format("choose the elements first: `{}`",
                       is_shown ? text : "{f(x) : x in {x in v | condition}}");
  }

  const vcode::Source& source_;
  const Definition& function_;
};

}  // namespace

std::vector<vcode::Diagnostic> sieve_warnings(const Body& body, const Definition& function) {
  SieveWarnings warnings(*body.source, function);
  warnings.look_through(*body.expression);
  for (const auto& lambda : body.lambdas) warnings.look_through(*lambda->body);
  return std::move(warnings.found);
}

}  // namespace neslc
