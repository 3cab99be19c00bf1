// Program text and places in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vcode {

/// A run of characters in one line: lines and columns count from 1, columns in bytes.
/// A default-constructed span stands for "no place".
struct Span {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t length = 0;

  explicit operator bool() const { return line != 0; }
  bool operator==(const Span&) const = default;
};

/// A named text with access by line. Immutable. It may be a part of a longer one: then its lines
/// count from `first_line`. Where the lines begin is found out when the first
/// one is asked for: a program without faults needs none.
class Source {
 public:
  Source(std::string name, std::string text, std::uint32_t first_line = 1)
      : name_(std::move(name)), text_(std::move(text)), first_line_(first_line) {}

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  std::uint32_t first_line() const { return first_line_; }
  /// The line without its line end; empty for a line that does not exist.
  std::string_view line(std::uint32_t number) const;
  /// What stands at a place; empty for no place, and for one that is not in the text.
  std::string_view text(Span span) const;
  std::uint32_t line_count() const { return static_cast<std::uint32_t>(line_starts().size()); }

 private:
  const std::vector<std::size_t>& line_starts() const;

  std::string name_;
  std::string text_;
  std::uint32_t first_line_;
  mutable std::once_flag lines_found_;
  mutable std::vector<std::size_t> line_starts_;
};

}  // namespace vcode
