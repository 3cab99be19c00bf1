#include "vcode-smith/operands.hpp"

#include <algorithm>

namespace smith {

using reference::Bools;
using reference::Floats;
using reference::Ints;
using reference::Segdes;
using vcode::Family;
using vcode::Op;
using vcode::Type;

namespace {

// Vectors up to this length are written as constants, longer ones are computed.
constexpr std::int64_t kLongestConstant = 24;

const Segdes& segdes_of(const reference::Value& value) {
  return std::get<Segdes>(value);
}

}  // namespace

void Operands::prepare(Op op, Type type) {
  const std::vector<Id> ids = choose(op, type);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool again =
        std::find(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1, ids.end(), ids[i]) != ids.end();
    builder_.fetch(ids[i], !again && random_.chance(0.4));
  }
}

std::vector<Id> Operands::choose(Op op, Type type) {
  const vcode::OpInfo& row = vcode::info(op);
  switch (row.family) {
    case Family::Elementwise:
      return choose_elementwise(row, type);
    case Family::Random:
      return {bounds()};
    case Family::Permute:
      return choose_permute(op, type);
    case Family::Combine: {
      const Id source = any_segdes();
      const Id target = other_side(source, true, false);
      return {vector_like(type, source), indices(source, target), source, target};
    }
    case Family::Length:
      return {any(type)};
    case Family::MakeSegdes:
      return {small_lengths()};
    case Family::Lengths:
      return {any_segdes()};
    default:
      break;
  }
  const Id segdes = any_segdes();
  switch (row.family) {
    case Family::Extract:
      return {vector_like(type, segdes), one_index_each(segdes), segdes};
    case Family::Replace:
      return {vector_like(type, segdes), one_index_each(segdes), vector(type, count(segdes)),
              segdes};
    case Family::Distribute:
      return {vector(type, count(segdes)), segdes};
    case Family::Index:
      return {vector(Type::Int, count(segdes)), vector(Type::Int, count(segdes)), segdes};
    case Family::Pack:
      return {vector_like(type, segdes), vector_like(Type::Bool, segdes), segdes};
    default:  // scans, reductions, ranks
      return {vector_like(type, segdes), segdes};
  }
}

std::vector<Id> Operands::choose_elementwise(const vcode::OpInfo& row, Type type) {
  std::vector<Id> ids;
  std::int64_t length = 0;
  for (std::size_t i = 0; i < row.operands.size(); ++i) {
    const Type wanted = vcode::operand_type(row.operands[i], type).value_or(type);
    const bool divides = row.op == Op::Modulo || (row.op == Op::Divide && type == Type::Int);
    if (i == 0) {
      ids.push_back(any(wanted));
      length = reference::length_of(builder_.value(ids[0]));
    } else if (divides && random_.chance(0.9)) {
      ids.push_back(divisor(length));
    } else {
      const bool longer = !builder_.strict() && random_.chance(0.05);
      ids.push_back(longer ? make(wanted, length + random_.between(1, 5))
                           : vector_like(wanted, ids[0]));
    }
  }
  return ids;
}

std::vector<Id> Operands::choose_permute(Op op, Type type) {
  const bool fetches = op == Op::BPermute || op == Op::BFPermute;
  const bool flagged = op == Op::FPermute || op == Op::BFPermute || op == Op::DFPermute;
  const bool defaults = op == Op::DPermute || op == Op::DFPermute;
  const Id source = any_segdes();
  const Id target = op == Op::Permute ? source : other_side(source, !fetches, fetches);
  const Id walked = fetches ? target : source;
  std::vector<Id> ids = {vector_like(type, source), indices(walked, fetches ? source : target)};
  if (flagged) ids.push_back(vector_like(Type::Bool, walked));
  if (defaults) ids.push_back(vector_like(type, target));
  ids.push_back(source);
  if (op != Op::Permute) ids.push_back(target);
  return ids;
}

Id Operands::any(Type type) {
  std::vector<Id> found;
  for (std::size_t i = base_; i < builder_.height(); ++i) {
    const Entry& entry = builder_.stack()[i];
    if (reference::type_of(entry.value) == type) found.push_back(entry.id);
  }
  if (found.empty() || random_.chance(0.15)) return make(type, pick_length());
  return random_.pick(found);
}

