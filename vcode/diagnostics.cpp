#include "vcode/diagnostics.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "vcode/utf8.hpp"

namespace vcode {

void Diagnostics::add(Diagnostic diagnostic) {
  const bool error = diagnostic.severity == Severity::Error;
  if (!keeps(diagnostic.severity)) {
    drop(diagnostic.severity);
    return;
  }
  if (error) ++errors_;
  ++(error ? kept_errors_ : kept_warnings_);
  all_.push_back(std::move(diagnostic));
}

bool Diagnostics::keeps(Severity severity) const {
  return (severity == Severity::Error ? kept_errors_ : kept_warnings_) < limit_;
}

void Diagnostics::drop(Severity severity) {
  ++(severity == Severity::Error ? errors_ : dropped_warnings_);
}

void Diagnostics::sort() {
  std::stable_sort(all_.begin(), all_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.span.line, a.span.column) < std::tie(b.span.line, b.span.column);
  });
}

namespace {

// ---- characters ----

bool in_ranges(char32_t code, std::span<const std::pair<char32_t, char32_t>> ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
    return code >= range.first && code <= range.second;
  });
}

// Controls, and format characters that would hide or reorder what stands around them.
bool must_escape(char32_t code) {
  static constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},
      {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}};
  return in_ranges(code, kRanges);
}

// Terminal columns of a shown character: the usual blocks of double width and of combining marks.
std::size_t display_width(char32_t code) {
  static constexpr std::pair<char32_t, char32_t> kWide[] = {
      {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xAC00, 0xD7A3},
      {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
      {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
  static constexpr std::pair<char32_t, char32_t> kCombining[] = {
      {0x300, 0x36F}, {0x1AB0, 0x1AFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
  if (code < 0x300) return 1;
  if (in_ranges(code, kCombining)) return 0;
  return in_ranges(code, kWide) ? 2 : 1;
}

constexpr std::size_t kTabWidth = 4;

struct Cell {
  std::string text;
  std::size_t width;
  std::size_t bytes;
};

// What is shown for the first character of `text`, when it stands in display column `column`.
Cell next_cell(std::string_view text, std::size_t column) {
  if (text[0] == '\t') {
    const std::size_t width = kTabWidth - column % kTabWidth;
    return {std::string(width, ' '), width, 1};
  }
  const Character c = decode_utf8(text);
  std::string shown;
  if (!c.valid || (c.code < 0x80 && must_escape(c.code))) {
    shown = fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
  } else if (must_escape(c.code)) {
    shown = fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(c.code));
  } else {
    return {std::string(text.substr(0, c.bytes)), display_width(c.code), c.bytes};
  }
  const std::size_t width = shown.size();
  return {std::move(shown), width, c.bytes};
}

// ---- colours ----

constexpr std::string_view kRed = "\x1b[1;31m", kMagenta = "\x1b[1;35m", kCyan = "\x1b[1;36m",
                           kGreen = "\x1b[1;32m", kBold = "\x1b[1m", kPlain = "\x1b[0m";

std::string paint(std::string_view text, std::string_view color, bool enabled) {
  return enabled ? fmt::format("{}{}{}", color, text, kPlain) : std::string(text);
}

// ---- the quoted line ----

constexpr std::size_t kContext = 60;  // bytes kept left of a token that stands far to the right
constexpr std::size_t kWindow = 100;  // display columns of a quoted line
constexpr std::string_view kCut = "...";

// The source line and the carets under the span. Only the window is looked at: lines may be long.
std::string quote(const Source& source, Span span, bool color) {
  const std::string_view line = source.line(span.line);
  const std::size_t first = std::min<std::size_t>(span.column ? span.column - 1 : 0, line.size());
  const std::size_t last = first + std::max<std::size_t>(span.length, 1);

  std::size_t at = first > kContext ? first - kContext : 0;
  while (at > 0 && at < first && continues_character(line[at])) ++at;
  std::string shown(at > 0 ? kCut : "");
  std::size_t column = shown.size();
  std::size_t caret_begin = column, caret_end = column;
  bool begun = false;
  while (at < line.size() && column < kWindow) {
    if (!begun && at >= first) caret_begin = caret_end = column, begun = true;
    const Cell cell = next_cell(line.substr(at), column);
    shown += cell.text;
    column += cell.width;
    if (begun && at < last) caret_end = column;
    at += cell.bytes;
  }
  if (!begun) caret_begin = caret_end = column;  // a place at the end of the line
  if (at < line.size()) shown += kCut;
  const std::string carets(std::max<std::size_t>(caret_end - caret_begin, 1), '^');
  return fmt::format("{:>5} | {}\n      | {}{}\n", span.line, shown, std::string(caret_begin, ' '),
                     paint(carets, kGreen, color));
}

std::string place(const Source& source, Span span) {
  return fmt::format("{}:{}:{}", escaped(source.name()), span.line, span.column);
}

std::string render_note(const Note& note, const Source* source, bool color) {
  const std::string label = paint("note:", kCyan, color);
  if (!note.span || source == nullptr) return fmt::format("{} {}\n", label, note.text);
  return fmt::format("{}: {} {}\n{}", place(*source, note.span), label, note.text,
                     quote(*source, note.span, color));
}

}  // namespace

ShownCharacter shown_character(std::string_view text) {
  if (text[0] == '\t') return {"\\x09", 1};
  Cell cell = next_cell(text, 0);
  return {std::move(cell.text), cell.bytes};
}

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const ShownCharacter next = shown_character(text);
    result += next.text;
    text.remove_prefix(next.bytes);
  }
  return result;
}

std::string render(const Diagnostic& diagnostic, const Source* source,
                   const RenderOptions& options) {
  const bool error = diagnostic.severity == Severity::Error;
  const bool placed = diagnostic.span && source != nullptr;
  std::string text =
      fmt::format("{}: {} {}{} [{}]\n",
                  placed ? paint(place(*source, diagnostic.span), kBold, options.color)
                         : std::string(options.program),
                  paint(error ? "error:" : "warning:", error ? kRed : kMagenta, options.color),
                  diagnostic.message,
                  diagnostic.function.empty() ? "" : fmt::format(", in `{}`", diagnostic.function),
                  info(diagnostic.code).id);
  if (placed) text += quote(*source, diagnostic.span, options.color);
  for (const Note& note : diagnostic.notes) text += render_note(note, source, options.color);
  if (!diagnostic.hint.empty()) {
    text += fmt::format("{} {}\n", paint("help:", kGreen, options.color), diagnostic.hint);
  }
  return text;
}

std::string render(const Diagnostics& diagnostics, const Source* source,
                   const RenderOptions& options) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    text += render(diagnostic, source, options);
  }
  const auto remainder = [&](std::size_t count, std::string_view what) {
    if (count == 0) return;
    text += fmt::format("{}: {} more {}{} not shown\n", options.program, count, what,
                        count == 1 ? "" : "s");
  };
  remainder(diagnostics.dropped(), "error");
  remainder(diagnostics.dropped_warnings(), "warning");
  return text;
}

}  // namespace vcode
