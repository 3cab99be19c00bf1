// The kernels of a program: equal ones exist once, names lead back to the source.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "fcode-opt/ir.hpp"

namespace fcode {

/// Everything that decides what a kernel does, as text without names: kernels with equal keys are
/// the same up to renaming.
std::string kernel_key(const vcode::Kernel& kernel);

class KernelPool {
 public:
  explicit KernelPool(Module& module);
  /// The index in Module::kernels of the kernel or of an equal one. A new one is called after the
  /// source function that `origin` tells.
  std::uint32_t add(vcode::Kernel kernel, const Function& function, const Origin& origin);

 private:
  Module& module_;
  std::map<std::string, std::uint32_t> known_;
  std::map<std::string, std::uint32_t> names_;  // how many kernels of a function there are
};

}  // namespace fcode
