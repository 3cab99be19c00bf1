// The options of `name &= exp, mem := n, max_time := n, config := c`.
#include <limits>

#include <fmt/format.h>

#include "cvl/failure.hpp"
#include "neslc/command/outside.hpp"
#include "neslc/command/settings_command.hpp"
#include "neslc/command/toplevel.hpp"

namespace neslc {
namespace {

[[noreturn]] void refuse(const ast::Form& form, vcode::Span span, std::string message,
                         std::string hint) {
  StaticError error;
  error.category = Category::Argument;
  error.source = form.source;
  error.diagnostic.code = error_code(error.category);
  error.diagnostic.message = std::move(message);
  error.diagnostic.span = span;
  error.diagnostic.hint = std::move(hint);
  throw error;
}

/// A positive number that is written out.
double number_of(const ast::Form& form, const ast::Binding& option) {
  double number = 0;
  if (const auto* whole = std::get_if<ast::IntLiteral>(&option.value->node)) {
    number = static_cast<double>(whole->value);
  } else if (const auto* real = std::get_if<ast::FloatLiteral>(&option.value->node)) {
    number = real->value;
  }
  if (number <= 0) {
    refuse(form, option.value->span,
           fmt::format("`{}` needs a number above 0", option.pattern->name),
           "name &= exp, mem := 1000000, max_time := 60");
  }
  return number;
}

std::size_t bytes_of(double words) {
  constexpr auto kMost = static_cast<double>(std::numeric_limits<std::size_t>::max() / kWordBytes);
  return words < kMost ? static_cast<std::size_t>(words) * kWordBytes
                       : std::numeric_limits<std::size_t>::max();
}

Configuration configuration_of(const Toplevel& top, const ast::Form& form,
                               const ast::Binding& option) {
  const auto* name = std::get_if<ast::Name>(&option.value->node);
  if (name == nullptr) refuse(form, option.value->span, "`config` needs the name of one", {});
  const auto found = find_configuration(top, name->name);
  if (!found) {
    refuse(form, option.value->span, fmt::format("there is no configuration `{}`", name->name),
           kConfigurationHint);
  }
  return *found;
}

}  // namespace

vinterp::Options background_machine(const Toplevel& top, const ast::Form& form) {
  if (top.machine().sandbox) {
    const WayOut& way = *find_way_out(WayOut::Kind::Binding, "&=");
    throw cvl::Failure(vcode::ErrorCode::Sandboxed,
                       fmt::format("--sandbox forbids `{}`, which {}", way.name, way.does), {},
                       "evaluate in the foreground, `name = exp`");
  }
  const auto& options = std::get<ast::BindingForm>(form.node).options;
  Configuration configuration = top.configurations().at(top.configuration());
  for (const ast::Binding& option : options) {
    if (option.pattern->name == "config") configuration = configuration_of(top, form, option);
  }
  vinterp::Options machine = top.machine();
  machine.backend = configuration.backend;
  machine.device = configuration.device;
  machine.threads = configuration.threads;
  machine.memory = configuration.memory;
  machine.time_limit = static_cast<double>(configuration.max_time);
  for (const ast::Binding& option : options) {
    if (option.pattern->name == "mem") machine.memory = bytes_of(number_of(form, option));
    if (option.pattern->name == "max_time") machine.time_limit = number_of(form, option);
  }
  return machine;
}

}  // namespace neslc
