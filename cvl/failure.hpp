// A failure of an operation, on its way to the machine, which adds function and line.
#pragma once

#include <exception>
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
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  vcode::ErrorCode code_;
  std::string message_;
  std::vector<std::string> notes_;
  std::string hint_;
};

/// "1.5 GiB", "640 bytes": sizes as messages show them.
std::string format_bytes(std::size_t bytes);

}  // namespace cvl
