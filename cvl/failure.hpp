// A failure of an operation, on its way to the machine, which adds function and line.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "vcode/error_codes.hpp"

namespace cvl {

/// Thrown by vector libraries and checks; never crosses the border of the machine.
class Failure : public std::exception {
 public:
  Failure(vcode::ErrorCode code, std::string message, std::vector<std::string> notes = {},
          std::string hint = {});

  vcode::ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::string& hint() const { return hint_; }

  /// The instruction that failed (Backend::origin), where the failure is reported later than it
  /// happened; nothing when it is the one being run.
  std::optional<std::uint32_t> origin() const { return origin_; }
  void set_origin(std::uint32_t origin) { origin_ = origin; }

  const char* what() const noexcept override { return message_.c_str(); }

 private:
  vcode::ErrorCode code_;
  std::string message_;
  std::vector<std::string> notes_;
  std::string hint_;
  std::optional<std::uint32_t> origin_;
};

/// "1.5 GiB", "640 bytes": sizes as messages show them.
std::string format_bytes(std::size_t bytes);

}  // namespace cvl
