// Kernels that can be run: the instructions of an entry and of the functions that it calls, decoded
// once, in one row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/ptx/cost.hpp"
#include "cuda/ptx/instruction.hpp"
#include "cuda/ptx/text.hpp"

namespace ptx_machine {

struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  std::vector<std::string> text;         // of each instruction, for messages
  std::uint32_t registers = 0;           // of a thread, those of constants included
  std::uint32_t first_constant = 0;      // where these begin
  std::vector<std::uint64_t> constants;  // their values
  std::size_t shared_bytes = 0;          // of a block
  std::size_t local_bytes = 0;           // of a thread
  std::size_t parameter_bytes = 0;
  std::uint64_t launches = 0;
  Cost cost;                                 // if it is counted
  std::vector<std::uint32_t> rejoin_points;  // divergence.hpp; made when they are first wanted
};

/// A module whose variables lie in the memory of a device, and stay there.
class Module {
 public:
  /// Throws Fault where the text is not understood.
  Module(std::string_view text, Memory& memory);

  std::vector<std::string> names() const;
  /// A kernel, decoded when it is first asked for. Throws Fault where it has an instruction that is
  /// not known.
  Kernel& kernel(const std::string& name);

 private:
  ModuleText text_;
  std::map<std::string, std::uint64_t> variables_;  // their addresses
  std::map<std::string, Kernel> kernels_;
};

}  // namespace ptx_machine
