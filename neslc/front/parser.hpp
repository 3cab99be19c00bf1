// NESL text to syntax trees (reference, sections 1 and 2).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "neslc/front/ast.hpp"
#include "neslc/front/static_error.hpp"

namespace neslc {

/// A form of a program, or the one error that stands in its place.
struct ParsedForm {
  std::shared_ptr<const ast::Form> form;  // null if there is an error
  std::optional<StaticError> error;
  std::vector<ast::DefinedName> names;  // that it defines, or would without its error
  std::size_t begin = 0;                // where the form begins and, after its terminator, ends
  std::size_t end = 0;
};

struct ParseOptions {
  /// Texts of the library: names may contain dots, and functions may be named by a string.
  bool library = false;
  /// Input of a prompt: the last form may go on in the next line (see `Parsed::incomplete`).
  bool interactive = false;
};

struct Parsed {
  std::vector<ParsedForm> forms;
  /// The text ends inside a form that more text could complete; the form is not in `forms`. Only
  /// with `interactive`; otherwise the end of the text ends the last form.
  bool incomplete = false;
};

/// Reads all forms. An error spoils its own form only: reading goes on behind its `;` or `$`.
Parsed parse_program(std::shared_ptr<const vcode::Source> source, ParseOptions options = {});

}  // namespace neslc
