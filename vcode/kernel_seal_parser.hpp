// The clauses REACH and SEAL, which end the head of a kernel definition.
#pragma once

#include <optional>

#include "vcode/kernel_scope.hpp"
#include "vcode/kernel_seal.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {

/// Serves one kernel, whose operands `scope` knows and whose definition begins at `begin`.
class KernelSealParser {
 public:
  KernelSealParser(TokenReader& reader, KernelScope& scope, Place begin)
      : reader_(reader), scope_(scope), begin_(begin) {}

  /// Reads the clauses that are there. False: one is wrong, which has been reported.
  bool run();

  /// With the reader at DO: how many bytes may be passed over behind it, up to SPEC, because they
  /// are what was sealed; nothing if there is no seal or it does not fit.
  std::optional<std::size_t> sealed_bytes() const;
  const KernelReach& reach() const { return reach_; }

 private:
  bool reach_clause();
  bool number(std::int64_t& value);
  bool measured();
  bool seal_clause();

  TokenReader& reader_;
  KernelScope& scope_;
  Place begin_;
  std::string_view head_;  // from KERNEL up to SEAL
  std::optional<KernelSeal> seal_;
  KernelReach reach_;
};

}  // namespace vcode
