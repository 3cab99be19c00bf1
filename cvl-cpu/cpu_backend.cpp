#include "cvl-cpu/cpu_backend.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include <fmt/core.h>

#include "cvl-cpu/narrow.hpp"
#include "cvl-cpu/native_code.hpp"
#include "cvl-cpu/operations.hpp"
#include "cvl/failure.hpp"

namespace cvl::cpu {
namespace {

/// In the order of vcode::Family up to Lengths.
constexpr std::array<Operation, 16> kOperations = {
    run_elementwise, run_scan,    run_reduce,      run_combine, run_random,     run_rank,
    run_sort,        run_permute, run_extract,     run_replace, run_distribute, run_index,
    run_pack,        run_length,  run_make_segdes, run_lengths};
static_assert(static_cast<std::size_t>(vcode::Family::Lengths) + 1 == kOperations.size());

/// The system knows the cache that the processors share; the C library may answer with the sum of
/// all caches of the machine, also where a virtual machine has a small part of it.
std::size_t last_level_cache_bytes() {
  std::size_t kibibytes = 0;
  char unit = 0;
  if (std::FILE* file = std::fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re")) {
    if (std::fscanf(file, "%zu%c", &kibibytes, &unit) != 2 || unit != 'K') kibibytes = 0;
    std::fclose(file);
  }
  return kibibytes > 0 ? kibibytes << 10 : std::size_t{32} << 20;
}

}  // namespace

CpuBackend::CpuBackend(const CpuOptions& options)
    : widths_(options.widths),
      heap_(memory_, options.memory_limit),
      isa_(options.isa ? *options.isa : best_isa()),
      native_(options.native),
      kernels_(kernels_for(isa_, widths_)),
      scheduler_(options.threads),
      random_(seeded(options.seed)) {}

bool CpuBackend::would_stream(std::int64_t bytes) const {
  if (tuning.streamed_bytes >= 0) return bytes >= tuning.streamed_bytes;
  static const auto half_of_cache = static_cast<std::int64_t>(last_level_cache_bytes() / 2);
  return bytes >= half_of_cache;
}

std::string CpuBackend::description() const {
  return fmt::format("cpu: {} threads, {}", scheduler_.threads(), isa_name(isa_));
}

void CpuBackend::for_parts(int parts, const std::function<void(int)>& body) {
  auto part = [&](std::int64_t number) { body(static_cast<int>(number)); };
  scheduler_.for_parts(parts, part);
}

void CpuBackend::execute(vcode::Op op, Type type, Value* operands, Value* results) {
  if (moves_narrow(*this, op, operands)) return move_narrow(*this, op, operands, results);
  kOperations[static_cast<std::size_t>(vcode::info(op).family)](*this, op, type, operands, results);
}

bool CpuBackend::runs_serial_loops() const {
  return native_ && has_serial_form(isa_);
}

Vector CpuBackend::new_vector(Type type, std::int64_t length) {
  Vector result;
  result.type = type;
  result.length = length;
  const std::size_t width = element_bytes(type);
  if (!Vector::fits_inline(length, width)) {
    const auto count = static_cast<std::size_t>(length);
    result.form = Form::Dense;
    result.buffer = heap_.allocate(count > SIZE_MAX / width ? SIZE_MAX : count * width);
  }
  return result;
}

Vector CpuBackend::new_vector_over(Type type, std::int64_t length, Vector& dying) {
  const std::size_t width = element_bytes(type);
  if (Vector::fits_inline(length, width) || dying.form != Form::Dense || !dying.buffer.unique() ||
      dying.buffer->capacity / width < static_cast<std::size_t>(length)) {
    return new_vector(type, length);
  }
  heap_.count_takeover();
  Vector result;
  result.type = type;
  result.length = length;
  result.form = Form::Dense;
  result.buffer = dying.buffer;
  return result;
}

Vector CpuBackend::new_narrow(std::int64_t length) {
  Vector result;
  result.length = length;
  result.form = Form::Narrow;
  result.fits_bytes = true;
  result.buffer = heap_.allocate(static_cast<std::size_t>(length));
  return result;
}

Vector CpuBackend::materialized(const Vector& vector) {
  if (vector.is_plain()) return vector;
  Vector result = new_vector(vector.type, vector.length);
  auto* out = mutable_elements<std::byte>(result);
  const auto width = static_cast<std::int64_t>(element_bytes(vector.type));
  auto tile = [&](std::int64_t index) {
    const std::int64_t begin = index * tuning.move_tile;
    download(vector, begin, std::min(tuning.move_tile, vector.length - begin), out + begin * width);
  };
  scheduler_.for_tiles(tile_count(vector.length, tuning.move_tile), vector.length * width, tile);
  return result;
}

Vector CpuBackend::upload(Type type, const void* elements, std::int64_t length) {
  Vector result = new_vector(type, length);
  if (length > 0) {
    std::memcpy(mutable_elements<void>(result), elements,
                static_cast<std::size_t>(length) * element_bytes(type));
  }
  return result;
}

Vector CpuBackend::upload_characters(std::string_view characters) {
  const auto length = static_cast<std::int64_t>(characters.size());
  if (keeps_narrow(length)) {
    Vector result = new_narrow(length);
    characters.copy(result.buffer->as<char>(), characters.size());
    return result;
  }
  Vector result = new_vector(Type::Int, length);
  kernels_.widen(mutable_elements<void>(result),
                 reinterpret_cast<const std::uint8_t*>(characters.data()), length);
  result.fits_bytes = true;
  return result;
}

Vector CpuBackend::adopt(Type type, Ref<Buffer> elements, std::int64_t length) {
  if (Vector::fits_inline(length, element_bytes(type))) {
    return upload(type, elements->data, length);
  }
  Vector result;
  result.type = type;
  result.length = length;
  result.form = Form::Dense;
  result.buffer = std::move(elements);
  return result;
}

Vector CpuBackend::adopt_characters(Ref<Buffer> characters, std::int64_t length) {
  if (!keeps_narrow(length)) {
    return upload_characters({characters->as<char>(), static_cast<std::size_t>(length)});
  }
  Vector result;
  result.length = length;
  result.form = Form::Narrow;
  result.fits_bytes = true;
  result.buffer = std::move(characters);
  return result;
}

void CpuBackend::download(const Vector& vector, std::int64_t begin, std::int64_t count,
                          void* target) {
  if (count == 0) return;
  const std::size_t width = element_bytes(vector.type);
  switch (vector.form) {
    case Form::Constant:
      kernels_.fill[static_cast<std::size_t>(vector.type)](target, vector.payload, count);
      break;
    case Form::Progression:
      kernels_.progression(target, vector.progression_start(), vector.progression_step(), begin,
                           count);
      break;
    case Form::Narrow:
      kernels_.widen(target, elements<std::uint8_t>(vector) + begin, count);
      break;
    default:
      std::memcpy(target, elements<std::byte>(vector) + static_cast<std::size_t>(begin) * width,
                  static_cast<std::size_t>(count) * width);
  }
}

}  // namespace cvl::cpu
