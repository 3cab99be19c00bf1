// The compiler of CUDA C++ at run time.
//
// NVRTC is loaded when it is first needed, so that the program starts without it. It needs neither
// a device nor a driver.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cvl::cuda::codegen {

class Nvrtc {
 public:
  /// The library of this machine; null, and the reason in `why`, when there is none. Thread-safe.
  static const Nvrtc* find(std::string& why);

  /// "13.0".
  const std::string& version() const { return version_; }
  /// Compute capabilities that it can compile for, such as 90, ascending.
  const std::vector<int>& architectures() const { return architectures_; }
  /// The greatest of these whose machine code runs on a device of compute capability `capability`.
  std::optional<int> architecture_for(int capability) const;

  enum class Output { MachineCode, Ptx };
  /// Nothing, and what the compiler says in `log`, when the source is wrong.
  std::optional<std::string> compile(const std::string& source, int architecture, std::string& log,
                                     Output output = Output::MachineCode) const;

 private:
  struct Functions;
  explicit Nvrtc(const Functions& functions);

  const Functions& functions_;
  std::string version_;
  std::vector<int> architectures_;
};

/// Everything but compiler, source and architecture that the result depends on.
std::string compilation_inputs();

}  // namespace cvl::cuda::codegen
