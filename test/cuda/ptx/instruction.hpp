// Decoded instructions, and the thread that runs them.
//
// Everything an instruction reads or writes is a register: constants and special registers have
// places among the registers of a thread too. A value lies in the low bytes of eight; narrower ones
// are extended by their sign, or by zeros where their type has none, as loads into wider registers
// want it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "cuda/ptx/block_memory.hpp"
#include "cuda/ptx/memory.hpp"

namespace ptx_machine {

struct Thread;
struct Block;

struct Instruction {
  using Run = void (*)(const Instruction&, Thread&);
  /// Of instructions by which the threads of a warp work together: runs for all of them at once.
  using RunTogether = void (*)(const Instruction&, const std::vector<Thread*>&);

  Run run = nullptr;
  RunTogether run_together = nullptr;
  /// Registers in the order of the operands, those in braces and brackets included.
  std::array<std::uint32_t, 6> r{};
  /// `[register + offset]`.
  std::int64_t offset = 0;
  /// The index of the instruction that a branch or a call goes on with.
  std::uint32_t target = 0;
  /// Bit k: is byte k of what is loaded used at all?
  std::uint32_t used_bytes = ~0u;
  std::uint32_t guard = 0;
  bool guarded = false;
  bool guard_value = true;
  int line = 0;
};

/// Addresses that are not generic begin here, each kind in a window of its own, so that null and
/// the addresses of another kind lead nowhere.
inline constexpr std::uint64_t kSharedBase = 0x400;
inline constexpr std::uint64_t kParameterBase = 0x100000;
inline constexpr std::uint64_t kLocalBase = 0x1000000;

/// Registers with the same place in every kernel.
enum SpecialRegister : std::uint32_t { kTid, kCtaid, kNtid, kNctaid, kLaneid, kSpecialRegisters };

struct Thread {
  enum class State : std::uint8_t { Ready, AtBarrier, AtWarp, Done };

  std::uint64_t* registers = nullptr;
  const Instruction* next = nullptr;
  State state = State::Ready;
  /// Lets others run before it goes on.
  bool pauses = false;
  std::uint32_t index = 0;
  std::uint32_t carry = 0;
  std::uint32_t warp_mask = 0;  // the lanes it waits for
  std::uint16_t warp_phase = 0;
  std::vector<const Instruction*> calls;
  LocalMemory local;
  Block* block = nullptr;

  template <class T>
  T get(std::uint32_t at) const {
    if constexpr (std::is_same_v<T, bool>) {
      return registers[at] != 0;
    } else {
      T value;
      std::memcpy(&value, &registers[at], sizeof value);
      return value;
    }
  }
  template <class T>
  void set(std::uint32_t at, T value) {
    if constexpr (std::is_integral_v<T>) {
      registers[at] = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
      if constexpr (std::is_unsigned_v<T>) registers[at] = value;
    } else {
      registers[at] = 0;
      std::memcpy(&registers[at], &value, sizeof value);
    }
  }
};

/// What the threads of a block share.
struct Block {
  std::int64_t index = 0;
  const Instruction* code = nullptr;
  const std::vector<std::byte>* parameters = nullptr;
  Memory* memory = nullptr;
  SharedMemory shared;
};

}  // namespace ptx_machine
