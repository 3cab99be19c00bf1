// MAKE_SEGDES, LENGTHS, LENGTH, and the index of segments.

#include <limits>
#include <utility>
#include <vector>

#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/operations.hpp"
#include "cvl-cpu/segments.hpp"
#include "cvl/op_failure.hpp"

namespace cvl::cpu {
namespace {

[[noreturn]] void throw_negative_length(const CpuBackend& cpu, const Vector& lengths) {
  std::int64_t position = 0;
  while (int_at(cpu, lengths, position) >= 0) ++position;
  throw negative_length(position, int_at(cpu, lengths, position), lengths.length);
}

/// The sum of lengths that may not fit 64 bits.
std::int64_t checked_total(const CpuBackend& cpu, const Vector& lengths) {
  std::int64_t total = 0;
  for (std::int64_t k = 0; k < lengths.length; ++k) {
    if (__builtin_add_overflow(total, int_at(cpu, lengths, k), &total)) throw total_overflow();
  }
  return total;
}

LengthSummary summarize(CpuBackend& cpu, const Vector& lengths) {
  const auto* data = elements<std::byte>(lengths);
  const std::int64_t width = static_cast<std::int64_t>(cpu.element_bytes(Type::Int));
  const std::int64_t tiles = tile_count(lengths.length, tuning.lengths_tile);
  if (tiles == 1) return cpu.kernels().summarize_lengths(data, lengths.length);
  std::vector<LengthSummary> parts(static_cast<std::size_t>(tiles));
  auto tile = [&](std::int64_t index) {
    const std::int64_t begin = index * tuning.lengths_tile;
    parts[static_cast<std::size_t>(index)] = cpu.kernels().summarize_lengths(
        data + begin * width, std::min(tuning.lengths_tile, lengths.length - begin));
  };
  cpu.scheduler().for_tiles(tiles, lengths.length * width, tile);
  LengthSummary all = parts[0];
  for (std::size_t k = 1; k < parts.size(); ++k) {
    all.sum += parts[k].sum;
    all.least = std::min(all.least, parts[k].least);
    all.greatest = std::max(all.greatest, parts[k].greatest);
  }
  return all;
}

Segdes uniform_segdes(const CpuBackend& cpu, const Vector& lengths) {
  const std::int64_t length = int_at(cpu, lengths, 0);
  if (length < 0) throw_negative_length(cpu, lengths);
  std::int64_t total = 0;
  if (__builtin_mul_overflow(length, lengths.length, &total)) throw total_overflow();
  return Segdes::regular(lengths.length, length);
}

Segdes general_segdes(Vector lengths, std::int64_t total) {
  Segdes result;
  result.uniform = false;
  result.count = lengths.length;
  result.total = total;
  result.tables = Ref<SegdesTables>(new SegdesTables);
  result.tables->lengths = std::move(lengths);
  return result;
}

}  // namespace

const std::int64_t* segment_index(CpuBackend& cpu, const Segdes& segdes) {
  SegdesTables& tables = *segdes.tables;
  if (!tables.index) {
    const auto* lengths = elements<std::byte>(tables.lengths);
    const std::int64_t width = static_cast<std::int64_t>(cpu.element_bytes(Type::Int));
    const std::int64_t groups = tile_count(segdes.count, kIndexStep);
    Ref<Buffer> index = cpu.heap().allocate(static_cast<std::size_t>(groups) * 8);
    auto* starts = index->as<std::int64_t>();
    auto sum = [&](std::int64_t tile) {
      const std::int64_t first = tile * tuning.lengths_tile;
      cpu.kernels().sum_lengths(starts + first / kIndexStep, lengths + first * width,
                                std::min(tuning.lengths_tile, segdes.count - first));
    };
    cpu.scheduler().for_tiles(tile_count(segdes.count, tuning.lengths_tile), segdes.count * width,
                              sum);
    std::int64_t total = 0;
    for (std::int64_t group = 0; group < groups; ++group) {
      total += std::exchange(starts[group], total);
    }
    tables.index = std::move(index);
  }
  return tables.index->as<std::int64_t>();
}

Segdes segdes_from_lengths(CpuBackend& cpu, Vector lengths, std::int64_t total) {
  const LengthSummary summary = summarize(cpu, lengths);
  if (summary.least == summary.greatest) return Segdes::regular(lengths.length, summary.least);
  return general_segdes(std::move(lengths), total);
}

void run_make_segdes(CpuBackend& cpu, vcode::Op, Type, Value* operands, Value* results) {
  Vector& lengths = operands[0].vector();
  if (lengths.length == 0) {
    results[0] = Segdes::regular(0, 0);
    return;
  }
  if (lengths.length == 1 || lengths.form == Form::Constant) {
    results[0] = uniform_segdes(cpu, lengths);
    return;
  }
  if (!lengths.is_plain()) lengths = cpu.materialized(lengths);
  const LengthSummary summary = summarize(cpu, lengths);
  if (summary.least < 0) throw_negative_length(cpu, lengths);
  if (summary.least == summary.greatest) {
    results[0] = uniform_segdes(cpu, lengths);
    return;
  }
  const bool fits = summary.greatest <= std::numeric_limits<std::int64_t>::max() / lengths.length;
  const std::int64_t total =
      fits ? static_cast<std::int64_t>(summary.sum) : checked_total(cpu, lengths);
  results[0] = general_segdes(std::move(lengths), total);
}

void run_lengths(CpuBackend& cpu, vcode::Op, Type, Value* operands, Value* results) {
  const Segdes& segdes = operands[0].segdes();
  if (!segdes.uniform) {
    results[0] = segdes.tables->lengths;
    return;
  }
  const Vector one = make_int(cpu.widths(), segdes.uniform_length);
  results[0] = segdes.count == 1 ? one : constant_vector(cpu, Type::Int, segdes.count, one.payload);
}

void run_length(CpuBackend& cpu, vcode::Op, Type, Value* operands, Value* results) {
  results[0] = make_int(cpu.widths(), operands[0].vector().length);
}

}  // namespace cvl::cpu
