// Decoded instructions, and the thread that runs them.
//
// Everything an instruction reads or writes is a register: constants and special registers have
// places among the registers of a thread too. A value lies in the low bytes of eight; narrower ones
// are extended by their sign, or by zeros where their type has none, as loads into wider registers
// want it.
//
// Each register knows which of its bits nobody has written: those that were loaded from bytes that
// nobody has written. They may be moved about and stored again, as compilers do with the gaps of
// structures; nothing may be computed from them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
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
  std::uint32_t guard = 0;
  bool guarded = false;
  bool guard_value = true;
  int line = 0;
  /// Of loads and stores that may reach the memory of the device: how many registers they move, and
  /// how many bytes.
  enum class AccessKind : std::uint8_t { None, Load, Store };
  AccessKind access = AccessKind::None;
  std::uint8_t values = 0;
  std::uint8_t bytes = 0;
};

/// Addresses that are not generic begin here, each kind in a window of its own, so that null and
/// the addresses of another kind lead nowhere.
inline constexpr std::uint64_t kSharedBase = 0x400;
inline constexpr std::uint64_t kParameterBase = 0x100000;
inline constexpr std::uint64_t kLocalBase = 0x1000000;

/// Registers with the same place in every kernel.
/// Those that end with Y: launches have one dimension, so that there is one row of blocks.
enum SpecialRegister : std::uint32_t {
  kTid,
  kCtaid,
  kCtaidY,
  kNtid,
  kNctaid,
  kNctaidY,
  kLaneid,
  kLanemaskLe,
  kLanemaskGe,
  kSpecialRegisters
};

struct Register {
  std::uint64_t value = 0;
  std::uint64_t unwritten = 0;  // bit by bit, extended as the value is
};
/// What no instruction has set. Compilers compute with it ahead of the branch that asks whether
/// there is anything to compute with; moved to where others see it, it is as bad as what nobody has
/// written.
inline constexpr Register kUndefined = {0x6B5E4D3C2B1A0F97, ~std::uint64_t{0}};

/// The integers with the bits of a type.
template <class T>
using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t,
                                std::conditional_t<std::is_same_v<T, double>, std::uint64_t, T>>;

/// Throws Fault: something is computed from these bits.
[[noreturn]] void refuse_unwritten(std::uint64_t bits);

struct Thread {
  enum class State : std::uint8_t { Ready, AtBarrier, AtWarp, Done };

  Register* registers = nullptr;
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

  /// A value to compute with. Throws Fault where nobody has written all of it.
  template <class T>
  T get(std::uint32_t at) const {
    const Register& from = registers[at];
    if constexpr (std::is_same_v<T, bool>) {
      if (from.unwritten != 0) refuse_unwritten(from.unwritten);
      return from.value != 0;
    } else {
      if (from.unwritten != 0 && unwritten<Bits<T>>(at) != 0 && !is_undefined<Bits<T>>(at)) {
        refuse_unwritten(from.unwritten);
      }
      return std::bit_cast<T>(moved<Bits<T>>(at));
    }
  }
  template <class T>
  void set(std::uint32_t at, T value) {
    registers[at] = {extended(std::bit_cast<Bits<T>>(value)), 0};
  }

  /// For instructions that only move bits: what is there, and which bits of it nobody has written.
  template <class T>
  T moved(std::uint32_t at) const {
    return static_cast<T>(registers[at].value);
  }
  template <class T>
  T unwritten(std::uint32_t at) const {
    return static_cast<T>(registers[at].unwritten);
  }
  template <class T>
  void set(std::uint32_t at, T value, T unwritten) {
    registers[at] = {extended(value), extended(unwritten)};
  }

 private:
  template <class T>
  bool is_undefined(std::uint32_t at) const {
    return moved<T>(at) == static_cast<T>(kUndefined.value) &&
           unwritten<T>(at) == static_cast<T>(kUndefined.unwritten);
  }
  template <class T>
  static std::uint64_t extended(T value) {
    if constexpr (std::is_signed_v<T>) return static_cast<std::uint64_t>(std::int64_t{value});
    return value;
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
