// What the two halves of the kernel verifier share: bindings and thunks.
#pragma once

#include <string>
#include <vector>

#include "vcode/diagnostics.hpp"
#include "vcode/kernel.hpp"

namespace vcode {

/// Where the value of a vector or descriptor comes from.
struct KernelSource {
  enum class Kind : std::uint8_t { None, Input, Result };
  Kind kind = Kind::None;
  Binding::Kind binding{};  // of a result
  Space space;              // of a result's binding
};

/// Which index a thunk has, and so how it may subscript (rule 3).
struct ThunkPlace {
  bool has_index = true;
  Space space;                   // that the index runs over
  bool in_once = false;          // the body of a ONCE
  std::string_view what;         // for messages: "elements", "flags", ...
  const Thunk* state = nullptr;  // of a function of a state: where the state begins
};

/// The state of one kernel's verification.
class KernelChecks {
 public:
  KernelChecks(const Kernel& kernel, Diagnostics& diagnostics)
      : kernel_(kernel),
        diagnostics_(diagnostics),
        arrays_(kernel.arrays.size()),
        segdes_(kernel.segdes.size()),
        size_known_(kernel.sizes.size()) {}

  const Kernel& kernel() const { return kernel_; }
  bool failed() const { return failed_; }
  void set_binding(const Binding& binding) { binding_ = &binding; }

  void fail(ErrorCode code, Span span, std::string message, std::string hint = {});

  KernelSource& array(ArrayId id) { return arrays_[id]; }
  KernelSource& segdes(SegdesId id) { return segdes_[id]; }
  /// Sizes whose value is known before the kernel has run to its end.
  bool size_known(SizeId id) const { return kernel_.sizes[id].literal || size_known_[id]; }
  void set_size_known(SizeId id) { size_known_[id] = true; }

  /// Checks the nodes of a thunk with `results` results (at least one if that is 0). False if
  /// something is wrong with them.
  bool thunk(const Thunk& thunk, const ThunkPlace& place, std::size_t results);

 private:
  bool node(const Thunk& thunk, std::size_t at, const ThunkPlace& place);
  bool state(const ThunkNode& node, const ThunkPlace& place);
  bool apply(const Thunk& thunk, const ThunkNode& node, const ThunkPlace& place);
  bool conditional(const Thunk& thunk, const ThunkNode& node);
  bool subscript(const Thunk& thunk, const ThunkNode& node, const ThunkPlace& place);
  bool segment_operator(const Thunk& thunk, const ThunkNode& node, const ThunkPlace& place);
  bool needs_int(const Thunk& thunk, const ThunkNode& node, std::string_view what);

  const Kernel& kernel_;
  Diagnostics& diagnostics_;
  const Binding* binding_ = nullptr;
  std::vector<KernelSource> arrays_, segdes_;
  std::vector<bool> size_known_;
  bool failed_ = false;
};

}  // namespace vcode
