// The commands of the top level (reference, section 9).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "neslc/command/outside.hpp"
#include "neslc/front/ast.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/error_codes.hpp"

namespace neslc {

class Toplevel;

/// Thrown by a command that cannot be carried out.
struct CommandError {
  std::string message;
  std::string hint = {};
  vcode::Span span = {};  // none: the whole command
  vcode::ErrorCode code = vcode::ErrorCode::NeslCommand;
};

vcode::Diagnostic diagnostic_of(const CommandError& error);

/// Throws CommandError.
void write_file(const std::string& name, const std::string& text);

/// Carries out a command form; shows what it has to say. Returns the exit status of the forms that
/// it has processed, if any. Throws CommandError.
int run_command(Toplevel& top, const std::shared_ptr<const ast::Form>& form);

/// Throws CommandError if the session is in the sandbox and that reaches outside of it.
void refuse_in_sandbox(const Toplevel& top, WayOut::Kind kind, std::string_view name,
                       vcode::Span span);

struct CommandHelp {
  std::string_view usage;
  std::string_view text;
};
/// The forms and commands of the top level.
std::span<const CommandHelp> command_help();
/// The words that a command may begin with.
std::span<const std::string_view> command_names();
/// What may follow `show`.
std::span<const std::string_view> show_names();

/// Lines of names and texts, the texts below each other.
std::string help_lines(std::span<const CommandHelp> rows);

/// What `show status` prints.
std::string status_text(Toplevel& top);

}  // namespace neslc
