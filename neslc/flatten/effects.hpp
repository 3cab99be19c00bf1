// What evaluating an expression does besides giving its value.
#pragma once

#include <functional>
#include <unordered_map>

#include "neslc/front/typed.hpp"

namespace neslc {

class Compiler;

/// Does the primitive print or write, and may nevertheless be used inside an apply-to-each?
bool prints(const Definition& primitive);

/// Tells which expressions have effects: they print or write, draw random numbers, or call a
/// function that is observed while it runs. Failing is none.
class Effects {
 public:
  explicit Effects(const Compiler& compiler) : compiler_(compiler) {}

  /// May the expression have effects? What calls a function that is not known by its name may.
  /// `substituted` gives what a type in the expression stands for.
  bool of(const Expr& expr, const std::function<TypePtr(TypePtr)>& substituted);

 private:
  bool of_function(const Definition& definition);

  const Compiler& compiler_;
  std::unordered_map<const Definition*, bool> known_;
};

}  // namespace neslc
