#include "neslc/front/missing_names.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "neslc/front/lexer.hpp"

namespace neslc {
namespace {

bool mentions(std::string_view text, const std::string& name) {
  const std::vector<Token> tokens = tokenize(vcode::Source("", std::string(text)));
  return std::any_of(tokens.begin(), tokens.end(),
                     [&](const Token& token) { return token.is(Token::Kind::Name, name); });
}

}  // namespace

void MissingNames::announce(const std::vector<ParsedForm>& forms) {
  for (const ParsedForm& form : forms) {
    const Reason reason = form.form ? Reason::Later : Reason::Rejected;
    const auto& source = form.form ? form.form->source : form.error->source;
    for (const ast::DefinedName& name : form.names) {
      places_[name.name] = {reason, source, name.line,
                            source->text().substr(form.begin, form.end - form.begin)};
    }
  }
}

void MissingNames::reject(const ast::Form& form) {
  for (const auto& [name, line] : ast::defined_names(form)) {
    places_[name] = {Reason::Rejected, form.source, line, {}};
  }
}

void MissingNames::fail(const ast::Form& form) {
  for (const auto& [name, line] : ast::defined_names(form)) {
    places_[name] = {Reason::Failed, form.source, line, {}};
  }
}

void MissingNames::keep_inside(const Body& body) {
  for (const auto& local : body.locals) {
    places_.try_emplace(local->name, Place{Reason::Inside, body.source, local->span.line, {}});
  }
}

std::string MissingNames::explain(std::string_view name, const vcode::Source& use,
                                  const std::string& enclosing) const {
  const auto found = places_.find(name);
  if (found == places_.end()) return {};
  const Place& place = found->second;
  const std::string line =
      place.source.get() == &use
          ? fmt::format("line {}", place.line)
          : fmt::format("line {} of {}", place.line, vcode::escaped(place.source->name()));
  switch (place.reason) {
    case Reason::Later:
      if (!enclosing.empty() && mentions(place.text, enclosing)) {
        return fmt::format(
            "defined in {}; where two functions call each other, declare it first, "
            "as in `function {}(x) : int -> int;`",
            line, name);
      }
      return fmt::format("defined in {}; move it up", line);
    case Reason::Rejected:
      return fmt::format("its definition in {} has an error", line);
    case Reason::Failed:
      return fmt::format("its value in {} could not be computed", line);
    case Reason::Inside:
      return fmt::format("the `{}` of {} is known only there", name, line);
  }
  return {};
}

}  // namespace neslc
