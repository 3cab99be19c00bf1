// Permutations, EXTRACT, REPLACE, DIST and PACK: every element is moved by itself, in order of the
// source, so that of several writers of one place the last one wins.
#include "reference/evaluator.hpp"

namespace reference {
namespace {

using vcode::Op;

template <class T>
const std::vector<T>& elements(const Value& value) {
  return std::get<std::vector<T>>(value);
}

/// The place of `index` in a segment. `position` is that of the index itself.
std::size_t place(std::int64_t index, std::int64_t start, std::int64_t length,
                  std::size_t position) {
  if (index < 0 || index >= length) {
    throw Failure{ErrorCode::IndexOutOfRange, static_cast<std::int64_t>(position)};
  }
  return static_cast<std::size_t>(start + index);
}

/// Sends the elements of `source`, described by `from`, into `result`, described by `to`; only
/// flagged ones where there are flags.
template <class T>
std::vector<T> send(const std::vector<T>& source, const Ints& index, const Bools* flags,
                    std::vector<T> result, const Segdes& from, const Segdes& to) {
  const std::vector<std::int64_t> starts = to.starts();
  std::size_t position = 0;
  for (std::size_t segment = 0; segment < from.lengths.size(); ++segment) {
    for (std::int64_t i = 0; i < from.lengths[segment]; ++i, ++position) {
      if (flags != nullptr && (*flags)[position] == 0) continue;
      result[place(index[position], starts[segment], to.lengths[segment], position)] =
          source[position];
    }
  }
  return result;
}

/// Fetches one element for each place of `to` out of the segment of the same number of `from`.
template <class T>
std::vector<T> fetch(const std::vector<T>& source, const Ints& index, const Bools* flags,
                     const Segdes& from, const Segdes& to) {
  const std::vector<std::int64_t> starts = from.starts();
  std::vector<T> result(index.size());
  std::size_t position = 0;
  for (std::size_t segment = 0; segment < to.lengths.size(); ++segment) {
    for (std::int64_t i = 0; i < to.lengths[segment]; ++i, ++position) {
      if (flags != nullptr && (*flags)[position] == 0) continue;
      result[position] =
          source[place(index[position], starts[segment], from.lengths[segment], position)];
    }
  }
  return result;
}

template <class T>
std::vector<T> extract(const std::vector<T>& source, const Ints& index, const Segdes& segdes) {
  const std::vector<std::int64_t> starts = segdes.starts();
  std::vector<T> result;
  for (std::size_t segment = 0; segment < starts.size(); ++segment) {
    result.push_back(
        source[place(index[segment], starts[segment], segdes.lengths[segment], segment)]);
  }
  return result;
}

template <class T>
std::vector<T> replace(std::vector<T> result, const Ints& index, const std::vector<T>& values,
                       const Segdes& segdes) {
  const std::vector<std::int64_t> starts = segdes.starts();
  for (std::size_t segment = 0; segment < starts.size(); ++segment) {
    result[place(index[segment], starts[segment], segdes.lengths[segment], segment)] =
        values[segment];
  }
  return result;
}

template <class T>
std::vector<T> distribute(const std::vector<T>& values, const Segdes& segdes) {
  std::vector<T> result;
  for (std::size_t segment = 0; segment < values.size(); ++segment) {
    for (std::int64_t i = 0; i < segdes.lengths[segment]; ++i) result.push_back(values[segment]);
  }
  return result;
}

template <class T>
std::vector<T> pack(const std::vector<T>& source, const Bools& flags) {
  std::vector<T> result;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (flags[i] != 0) result.push_back(source[i]);
  }
  return result;
}

template <class T>
Value move_typed(Op op, const std::vector<Value>& operands) {
  const auto& source = elements<T>(operands[0]);
  const auto ints = [&](std::size_t i) -> const Ints& { return std::get<Ints>(operands[i]); };
  const auto flags = [&](std::size_t i) { return &std::get<Bools>(operands[i]); };
  const auto segdes = [&](std::size_t i) -> const Segdes& { return std::get<Segdes>(operands[i]); };
  const auto blank = [](const Segdes& described) {
    return std::vector<T>(static_cast<std::size_t>(described.total()));
  };
  switch (op) {
    case Op::Permute:
      return send<T>(source, ints(1), nullptr, blank(segdes(2)), segdes(2), segdes(2));
    case Op::DPermute:
      return send<T>(source, ints(1), nullptr, elements<T>(operands[2]), segdes(3), segdes(4));
    case Op::FPermute:
      return send<T>(source, ints(1), flags(2), blank(segdes(4)), segdes(3), segdes(4));
    case Op::DFPermute:
      return send<T>(source, ints(1), flags(2), elements<T>(operands[3]), segdes(4), segdes(5));
    case Op::BPermute:
      return fetch<T>(source, ints(1), nullptr, segdes(2), segdes(3));
    case Op::BFPermute:
      return fetch<T>(source, ints(1), flags(2), segdes(3), segdes(4));
    case Op::Extract:
      return extract<T>(source, ints(1), segdes(2));
    case Op::Replace:
      return replace<T>(source, ints(1), elements<T>(operands[2]), segdes(3));
    case Op::Distribute:
      return distribute<T>(source, segdes(1));
    default:
      return pack<T>(source, std::get<Bools>(operands[1]));
  }
}

}  // namespace

Value move_elements(Op op, const std::vector<Value>& operands) {
  switch (type_of(operands[0])) {
    case Type::Int:
      return move_typed<std::int64_t>(op, operands);
    case Type::Float:
      return move_typed<double>(op, operands);
    default:
      return move_typed<std::uint8_t>(op, operands);
  }
}

}  // namespace reference
