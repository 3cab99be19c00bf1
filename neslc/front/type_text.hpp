// Types as text, also those that are not fully known yet.
#pragma once

#include <string>
#include <unordered_map>

#include "neslc/front/types.hpp"

namespace neslc {

/// Gives unknown types the names a, b, c... in the order in which they are first shown, and keeps
/// them: the types of one message go through one printer.
class TypePrinter {
 public:
  /// `few` variables are named a to e, more of them a0, a1...
  explicit TypePrinter(bool few = true) : few_(few) {}

  std::string text(TypePtr type);
  /// The classes of the unknown types shown so far: "a in number; b in ordinal"; `any` is left out.
  std::string restrictions() const;
  std::string name_of(TypePtr variable);

 private:
  void append(TypePtr type, std::string& text);
  void append_operand(TypePtr type, bool functions_too, std::string& text);

  bool few_;
  std::unordered_map<TypePtr, std::string> names_;
  std::string restrictions_;
};

}  // namespace neslc