Id Operands::any_segdes() {
  std::vector<Id> found;
  for (std::size_t i = base_; i < builder_.height(); ++i) {
    const Entry& entry = builder_.stack()[i];
    if (reference::type_of(entry.value) == Type::Segdes) found.push_back(entry.id);
  }
  if (found.empty() || random_.chance(0.25)) return make_segdes();
  return random_.pick(found);
}

Id Operands::vector(Type type, std::int64_t length) {
  std::vector<Id> found;
  for (std::size_t i = base_; i < builder_.height(); ++i) {
    const Entry& entry = builder_.stack()[i];
    if (reference::type_of(entry.value) == type && reference::length_of(entry.value) == length) {
      found.push_back(entry.id);
    }
  }
  if (found.empty() || random_.chance(0.2)) return make(type, length);
  return random_.pick(found);
}

Id Operands::vector_like(Type type, Id like) {
  const bool described = reference::type_of(builder_.value(like)) == Type::Segdes;
  const std::int64_t length = described ? total(like) : reference::length_of(builder_.value(like));
  return random_.chance(from_outside_ / 2) ? make_like(type, like) : vector(type, length);
}

Id Operands::make_like(Type type, Id like) {
  const Type liked = reference::type_of(builder_.value(like));
  builder_.fetch(like, false);
  if (liked == Type::Segdes) {  // the length of its segment for each element
    builder_.emit(Op::Lengths, Type::Int);
    builder_.fetch(like, false);
    builder_.emit(Op::Distribute, Type::Int);
  }
  builder_.emit(Op::Length, liked == Type::Segdes ? Type::Int : liked);
  builder_.emit(Op::MakeSegdes, Type::Int);
  return make_over_segments(type);
}

/// Over the descriptor of one segment on top of the stack, which it takes.
Id Operands::make_over_segments(Type type) {
  number(random_.between(-50, 50));
  builder_.block(Op::CPop, 1, 1);
  if (random_.chance(0.5)) {
    builder_.emit(Op::Distribute, Type::Int);
  } else {
    number(random_.between(-7, 7));
    builder_.block(Op::CPop, 1, 1);
    builder_.emit(Op::Index, Type::Int);
  }
  if (type == Type::Float) builder_.emit(Op::IntToFloat, Type::Int);
  if (type == Type::Bool) builder_.emit(Op::IntToBool, Type::Int);
  return builder_.top();
}

Id Operands::number(std::int64_t number) {
  return random_.chance(from_outside_) ? adjusted(unknown_number(), {number})
                                       : builder_.push_int(number);
}

Id Operands::numbers(const Ints& numbers) {
  if (!random_.chance(from_outside_)) return builder_.push_ints(numbers);
  return adjusted(unknown_numbers(static_cast<std::int64_t>(numbers.size())), numbers);
}

Id Operands::segdes(const std::vector<std::int64_t>& lengths) {
  if (!random_.chance(from_outside_)) return builder_.push_segdes(lengths);
  if (lengths.size() == 1) {
    adjusted(unknown_number(), lengths);
  } else {
    adjusted(unknown_numbers(static_cast<std::int64_t>(lengths.size())), lengths);
  }
  builder_.emit(Op::MakeSegdes, Type::Int);
  return builder_.top();
}

/// Adds what is missing, so that the numbers on top of the stack become these.
Id Operands::adjusted(Id unknown, const Ints& numbers) {
  const Ints found = std::get<Ints>(builder_.value(unknown));
  Ints missing;
  constexpr std::int64_t kLargest = 1 << 30;  // numbers up to this have differences of 32 bits
  const auto fits = [](std::int64_t x) { return x >= -kLargest && x <= kLargest; };
  if (!std::all_of(found.begin(), found.end(), fits) ||
      !std::all_of(numbers.begin(), numbers.end(), fits)) {
    builder_.block(Op::Pop, 1, 0);
    return builder_.push_ints(numbers);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) missing.push_back(numbers[i] - found[i]);
  if (missing != Ints(missing.size())) {
    builder_.push_ints(missing);
    builder_.emit(Op::Add, Type::Int);
  }
  return builder_.top();
}

