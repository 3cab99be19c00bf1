// The families of operations, each in the file of its name. All have the signature of
// Backend::execute: operands have been checked, results do not overlap them.
#pragma once

#include "cvl-cpu/cpu_backend.hpp"

namespace cvl::cpu {

using Operation = void (*)(CpuBackend& cpu, vcode::Op op, Type type, Value* operands,
                           Value* results);

void run_elementwise(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_scan(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_reduce(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_combine(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_random(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_rank(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_sort(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_permute(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_extract(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_replace(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_distribute(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_index(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_pack(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_length(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_make_segdes(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);
void run_lengths(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results);

}  // namespace cvl::cpu
