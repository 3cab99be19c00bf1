// The scalar expressions of kernels as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "vcode/kernel.hpp"

namespace vcode {

/// Writes thunks of one kernel at the end of a text. Nodes with several users become LETs; local
/// names differ from all names of the kernel. Long thunks and expressions are broken into lines.
/// No native recursion.
class ThunkPrinter {
 public:
  ThunkPrinter(const Kernel& kernel, std::string& text);

  /// `( index => ... )`.
  void thunk(const Thunk& thunk);
  /// `( name, name => ... )`, a function of a state of so many components.
  void of_state(const Thunk& thunk, std::size_t components);
  /// Without index and parentheses, as SIZE and ONCE have it.
  void body(const Thunk& thunk);

  static constexpr std::size_t kColumns = 100;
  /// Where the lines of a broken thunk begin.
  static constexpr std::size_t kIndent = 6;
  static constexpr std::size_t kDeepestIndent = 40;

 private:
  struct Item {
    enum class Kind : std::uint8_t { Node, Definition, Text, Break } kind;
    std::uint32_t node = 0;
    std::string_view text;
    bool flat = false;
    std::size_t indent = 0;
  };

  void prepare(const Thunk& thunk);
  void with_parameters(const Thunk& thunk, const std::string& parameters);
  std::size_t width_of(const ThunkNode& node) const;
  std::string head_of(const ThunkNode& node) const;
  std::string leaf(const ThunkNode& node) const;
  std::size_t flat_width() const;
  void contents(bool flat, std::size_t indent);
  void expression(const Item& root);
  void definition(const Item& item);
  std::string local_name(std::string_view stem, std::size_t number) const;
  std::size_t column() const;
  void line_break(std::size_t indent);

  const Kernel& kernel_;
  std::string& text_;
  std::unordered_set<std::string_view> taken_;  // names of the kernel
  std::string index_name_;

  // Of the thunk at hand.
  const Thunk* thunk_ = nullptr;
  std::vector<std::uint32_t> lets_;     // nodes, ascending
  std::vector<std::string> let_names_;  // of each node; empty: no LET
  std::vector<std::size_t> widths_;     // of each node written on one line
  std::vector<Item> items_;
};

}  // namespace vcode
