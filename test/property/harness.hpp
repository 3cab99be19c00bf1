// Runs one operation on the reference and on every backend under test, and says what differs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "property/backends.hpp"
#include "property/operands.hpp"

namespace property {

class Harness {
 public:
  Harness(const cvl::Widths& widths, std::uint64_t seed);

  /// Runs `operation` on these operands everywhere. Operands are handed over unshared, shared with
  /// another holder, or the same vector twice; shared ones must be unchanged afterwards. Where the
  /// reference fails, every library must fail with the same code and name the same position.
  /// Returns what differs, empty if all is well.
  std::string check(const OperandChoice& operation, const std::vector<Operand>& operands);

  reference::Widths widths() const { return widths_; }
  Random& random() { return random_; }

 private:
  struct Instance {
    std::string name;
    std::unique_ptr<cvl::Backend> backend;
  };
  struct Run;

  Run run(cvl::Backend& backend, const OperandChoice& operation,
          const std::vector<Operand>& operands, std::uint64_t layout_seed);

  reference::Widths widths_;
  Random random_;
  std::vector<std::vector<Instance>> libraries_;
};

/// All widths of a run: INT 32 and 64, FLOAT 32 and 64.
std::vector<cvl::Widths> all_widths();

/// "op TYPE, INT 32, FLOAT 64": what a message begins with.
std::string label(const OperandChoice& operation);

}  // namespace property
