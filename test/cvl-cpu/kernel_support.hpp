// What tests of kernels share: libraries to run them on, operands, and results as bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl-cpu/kernel_builder.hpp"
#include "cvl/failure.hpp"

namespace kernel_test {

using cvl::Segdes;
using cvl::Value;
using cvl::Vector;
using cvl::cpu::CpuBackend;
using cvl::cpu::CpuOptions;
using cvl::cpu::Isa;
using vcode::Binding;
using Lengths = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

CpuOptions options(cvl::Widths widths, int threads, Isa isa);

/// Uploads numbers in the width of the run.
Vector upload(CpuBackend& cpu, Type type, const Numbers& numbers);
/// The elements of a vector, as bytes.
std::string bits(CpuBackend& cpu, const Vector& vector);
std::string bits(CpuBackend& cpu, const Value& value);

Segdes descriptor(CpuBackend& cpu, const Lengths& lengths);
/// n reproducible numbers between -scale and scale.
Numbers numbers(std::int64_t n, unsigned seed, double scale = 1.0);

/// Result `which` of an operation.
Value execute(CpuBackend& cpu, Op op, Type type, std::vector<Value> operands, int which = 0);
/// The results of a kernel, which must succeed.
std::vector<Value> run(CpuBackend& cpu, const vcode::Kernel& kernel, std::vector<Value> operands);
/// The code, and message with notes, of a kernel that must fail.
vcode::ErrorCode failure_of(CpuBackend& cpu, const vcode::Kernel& kernel,
                            std::vector<Value> operands, std::string* message = nullptr);

/// The same library twice: with machine code, from the first element on where `setting` says so,
/// and without.
struct Pair {
  Pair(cvl::Widths widths, cvl::cpu::Isa isa);
  CpuBackend code, steps;
};
/// Such pairs for each instruction set and all widths.
void for_pairs(const std::function<void(Pair&)>& test,
               const std::string& setting = "native_pays_after=0");

/// Calls test for every configuration of the library, with the usual numbers and with others.
void for_backends(const std::function<void(CpuBackend&)>& test);
/// Segmentations with borders on, before and behind those of blocks and tiles.
std::vector<Lengths> shapes();
std::int64_t total(const Lengths& lengths);
/// Where the segments start, one behind the other, and in another order, so that they lie side by
/// side but mixed.
Numbers ascending_starts(const Lengths& lengths);
Numbers mixed_starts(const Lengths& lengths);
/// first[own segment] + position within it
Expressions::Id counting(Expressions& t, ArrayId first, SegdesId under);
/// The place where 0 <= offset < limit, and elsewhere one that is outside of everything.
Expressions::Id bounded(Expressions& t, Expressions::Id offset, Expressions::Id limit,
                        Expressions::Id place);

}  // namespace kernel_test
