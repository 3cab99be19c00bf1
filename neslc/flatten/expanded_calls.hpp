// Calls inside of loops that their functions' code is put in the place of, before anything is
// flattened.
//
//   function at(m, i, j) = m[i][j];
//   function column(m, j) = {row[j] : row in m};
//
// What loops read again and again (flatten_reads.cpp) is known by its form, m[i][j] or
// {row[j] : row in m}, which such functions hide.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "neslc/front/typed.hpp"

namespace neslc {

class Compiler;

class ExpandedCalls {
 public:
  /// `compiler` must outlive this.
  explicit ExpandedCalls(Compiler& compiler) : compiler_(compiler) {}

  /// The code with such calls expanded: the expression itself where there are none. What is copied
  /// lives as long as this. REQUIRES: `code` does, and is the code of a function or form.
  const Expr& of(const Expr& code);

 private:
  friend class ExpandingCopier;

  bool is_expanded(const Expr& expr);
  bool reads_by_parameter(const Definition& function);
  bool has_calls_in_loops(const Expr& code);

  Compiler& compiler_;
  std::unordered_map<const Expr*, const Expr*> known_;
  std::unordered_map<const Definition*, bool> reads_;  // by reads_by_parameter()
  // What copies are made of.
  std::vector<ExprPtr> copies_;
  std::deque<InlinedCall> calls_;
  std::vector<std::unique_ptr<Local>> locals_;
};

}  // namespace neslc
