#include "property/convert.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace property {
namespace {

using reference::Bools;
using reference::Floats;
using reference::Ints;
using vcode::Type;

template <class T, class V>
cvl::Vector upload(cvl::Backend& backend, Type type, const V& elements) {
  const std::vector<T> narrow(elements.begin(), elements.end());
  return backend.upload(type, narrow.data(), static_cast<std::int64_t>(narrow.size()));
}

template <class T, class V>
V download(cvl::Backend& backend, const cvl::Vector& vector) {
  std::vector<T> narrow(static_cast<std::size_t>(vector.length));
  backend.download(vector, 0, vector.length, narrow.data());
  return V(narrow.begin(), narrow.end());
}

cvl::Vector plain(cvl::Backend& backend, const reference::Value& value) {
  const cvl::Widths widths = backend.widths();
  if (const auto* ints = std::get_if<Ints>(&value)) {
    return widths.int_bytes == 4 ? upload<std::int32_t>(backend, Type::Int, *ints)
                                 : upload<std::int64_t>(backend, Type::Int, *ints);
  }
  if (const auto* floats = std::get_if<Floats>(&value)) {
    return widths.float_bytes == 4 ? upload<float>(backend, Type::Float, *floats)
                                   : upload<double>(backend, Type::Float, *floats);
  }
  return upload<std::uint8_t>(backend, Type::Bool, std::get<Bools>(value));
}

/// Keeps the first element of a plain vector only.
cvl::Vector constant(cvl::Backend& backend, const reference::Value& value) {
  cvl::Vector vector;
  vector.type = reference::type_of(value);
  vector.form = cvl::Form::Constant;
  vector.length = reference::length_of(value);
  reference::Value first = value;
  std::visit(
      [](auto& elements) {
        if constexpr (requires { elements.resize(1); }) elements.resize(1);
      },
      first);
  const cvl::Vector scalar = plain(backend, first);
  std::memcpy(vector.payload, scalar.payload, sizeof vector.payload);
  return vector;
}

cvl::Vector progression(const Ints& elements) {
  cvl::Vector vector;
  vector.type = Type::Int;
  vector.form = cvl::Form::Progression;
  vector.length = static_cast<std::int64_t>(elements.size());
  const std::int64_t start = elements[0];
  // Modulo 2^64, and hence right modulo 2^32 too.
  const auto step = static_cast<std::int64_t>(static_cast<std::uint64_t>(elements[1]) -
                                              static_cast<std::uint64_t>(elements[0]));
  vector.inline_elements<std::int64_t>()[0] = start;
  vector.inline_elements<std::int64_t>()[1] = step;
  return vector;
}

cvl::Vector characters(cvl::Backend& backend, const Ints& elements) {
  return backend.upload_characters(std::string(elements.begin(), elements.end()));
}

cvl::Value segdes(cvl::Backend& backend, const reference::Segdes& segdes, Random& random) {
  const auto& lengths = segdes.lengths;
  const bool uniform = std::all_of(lengths.begin(), lengths.end(),
                                   [&](std::int64_t length) { return length == lengths[0]; });
  if (uniform && random.chance(0.7)) {
    return cvl::Segdes::regular(segdes.count(), lengths.empty() ? 0 : lengths[0]);
  }
  return cvl::make_segdes(backend, plain(backend, Ints(lengths)));
}

}  // namespace

reference::Widths widths_of(const cvl::Widths& widths) {
  return {widths.int_bytes * 8, widths.float_bytes * 8};
}

cvl::Value to_library(cvl::Backend& backend, const Operand& operand, Random& random) {
  if (const auto* descriptor = std::get_if<reference::Segdes>(&operand.value)) {
    return segdes(backend, *descriptor, random);
  }
  switch (operand.layout) {
    case Layout::Constant:
      return constant(backend, operand.value);
    case Layout::Progression:
      return progression(std::get<Ints>(operand.value));
    case Layout::Narrow:
      return characters(backend, std::get<Ints>(operand.value));
    default:
      return plain(backend, operand.value);
  }
}

reference::Value from_library(cvl::Backend& backend, const cvl::Value& value) {
  const cvl::Widths widths = backend.widths();
  switch (value.type()) {
    case Type::Segdes: {
      const cvl::Vector lengths = cvl::segdes_lengths(backend, value.segdes());
      return reference::Segdes{std::get<Ints>(from_library(backend, cvl::Value(lengths)))};
    }
    case Type::Int:
      return widths.int_bytes == 4 ? download<std::int32_t, Ints>(backend, value.vector())
                                   : download<std::int64_t, Ints>(backend, value.vector());
    case Type::Float:
      return widths.float_bytes == 4 ? download<float, Floats>(backend, value.vector())
                                     : download<double, Floats>(backend, value.vector());
    default:
      return download<std::uint8_t, Bools>(backend, value.vector());
  }
}

}  // namespace property
