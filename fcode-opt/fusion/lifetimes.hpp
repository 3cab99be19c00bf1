// Which values are still read behind a place in a function.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "fcode-opt/ir.hpp"

namespace fcode {

/// Of one function, whose statements may be replaced from front to back while it is asked.
class Lifetimes {
 public:
  explicit Lifetimes(const Function& function);

  /// Of each value: is it read behind the first `end` statements of the block, on the way that
  /// leads through this block?
  std::vector<bool> read_behind(const Block& block, std::size_t end) const;

 private:
  void enter(const Block& block, std::vector<bool> behind);

  std::map<const Block*, std::vector<bool>> behind_;  // the block
};

}  // namespace fcode