Id Operands::unknown_number() {
  const std::int64_t choice = random_.between(0, 3);
  if (choice == 0) {  // read, now
    if (const auto id = builder_.read()) {
      if (reference::length_of(builder_.value(*id)) == 1) return *id;
      builder_.emit(Op::Length, Type::Int);
      return builder_.top();
    }
  }
  std::vector<Id> scalars, others;
  for (std::size_t i = base_; i < builder_.height(); ++i) {
    const Entry& entry = builder_.stack()[i];
    const Type type = reference::type_of(entry.value);
    if (!vcode::is_data(type)) continue;
    const bool scalar = type == Type::Int && reference::length_of(entry.value) == 1;
    (scalar ? scalars : others).push_back(entry.id);
  }
  if (choice == 1 && !scalars.empty()) {
    builder_.fetch(random_.pick(scalars), false);
  } else if (choice == 2 && !others.empty()) {
    const Id id = random_.pick(others);
    builder_.fetch(id, false);
    builder_.emit(Op::Length, reference::type_of(builder_.value(id)));
  } else {
    builder_.push_int(random_.between(1, 100));
    builder_.emit(Op::Rand, Type::Int);
  }
  return builder_.top();
}

Id Operands::unknown_numbers(std::int64_t length) {
  if (random_.chance(0.5)) {
    for (std::size_t i = base_; i < builder_.height(); ++i) {
      const Entry& entry = builder_.stack()[i];
      if (reference::type_of(entry.value) != Type::Int) continue;
      if (reference::length_of(entry.value) != length || random_.chance(0.5)) continue;
      builder_.fetch(entry.id, false);
      return builder_.top();
    }
  }
  number(random_.between(1, 100));
  segdes({length});
  builder_.emit(Op::Distribute, Type::Int);
  builder_.emit(Op::Rand, Type::Int);
  return builder_.top();
}

std::int64_t Operands::pick_length() {
  if (random_.chance(0.05)) return random_.between(0, builder_.max_elements());
  return random_.between(0, random_.chance(0.3) ? 60 : 9);
}

Id Operands::make(Type type, std::int64_t length) {
  if (length <= kLongestConstant) {
    Ints ints;
    Floats floats;
    Bools bools;
    for (std::int64_t i = 0; i < length; ++i) {
      const bool wild = random_.chance(0.03);
      ints.push_back(wild ? random_.between(INT32_MIN, INT32_MAX) : random_.between(-9, 20));
      // Quarters: sums of them are exact in any order.
      floats.push_back(static_cast<double>(random_.between(-40, 40)) / 4);
      bools.push_back(random_.chance(0.6));
    }
    if (type == Type::Int) return numbers(ints);
    return type == Type::Float ? builder_.push_floats(floats) : builder_.push_bools(bools);
  }
  number(random_.between(-50, 50));
  number(random_.between(-7, 7));
  segdes({length});
  builder_.emit(Op::Index, Type::Int);
  if (random_.chance(0.3)) {  // something less regular
    builder_.push_int(random_.between(2, 1000));
    segdes({length});
    builder_.emit(Op::Distribute, Type::Int);
    builder_.emit(Op::Rand, Type::Int);
    builder_.emit(Op::Xor, Type::Int);
  }
  if (type == Type::Float) builder_.emit(Op::IntToFloat, Type::Int);
  if (type == Type::Bool) {
    builder_.push_int(random_.between(1, 3));
    segdes({length});
    builder_.emit(Op::Distribute, Type::Int);
    builder_.emit(Op::And, Type::Int);
    builder_.emit(Op::IntToBool, Type::Int);
  }
  return builder_.top();
}

Id Operands::make_segdes() {
  // A descriptor of some vector that is already there, else a new one.
  if (random_.chance(0.5) && builder_.height() > base_) {
    const Entry& entry = builder_.stack()[static_cast<std::size_t>(random_.between(
        static_cast<std::int64_t>(base_), static_cast<std::int64_t>(builder_.height()) - 1))];
    const Type type = reference::type_of(entry.value);
    if (vcode::is_data(type)) {
      const std::int64_t length = reference::length_of(entry.value);
      if (random_.chance(0.4)) {
        builder_.fetch(entry.id, false);
        builder_.emit(Op::Length, type);
        builder_.emit(Op::MakeSegdes, Type::Int);
        return builder_.top();
      }
      // Cuts it into pieces, empty ones among them.
      std::vector<std::int64_t> lengths;
      std::int64_t left = length;
      while (left > 0 && lengths.size() < 12) {
        lengths.push_back(random_.between(0, std::min<std::int64_t>(left, 1 + length / 3)));
        left -= lengths.back();
      }
      lengths.push_back(left);
      return segdes(lengths);
    }
  }
  std::vector<std::int64_t> lengths;
  const std::int64_t segments = random_.chance(0.4) ? 1 : random_.between(0, 12);
  for (std::int64_t i = 0; i < segments; ++i) {
    lengths.push_back(random_.chance(0.2) ? 0 : random_.between(0, 8));
  }
  if (segments == 1 && random_.chance(0.3)) lengths[0] = pick_length();
  return segdes(lengths);
}

