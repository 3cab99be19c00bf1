// Errors and warnings as values, and the one formatter that turns them into text.
//
// Every program of the project reports through this: `file:line:col: error: what, in which
// function`, the source line, a caret under the whole token, notes with the offending values, a
// hint.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "vcode/error_codes.hpp"
#include "vcode/source.hpp"

namespace vcode {

enum class Severity { Error, Warning };

struct Note {
  std::string text;
  Span span;  // optional: a related place, shown with its own source line
};

struct Diagnostic {
  Severity severity = Severity::Error;
  ErrorCode code{};
  std::string message;
  Span span;             // optional
  std::string function;  // optional: the function that the place belongs to
  std::vector<Note> notes;
  std::string hint;  // optional: what to do
};

/// Collects diagnostics. Of errors and of warnings at most `limit` each are kept; the others are
/// only counted.
class Diagnostics {
 public:
  static constexpr std::size_t kDefaultLimit = 20;
  explicit Diagnostics(std::size_t limit = kDefaultLimit) : limit_(limit) {}

  void add(Diagnostic diagnostic);
  /// Would a diagnostic of that severity be kept? Spares making the text of one that is not.
  bool keeps(Severity severity) const;
  /// Counts a diagnostic without keeping it.
  void drop(Severity severity);
  bool has_errors() const { return errors_ > 0; }
  std::size_t error_count() const { return errors_; }
  /// Errors that were counted, but not kept; likewise warnings.
  std::size_t dropped() const { return errors_ - kept_errors_; }
  std::size_t dropped_warnings() const { return dropped_warnings_; }
  const std::vector<Diagnostic>& all() const { return all_; }
  /// Orders by place in the text; diagnostics without a place come first.
  void sort();

 private:
  std::vector<Diagnostic> all_;
  std::size_t limit_;
  std::size_t errors_ = 0;
  std::size_t kept_errors_ = 0;
  std::size_t kept_warnings_ = 0;
  std::size_t dropped_warnings_ = 0;
};

struct RenderOptions {
  bool color = false;
  std::string_view program = "vinterp";  // prefix of messages that have no place in a file
};

/// The first character of a text, or as much of it as is no character, as escaped() shows it.
/// REQUIRES: the text is not empty.
struct ShownCharacter {
  std::string text;
  std::size_t bytes;  // of the text that it stands for
};
ShownCharacter shown_character(std::string_view text);

/// The text with control characters, invalid UTF-8 and characters that change the direction or
/// width of a line written as escapes, so that it can be shown on a terminal.
std::string escaped(std::string_view text);

/// The text of one diagnostic, ending in a newline. Control characters of the source are shown
/// escaped; tabs and UTF-8 do not shift the caret; long lines are cut to a window around it.
/// `source` may be null when there is no text to show.
std::string render(const Diagnostic& diagnostic, const Source* source,
                   const RenderOptions& options);
std::string render(const Diagnostics& diagnostics, const Source* source,
                   const RenderOptions& options);

}  // namespace vcode
