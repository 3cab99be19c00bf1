// Instructions and constants: what function bodies and the SPEC of a kernel consist of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "vcode/opcodes.hpp"
#include "vcode/source.hpp"

namespace vcode {

/// How a constant was written; printing keeps it.
enum class ConstantForm : std::uint8_t { Scalar, Vector, String, Stream };

/// One CONST operand, `type` being that of its value: characters (form String) are of type Int.
/// Integers are kept in 64 bits and checked against the run's INT when loaded.
/// For type Segdes the numbers are segment lengths (Scalar form: one segment).
struct Constant {
  Type type = Type::Int;
  ConstantForm form = ConstantForm::Vector;
  std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::uint8_t>> elements;
  std::vector<Span> element_spans;  // places of integers beyond 32 bits only; else empty

  const std::vector<std::int64_t>& ints() const { return std::get<0>(elements); }
  const std::vector<double>& floats() const { return std::get<1>(elements); }
  const std::vector<std::uint8_t>& bools() const { return std::get<2>(elements); }
  std::size_t size() const;
  /// Same type, form and elements, reals bit by bit; places do not count.
  bool operator==(const Constant& other) const;
};

inline constexpr std::uint32_t kNoScope = ~std::uint32_t{0};

/// One instruction. What `a` and `b` hold depends on the operation:
///   COPY POP CPOP   count, start
///   CALL            index into Program::names; after linking the index of the function
///   RUN             index into Program::names; after linking the index of the kernel
///   CONST           index into the constants
///   IF              after linking: index behind its ELSE or, if it has none, behind its ENDIF,
///                   where a condition F continues
///   ELSE            after linking: index behind its ENDIF, where the end of the first arm
///   continues
struct Instruction {
  Op op{};
  Type type = Type::Int;  // the written type, for operations that take one
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  Span span;  // from the operation's word to its last argument on the same line
  /// In a program that was compiled or optimized: whose text the span belongs to, a number that
  /// whoever made the program can explain (ir::Module::scopes).
  std::uint32_t scope = kNoScope;
};

}  // namespace vcode
