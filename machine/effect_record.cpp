#include "machine/effect_record.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

namespace vinterp {
namespace {

using cvl::Value;
using cvl::Vector;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t next) {
  return (hash ^ next) * 0x9E3779B97F4A7C15u;
}

std::uint64_t hash_of(cvl::Backend& backend, const Vector& vector) {
  std::array<char, 8192> bytes;
  const std::size_t width = backend.widths().element_bytes(vector.type);
  const auto most = static_cast<std::int64_t>(bytes.size() / width);
  auto hash = static_cast<std::uint64_t>(vector.length);
  for (std::int64_t begin = 0; begin < vector.length; begin += most) {
    const std::int64_t count = std::min(most, vector.length - begin);
    backend.download(vector, begin, count, bytes.data());
    const std::string_view piece(bytes.data(), static_cast<std::size_t>(count) * width);
    hash = mixed(hash, std::hash<std::string_view>()(piece));
  }
  return hash;
}

std::size_t stored_bytes(const Vector& vector) {
  return vector.buffer ? vector.buffer->capacity : 0;
}

/// Of vectors and descriptors: no effect gives a pair.
std::size_t stored_bytes(const Value& value) {
  if (value.is_vector()) return stored_bytes(value.vector());
  const auto& tables = value.segdes().tables;
  return tables ? stored_bytes(tables->lengths) : 0;
}

}  // namespace

EffectRecord::EffectRecord(cvl::Backend& backend)
    : backend_(backend), most_bytes_(std::min(kMostBytes, backend.heap().limit() / kLeastShare)) {}

std::uint64_t EffectRecord::fingerprint(std::span<const Value> values) const {
  std::uint64_t hash = values.size();
  for (const Value& value : values) {
    hash = mixed(hash, static_cast<std::uint64_t>(value.type()));
    if (value.is_vector()) {
      hash = mixed(hash, hash_of(backend_, value.vector()));
    } else if (value.type() == vcode::Type::Segdes) {
      hash = mixed(hash, hash_of(backend_, cvl::segdes_lengths(backend_, value.segdes())));
    }
  }
  return hash;
}

void EffectRecord::repeat(const Key& key, std::span<Value> results) {
  Effect& effect = effects_[next_];
  if (effect.key != key) throw Departure();
  ++next_;
  if (effect.failure) std::rethrow_exception(effect.failure);
  if (gives_away_) {
    std::move(effect.results.begin(), effect.results.end(), results.begin());
    if (!repeats()) close();
  } else {
    std::copy(effect.results.begin(), effect.results.end(), results.begin());
  }
}

EffectRecord::Effect& EffectRecord::add(const Key& key, std::size_t results) {
  Effect effect{key, std::vector<Value>(results), {}};
  effects_.push_back(std::move(effect));
  ++next_;
  bytes_ += sizeof(Effect) + results * sizeof(Value);
  return effects_.back();
}

void EffectRecord::keep(Effect& effect, std::span<const Value> results) {
  std::copy(results.begin(), results.end(), effect.results.begin());
  for (const Value& result : results) bytes_ += stored_bytes(result);
}

/// Is more kept for nobody else than is reasonable? Looked at each time that so much has been
/// added.
bool EffectRecord::keeps_much_alone() {
  const std::size_t much = most_bytes_ / kPartAlone;
  if (bytes_ - bytes_when_looked_at_ <= much) return false;
  bytes_when_looked_at_ = bytes_;
  std::size_t alone = 0;
  for (const Effect& effect : effects_) {
    for (const Value& result : effect.results) {
      if (result.is_vector() && result.vector().buffer.unique()) alone += stored_bytes(result);
    }
  }
  return alone > much / 2;
}

void EffectRecord::begin_anew(Need need) {
  // What was measured after everything else has been seen by nobody, and is measured anew.
  while (!effects_.empty() && effects_.back().key.op == vcode::Op::StopTimer) effects_.pop_back();
  next_ = 0;
  gives_away_ = need == Need::LastTime;
  if (gives_away_ && effects_.empty()) close();
}

void EffectRecord::close() {
  closed_ = true;
  effects_ = {};
  next_ = 0;
}

}  // namespace vinterp
