// What the analysis of shapes has found of functions, for when it comes to them again.
//
// Passes that ask for shapes change few functions, and a function's signature depends on nothing
// but its code, what its callers guarantee, and the signatures of what it calls. So a walk through
// a function that would meet the same again is not made.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fcode-opt/shapes/signature.hpp"

namespace fcode {

class KnownWalks {
 public:
  struct Call {
    std::uint32_t callee = 0;
    SignatureShapes arguments;
    std::optional<SignatureShapes> results;  // the callee's, as they were known
  };
  struct Walk {
    SignatureShapes parameters;
    std::vector<Call> calls;                   // in order, up to where the walk ended
    std::optional<SignatureShapes> signature;  // nothing: the end is not reached
  };

  /// Forgets those through functions that have changed, or by an analysis of another kind.
  void keep_valid(const Module& module, std::uint8_t kind);
  std::vector<Walk>& of(std::uint32_t function) { return functions_[function].walks; }

 private:
  struct Walked {
    std::uint64_t code = 0;
    std::vector<Walk> walks;
  };
  std::vector<Walked> functions_;
};

}  // namespace fcode
