#include "cvl-cpu/native_code.hpp"

#include <sys/mman.h>

#include "cvl-cpu/native_writers.hpp"
#include "vcode/math_functions.hpp"

namespace cvl::cpu {
namespace {

using vcode::Op;

/// The code of a loop.
struct Made {
  void* memory = MAP_FAILED;
  std::size_t bytes = 0;
  std::int64_t group = 0;
};

template <class Write, class Loop>
Made make_code(const Write& write, const Loop& loop, Isa isa, Widths widths) {
  Made made;
  asmjit::CodeHolder code;
  if (code.init(asmjit::Environment::host()) != asmjit::kErrorOk) return made;
  made.group = write(loop, code, isa, widths);
  if (made.group == 0 || code.flatten() != asmjit::kErrorOk ||
      code.resolveUnresolvedLinks() != asmjit::kErrorOk) {
    return made;
  }
  // Memory is never to be written and to be run at the same time.
  made.bytes = code.codeSize();
  void* memory =
      mmap(nullptr, made.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return made;
  if (code.relocateToBase(reinterpret_cast<std::uintptr_t>(memory)) == asmjit::kErrorOk &&
      code.copyFlattenedData(memory, made.bytes) == asmjit::kErrorOk &&
      mprotect(memory, made.bytes, PROT_READ | PROT_EXEC) == 0) {
    made.memory = memory;
  } else {
    munmap(memory, made.bytes);
  }
  return made;
}

}  // namespace

bool has_serial_form(Isa isa) {
  return isa != Isa::Baseline;
}

bool has_native_form(Isa isa, Widths widths, Op op, Type written) {
  if (isa == Isa::Baseline || vcode::is_math_function(op)) return false;
  const bool avx512 = isa == Isa::V4;
  const bool wide = widths.int_bytes == 8;
  switch (op) {
    case Op::Divide:
      return written == Type::Float || !wide;
    case Op::Modulo:
      return !wide;
    case Op::Multiply:
      return avx512 || written == Type::Float || !wide;
    case Op::ShiftRight:
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Round:
    case Op::IntToFloat:
      return avx512 || !wide;
    default:
      return true;
  }
}

bool has_native_fold(Isa isa, Widths widths, Op op, Type type) {
  switch (op) {
    case Op::AddReduce:
      return has_native_form(isa, widths, Op::Add, type);
    case Op::MultiplyReduce:
      return has_native_form(isa, widths, Op::Multiply, type);
    case Op::MaxReduce:
    case Op::MinReduce:
      return isa != Isa::Baseline;
    default:
      return false;
  }
}

bool has_native_result(Isa isa, Type type) {
  return isa == Isa::V4 || (isa == Isa::V3 && type != Type::Bool);
}

bool has_native_backwards(Isa isa, Type type) {
  return isa != Isa::Baseline && type != Type::Bool;
}

NativeCode::NativeCode(void* memory, std::size_t bytes, std::int64_t group)
    : memory_(memory),
      bytes_(bytes),
      group_(group),
      function_(reinterpret_cast<Function>(memory)) {}

std::int64_t NativeCode::reach(const std::byte* const* at, std::int64_t n) const {
  if (n < group_) return 0;
  if (n % group_ == 0) return n;
  for (const std::uint32_t result : written_) {
    for (const std::uint32_t operand : read_) {
      if (at[result] == at[operand]) return n & -group_;
    }
  }
  return n;
}

NativeCode::~NativeCode() {
  munmap(memory_, bytes_);
}

std::unique_ptr<NativeCode> NativeCode::make(const NativeLoop& loop, Isa isa, Widths widths) {
  const Made made = make_code(write_loop, loop, isa, widths);
  if (made.memory == MAP_FAILED) return nullptr;
  std::unique_ptr<NativeCode> code(new NativeCode(made.memory, made.bytes, made.group));
  for (const NativeLoop::Value& value : loop.values) {
    if (value.kind == NativeLoop::Value::Kind::Read) code->read_.push_back(value.place);
  }
  for (const NativeLoop::Result& result : loop.results) code->written_.push_back(result.place);
  return code;
}

std::unique_ptr<NativeCode> NativeCode::make(const NativeRounds& rounds, Isa isa, Widths widths) {
  const Made made =
      make_code(rounds.serial ? write_serial_rounds : write_rounds, rounds, isa, widths);
  if (made.memory == MAP_FAILED) return nullptr;
  return std::unique_ptr<NativeCode>(new NativeCode(made.memory, made.bytes, made.group));
}

std::unique_ptr<NativeCode> NativeCode::make(const NativePieces& pieces, Isa isa, Widths widths) {
  const Made made = make_code(pieces.side_by_side ? write_rows : write_pieces, pieces, isa, widths);
  if (made.memory == MAP_FAILED) return nullptr;
  return std::unique_ptr<NativeCode>(new NativeCode(made.memory, made.bytes, made.group));
}

}  // namespace cvl::cpu
