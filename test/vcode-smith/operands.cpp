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
      return {vector(type, total(segdes)), one_index_each(segdes), segdes};
    case Family::Replace:
      return {vector(type, total(segdes)), one_index_each(segdes), vector(type, count(segdes)),
              segdes};
    case Family::Distribute:
      return {vector(type, count(segdes)), segdes};
    case Family::Index:
      return {vector(Type::Int, count(segdes)), vector(Type::Int, count(segdes)), segdes};
    case Family::Pack:
      return {vector(type, total(segdes)), vector(Type::Bool, total(segdes)), segdes};
    default:  // scans, reductions, ranks
      return {vector(type, total(segdes)), segdes};
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
      ids.push_back(longer ? make(wanted, length + random_.between(1, 5)) : vector(wanted, length));
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
  std::vector<Id> ids = {vector(type, total(source)), indices(walked, fetches ? source : target)};
  if (flagged) ids.push_back(vector(Type::Bool, total(walked)));
  if (defaults) ids.push_back(vector(type, total(target)));
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
    if (type == Type::Int) return builder_.push_ints(ints);
    return type == Type::Float ? builder_.push_floats(floats) : builder_.push_bools(bools);
  }
  builder_.push_int(random_.between(-50, 50));
  builder_.push_int(random_.between(-7, 7));
  builder_.push_segdes({length});
  builder_.emit(Op::Index, Type::Int);
  if (random_.chance(0.3)) {  // something less regular
    builder_.push_int(random_.between(2, 1000));
    builder_.push_segdes({length});
    builder_.emit(Op::Distribute, Type::Int);
    builder_.emit(Op::Rand, Type::Int);
    builder_.emit(Op::Xor, Type::Int);
  }
  if (type == Type::Float) builder_.emit(Op::IntToFloat, Type::Int);
  if (type == Type::Bool) {
    builder_.push_int(random_.between(1, 3));
    builder_.push_segdes({length});
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
      return builder_.push_segdes(lengths);
    }
  }
  std::vector<std::int64_t> lengths;
  const std::int64_t segments = random_.chance(0.4) ? 1 : random_.between(0, 12);
  for (std::int64_t i = 0; i < segments; ++i) {
    lengths.push_back(random_.chance(0.2) ? 0 : random_.between(0, 8));
  }
  if (segments == 1 && random_.chance(0.3)) lengths[0] = pick_length();
  return builder_.push_segdes(lengths);
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
  return builder_.push_segdes(other);
}

Id Operands::indices(Id walked, Id pointed) {
  if (walked == pointed && random_.chance(0.5)) {
    // Ranks are a permutation of every segment.
    const Id data = vector(Type::Int, total(walked));
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
  return builder_.push_ints(index);
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
  return builder_.push_ints(index);
}

Id Operands::divisor(std::int64_t length) {
  const std::int64_t number = random_.between(1, 12) * (random_.chance(0.3) ? -1 : 1);
  builder_.push_int(number);
  builder_.push_segdes({length});
  builder_.emit(Op::Distribute, Type::Int);
  return builder_.top();
}

Id Operands::bounds() {
  if (random_.chance(0.4)) {  // that nobody knows to be positive
    const std::int64_t length = reference::length_of(builder_.value(small_lengths()));
    builder_.push_int(1);
    builder_.push_segdes({length});
    builder_.emit(Op::Distribute, Type::Int);
    builder_.emit(Op::Add, Type::Int);
    return builder_.top();
  }
  const std::int64_t length = pick_length();
  builder_.push_int(random_.between(1, 1000));
  builder_.push_segdes({length});
  builder_.emit(Op::Distribute, Type::Int);
  return builder_.top();
}

Id Operands::small_lengths() {
  const Id source = any(Type::Int);
  const std::int64_t length = reference::length_of(builder_.value(source));
  builder_.fetch(source, random_.chance(0.5));
  builder_.push_int(random_.pick(std::vector<std::int64_t>{1, 3, 7}));
  builder_.push_segdes({length});
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
