// What evaluating an expression does besides giving its value.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "neslc/front/typed.hpp"

namespace neslc {

class Compiler;

/// Does the primitive print or write, and may nevertheless be used inside an apply-to-each?
bool prints(const Definition& primitive);

/// Tells which expressions have effects: they print or write, draw random numbers, or call a
/// function that is observed while it runs. Failing is none.
class Effects {
 public:
  explicit Effects(Compiler& compiler) : compiler_(compiler) {}

  /// May the expression have effects, itself or by what it calls, or hands to a function that calls
  /// it? `instantiation`: what the variables in its types stand for.
  bool of(const Expr& expr, const std::vector<TypePtr>& instantiation);

 private:
  bool of_definition(const Definition& definition);
  bool of_values(TypePtr type);

  Compiler& compiler_;
  std::unordered_map<const Definition*, bool> known_;
  std::unordered_set<const Definition*> active_;  // being looked at
};

}  // namespace neslc
