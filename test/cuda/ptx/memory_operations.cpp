// Loads, stores and atomics of all spaces, and addresses.
//
// A generic address is one of the host: of device memory, of the shared memory of the block, of the
// thread's local memory, of the parameters. Addresses of a single space begin at bases of their own
// (instruction.hpp); only those of global memory are generic as they are.
#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "cuda/ptx/fault.hpp"
#include "cuda/ptx/operation_table.hpp"

namespace ptx_machine {
namespace {

enum class Space { Generic, Global, Shared, Local, Parameter };

std::uint64_t host_address(const void* data) {
  return reinterpret_cast<std::uint64_t>(data);
}

Access access_of(const Thread& t, bool strong) {
  Access access;
  access.phase = t.block->shared.phase();
  access.warp_phase = t.warp_phase;
  access.thread = static_cast<std::uint16_t>(t.index & 0x7FF);
  access.strong = strong ? 1 : 0;
  return access;
}

/// Where a generic address leads.
Space space_of(const Thread& t, std::uint64_t address) {
  const auto within = [&](const auto& memory) {
    return address - host_address(memory.data()) < memory.size();
  };
  Block& block = *t.block;
  if (block.memory->contains(address)) return Space::Global;
  if (address - host_address(block.shared.data()) < block.shared.size()) return Space::Shared;
  if (within(*block.parameters)) return Space::Parameter;
  return Space::Local;
}

/// The window of a space, as seen by a thread: generic address = first + (address - base).
struct Window {
  std::uint64_t base = 0;
  const void* data = nullptr;
  std::size_t bytes = 0;
};
Window window_of(Thread& t, Space space) {
  Block& block = *t.block;
  switch (space) {
    case Space::Shared:
      return {kSharedBase, block.shared.data(), block.shared.size()};
    case Space::Local:
      return {kLocalBase, t.local.data(), t.local.size()};
    case Space::Parameter:
      return {kParameterBase, block.parameters->data(), block.parameters->size()};
    default:
      return {};
  }
}

const char* name_of(Space space) {
  constexpr std::array<const char*, 5> kNames = {"generic", "global", "shared", "local",
                                                 "parameter"};
  return kNames[static_cast<std::size_t>(space)];
}

struct Place {
  std::uint64_t address;
  std::size_t bytes;
  bool strong;
  /// Bytes that nobody has written: found by reads, given by writes.
  std::uint32_t unwritten = 0;
};

/// Checks an access and returns where its bytes are on the host.
template <Space kSpace, bool kWrite>
std::byte* reach(Thread& t, Place& place) {
  if (place.address % place.bytes != 0) {
    throw Fault(fmt::format("{} memory: {} of {} bytes at {:#x}, which is not aligned to them",
                            name_of(kSpace), kWrite ? "write" : "read", place.bytes,
                            place.address));
  }
  Space space = kSpace;
  std::uint64_t offset = place.address;
  if constexpr (kSpace == Space::Generic) {
    space = space_of(t, place.address);
    if (space != Space::Global) offset -= host_address(window_of(t, space).data);
  } else if constexpr (kSpace == Space::Parameter) {
    // What functions are called with lies among the locals.
    if (place.address >= kLocalBase) space = Space::Local;
    offset -= window_of(t, space).base;
  } else if constexpr (kSpace != Space::Global) {
    offset -= window_of(t, space).base;
  }
  Block& block = *t.block;
  switch (space) {
    case Space::Global:
      if constexpr (kWrite) {
        block.memory->check_write(place.address, place.bytes, place.unwritten);
      } else {
        place.unwritten = block.memory->check_read(place.address, place.bytes);
      }
      return reinterpret_cast<std::byte*>(place.address);
    case Space::Shared:
      if constexpr (kWrite) {
        block.shared.write(offset, place.bytes, place.unwritten, access_of(t, place.strong));
      } else {
        place.unwritten = block.shared.read(offset, place.bytes, access_of(t, place.strong));
      }
      return block.shared.data() + offset;
    case Space::Parameter:
      if (kWrite || offset > block.parameters->size() ||
          place.bytes > block.parameters->size() - offset) {
        throw Fault(fmt::format("{} of {} bytes at {} of the parameters, which are {} bytes",
                                kWrite ? "write" : "read", place.bytes,
                                static_cast<std::int64_t>(offset), block.parameters->size()));
      }
      return const_cast<std::byte*>(block.parameters->data()) + offset;
    default:
      if constexpr (kWrite) {
        t.local.write(offset, place.bytes, place.unwritten);
      } else {
        place.unwritten = t.local.read(offset, place.bytes);
      }
      return t.local.data() + offset;
  }
}

/// All bits of the bytes of a mask.
template <class T>
T bits_of_bytes(std::uint32_t mask) {
  std::uint64_t bits = 0;
  for (std::size_t k = 0; k < sizeof(T); ++k) {
    if ((mask >> k & 1) != 0) bits |= std::uint64_t{0xFF} << (8 * k);
  }
  return static_cast<T>(bits);
}
/// The bytes that have any of the bits.
template <class T>
std::uint32_t bytes_of_bits(T bits) {
  std::uint32_t mask = 0;
  for (std::size_t k = 0; k < sizeof(T); ++k) {
    if ((static_cast<std::uint64_t>(bits) >> (8 * k) & 0xFF) != 0) mask |= 1u << k;
  }
  return mask;
}

template <Space kSpace, class T, int kCount, bool kStrong>
void load(const Instruction& i, Thread& t) {
  Place place{t.get<std::uint64_t>(i.r[kCount]) + static_cast<std::uint64_t>(i.offset),
              kCount * sizeof(T), kStrong};
  const std::byte* from = reach<kSpace, false>(t, place);
  for (std::size_t k = 0; k < kCount; ++k) {
    Bits<T> value;
    std::memcpy(&value, from + k * sizeof(T), sizeof value);
    t.set(i.r[k], value, bits_of_bytes<Bits<T>>(place.unwritten >> (k * sizeof(T))));
  }
  if constexpr (kStrong) t.pauses = true;  // perhaps it waits for what another one writes
}

template <Space kSpace, class T, int kCount, bool kStrong>
void store(const Instruction& i, Thread& t) {
  Place place{t.get<std::uint64_t>(i.r[0]) + static_cast<std::uint64_t>(i.offset),
              kCount * sizeof(T), kStrong};
  for (std::size_t k = 0; k < kCount; ++k) {
    const auto unwritten = t.unwritten<Bits<T>>(i.r[k + 1]);
    if (unwritten != 0) place.unwritten |= bytes_of_bits(unwritten) << (k * sizeof(T));
  }
  // Of what is undefined the compilers for devices keep no bits apart: what others wait for might
  // not come.
  if (kStrong && place.unwritten != 0) {
    refuse_unwritten(bits_of_bytes<std::uint64_t>(place.unwritten));
  }
  std::byte* to = reach<kSpace, true>(t, place);
  for (std::size_t k = 0; k < kCount; ++k) {
    const auto value = t.moved<Bits<T>>(i.r[k + 1]);
    std::memcpy(to + k * sizeof(T), &value, sizeof value);
  }
  if constexpr (kStrong) t.pauses = true;
}

/// kResult: is there a register for what was there before (atom), or not (red)?
template <Space kSpace, class T, auto kFunction, bool kResult>
void atomic(const Instruction& i, Thread& t) {
  constexpr std::size_t kAddress = kResult ? 1 : 0;
  Place place{t.get<std::uint64_t>(i.r[kAddress]) + static_cast<std::uint64_t>(i.offset), sizeof(T),
              true};
  std::byte* data = reach<kSpace, false>(t, place);
  if (place.unwritten != 0) refuse_unwritten(bits_of_bytes<std::uint64_t>(place.unwritten));
  reach<kSpace, true>(t, place);
  T old;
  std::memcpy(&old, data, sizeof old);
  const auto changed =
      static_cast<T>(kFunction(old, t.get<T>(i.r[kAddress + 1]), t.get<T>(i.r[kAddress + 2])));
  std::memcpy(data, &changed, sizeof changed);
  if constexpr (kResult) t.set(i.r[0], old);
  t.pauses = true;
}

void copy_local(const Instruction& i, Thread& t) {
  t.local.copy(t.get<std::uint64_t>(i.r[0]) - kLocalBase, t.get<std::uint64_t>(i.r[1]) - kLocalBase,
               t.get<std::uint64_t>(i.r[2]));
}

const char* suffix_of(Space space) {
  switch (space) {
    case Space::Global:
      return ".global";
    case Space::Shared:
      return ".shared";
    case Space::Local:
      return ".local";
    case Space::Parameter:
      return ".param";
    default:
      return "";
  }
}

template <Space kSpace, class T, bool kStrong>
void add_accesses(OperationTable& table, const std::string& how, const std::string& type) {
  table.add("ld" + how + "." + type, load<kSpace, T, 1, kStrong>);
  table.add("st" + how + "." + type, store<kSpace, T, 1, kStrong>);
  if constexpr (!kStrong) {
    table.add("ld" + how + ".v2." + type, load<kSpace, T, 2, false>);
    table.add("st" + how + ".v2." + type, store<kSpace, T, 2, false>);
    if constexpr (sizeof(T) <= 4) {
      table.add("ld" + how + ".v4." + type, load<kSpace, T, 4, false>);
      table.add("st" + how + ".v4." + type, store<kSpace, T, 4, false>);
    }
  }
}

/// The unsigned types also have the names of plain bits.
template <class F>
void for_memory_types(const F& f) {
  for_types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
            std::int64_t, std::uint64_t, float, double>([&]<class T>(T) {
    f(T{}, type_name<T>());
    if constexpr (std::is_unsigned_v<T>) f(T{}, "b" + std::to_string(8 * sizeof(T)));
  });
}

template <Space kSpace>
void add_space(OperationTable& table) {
  const std::string space = suffix_of(kSpace);
  for_memory_types([&]<class T>(T, const std::string& type) {
    add_accesses<kSpace, T, false>(table, space, type);
    if constexpr (kSpace == Space::Global) {
      table.add("ld.global.nc." + type, load<kSpace, T, 1, false>);
      table.add("ld.global.nc.v2." + type, load<kSpace, T, 2, false>);
      table.add("ld.global.nc.v4." + type, load<kSpace, T, 4, false>);
      table.add("ld.const." + type, load<kSpace, T, 1, false>);
    }
    if constexpr (kSpace != Space::Local && kSpace != Space::Parameter) {
      add_accesses<kSpace, T, true>(table, ".volatile" + space, type);
      for (const std::string scope : {"cta", "gpu", "sys"}) {
        for (const std::string order : {"relaxed", "acquire"}) {
          const std::string name = "ld." + order + "." + scope + space;
          table.add(name + "." + type, load<kSpace, T, 1, true>);
          table.add(name + ".v2." + type, load<kSpace, T, 2, true>);
        }
        for (const std::string order : {"relaxed", "release"}) {
          const std::string name = "st." + order + "." + scope + space;
          table.add(name + "." + type, store<kSpace, T, 1, true>);
          table.add(name + ".v2." + type, store<kSpace, T, 2, true>);
        }
      }
    }
  });
}

template <Space kSpace, class T, auto kFunction>
void add_atomic(OperationTable& table, const std::string& operation, const std::string& type) {
  const std::string space = suffix_of(kSpace);
  std::vector<std::string> orders = {""};
  for (const std::string order : {".relaxed", ".acquire", ".release", ".acq_rel"}) {
    for (const std::string scope : {".cta", ".gpu", ".sys"}) orders.push_back(order + scope);
  }
  for (const std::string& order : orders) {
    const std::string rest = order + space + "." + operation + "." + type;
    table.add("atom" + rest, atomic<kSpace, T, kFunction, true>);
    table.add("red" + rest, atomic<kSpace, T, kFunction, false>);
  }
}

template <Space kSpace>
void add_atomics(OperationTable& table) {
  for_types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>([&]<class T>(T) {
    const std::string type = type_name<T>();
    if (type != "s64") {
      add_atomic<kSpace, T, [](T old, T a, T) {
        return static_cast<std::uint64_t>(old) + static_cast<std::uint64_t>(a);
      }>(table, "add", type);
    }
    add_atomic<kSpace, T, [](T old, T a, T) { return std::min(old, a); }>(table, "min", type);
    add_atomic<kSpace, T, [](T old, T a, T) { return std::max(old, a); }>(table, "max", type);
  });
  for_types<std::uint32_t, std::uint64_t>([&]<class T>(T) {
    const std::string type = "b" + std::to_string(8 * sizeof(T));
    add_atomic<kSpace, T, [](T, T a, T) { return a; }>(table, "exch", type);
    add_atomic<kSpace, T, [](T old, T a, T b) { return old == a ? b : old; }>(table, "cas", type);
    add_atomic<kSpace, T, [](T old, T a, T) { return old & a; }>(table, "and", type);
    add_atomic<kSpace, T, [](T old, T a, T) { return old | a; }>(table, "or", type);
    add_atomic<kSpace, T, [](T old, T a, T) { return old ^ a; }>(table, "xor", type);
  });
}

template <Space kSpace, bool kToGeneric>
void convert_address(const Instruction& i, Thread& t) {
  const auto address = t.get<std::uint64_t>(i.r[1]);
  const Window window = window_of(t, kSpace);
  const std::uint64_t difference = host_address(window.data) - window.base;
  t.set(i.r[0], kToGeneric ? address + difference : address - difference);
}

template <Space kSpace>
void add_address_conversions(OperationTable& table, const std::string& space) {
  table.add("cvta." + space + ".u64", convert_address<kSpace, true>);
  table.add("cvta.to." + space + ".u64", convert_address<kSpace, false>);
}

}  // namespace

void add_memory_operations(OperationTable& table) {
  add_space<Space::Generic>(table);
  add_space<Space::Global>(table);
  add_space<Space::Shared>(table);
  add_space<Space::Local>(table);
  add_space<Space::Parameter>(table);
  table.add(kCopyLocal, copy_local);
  add_atomics<Space::Generic>(table);
  add_atomics<Space::Global>(table);
  add_atomics<Space::Shared>(table);
  add_address_conversions<Space::Global>(table, "global");
  add_address_conversions<Space::Global>(table, "const");
  add_address_conversions<Space::Shared>(table, "shared");
  add_address_conversions<Space::Local>(table, "local");
  add_address_conversions<Space::Parameter>(table, "param");
}

}  // namespace ptx_machine
