// The kernels of a program in the form that the machine runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cvl/backend.hpp"
#include "cvl/value.hpp"
#include "machine/warm_up.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/program.hpp"

namespace vinterp {

/// A length that a kernel's IN mentions again, or as a number.
struct KernelLength {
  std::uint32_t operand = 0;
  bool described = false;  // the data length of a descriptor
  std::uint32_t like = 0;  // the operand that is as long, if there is no number
  bool like_described = false;
  std::optional<std::int64_t> number;
};

/// One kernel: what RUN must find on the stack, and how it is run.
struct LoadedKernel {
  explicit LoadedKernel(const vcode::LinkedKernel& kernel);

  const vcode::Kernel* definition;
  std::optional<std::uint32_t> spec;   // index of the function that its SPEC has become
  std::vector<std::uint8_t> accepted;  // bit t: the operand may be of type t
  std::vector<KernelLength> lengths;   // that the operands must have
  std::uint32_t results;
  WarmUp warm_up;
  bool asked = false;                             // has the library been asked to prepare it?
  std::unique_ptr<cvl::PreparedKernel> prepared;  // null: the SPEC is run

  /// Are the operands (deepest first) of the right types?
  bool types_fit(const cvl::Value* operands) const {
    for (std::size_t i = 0; i < accepted.size(); ++i) {
      if (((accepted[i] >> static_cast<unsigned>(operands[i].type())) & 1u) == 0) return false;
    }
    return true;
  }
  /// Are they, of the right types, as long as IN says?
  bool lengths_fit(const cvl::Value* operands) const;
};

/// Reports (KernelWidth) that the file demands widths that this run does not have.
void check_demands(const vcode::LinkedProgram& program, const cvl::Widths& widths,
                   vcode::Diagnostics& diagnostics);

/// All kernels of a program, in its order.
std::vector<LoadedKernel> load_kernels(const vcode::LinkedProgram& program);

}  // namespace vinterp
