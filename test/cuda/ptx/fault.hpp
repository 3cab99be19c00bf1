// What a kernel did that a device does not forgive.
#pragma once

#include <stdexcept>

namespace ptx_machine {

/// The message says what and, once it has left the machine, in which thread of which kernel and at
/// which instruction.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ptx_machine