Id Operands::other_side(Id segdes, bool room_needed, bool source_needed) {
  if (random_.chance(0.4)) return segdes;
  const std::vector<std::int64_t> lengths = segdes_of(builder_.value(segdes)).lengths;
  if (lengths.size() > static_cast<std::size_t>(kLongestConstant)) return segdes;
  std::vector<std::int64_t> other;
  for (const std::int64_t length : lengths) {
    std::int64_t there = random_.between(0, length + 2);
    if (room_needed && length > 0) there = std::max<std::int64_t>(there, 1);
    if (source_needed && length == 0) there = 0;
    other.push_back(there);
  }
  return this->segdes(other);
}

Id Operands::indices(Id walked, Id pointed) {
  if (walked == pointed && random_.chance(0.5)) {
    // Ranks are a permutation of every segment.
    const Id data = vector_like(Type::Int, walked);
    builder_.fetch(data, false);
    builder_.fetch(walked, false);
    builder_.emit(random_.chance(0.5) ? Op::RankUp : Op::RankDown, Type::Int);
    return builder_.top();
  }
  if (total(walked) > kLongestConstant) return indices_by_rand(walked, pointed);
  const Segdes walk = segdes_of(builder_.value(walked));
  const Segdes point = segdes_of(builder_.value(pointed));
  Ints index;
  for (std::size_t segment = 0; segment < walk.lengths.size(); ++segment) {
    for (std::int64_t i = 0; i < walk.lengths[segment]; ++i) {
      const std::int64_t range = point.lengths[segment];
      index.push_back(range == 0 || random_.chance(0.002) ? -1 : random_.between(0, range - 1));
    }
  }
  return numbers(index);
}

Id Operands::indices_by_rand(Id walked, Id pointed) {
  builder_.fetch(pointed, false);
  builder_.emit(Op::Lengths, Type::Int);
  builder_.fetch(walked, false);
  builder_.emit(Op::Distribute, Type::Int);
  builder_.emit(Op::Rand, Type::Int);
  return builder_.top();
}

Id Operands::one_index_each(Id segdes) {
  const std::vector<std::int64_t> lengths = segdes_of(builder_.value(segdes)).lengths;
  if (lengths.size() > static_cast<std::size_t>(kLongestConstant)) {
    builder_.fetch(segdes, false);
    builder_.emit(Op::Lengths, Type::Int);
    builder_.emit(Op::Rand, Type::Int);
    return builder_.top();
  }
  Ints index;
  for (const std::int64_t length : lengths) {
    index.push_back(length == 0 ? 0 : random_.between(0, length - 1));
  }
  return numbers(index);
}

Id Operands::divisor(std::int64_t length) {
  const std::int64_t number = random_.between(1, 12) * (random_.chance(0.3) ? -1 : 1);
  this->number(number);
  segdes({length});
  builder_.emit(Op::Distribute, Type::Int);
  return builder_.top();
}

Id Operands::bounds() {
  if (random_.chance(0.4)) {  // that nobody knows to be positive
    const std::int64_t length = reference::length_of(builder_.value(small_lengths()));
    number(1);
    segdes({length});
    builder_.emit(Op::Distribute, Type::Int);
    builder_.emit(Op::Add, Type::Int);
    return builder_.top();
  }
  const std::int64_t length = pick_length();
  number(random_.between(1, 1000));
  segdes({length});
  builder_.emit(Op::Distribute, Type::Int);
  return builder_.top();
}

Id Operands::small_lengths() {
  const Id source = any(Type::Int);
  const std::int64_t length = reference::length_of(builder_.value(source));
  builder_.fetch(source, random_.chance(0.5));
  builder_.push_int(random_.pick(std::vector<std::int64_t>{1, 3, 7}));
  segdes({length});
  builder_.emit(Op::Distribute, Type::Int);
  builder_.emit(Op::And, Type::Int);
  return builder_.top();
}

std::int64_t Operands::total(Id segdes) const {
  return segdes_of(builder_.value(segdes)).total();
}

std::int64_t Operands::count(Id segdes) const {
  return segdes_of(builder_.value(segdes)).count();
}

}  // namespace smith
