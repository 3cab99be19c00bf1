// What a program has read, written and measured so far, so that it can be begun anew, in another
// form, and nobody can tell: what stands in the record is not done again, but comes out as it did
// before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "cvl/backend.hpp"
#include "vcode/opcodes.hpp"

namespace vinterp {

/// Thrown where a program that was begun anew does not do what stands in the record next. That is
/// no fault of it, if it computes something else because it rounds a sum in another way.
struct Departure {};

/// The effects of a program, in order: which operation, on what, and what came of it. Of what was
/// written only a fingerprint is kept, of what was read the value, without a copy. Not thread safe.
class EffectRecord {
 public:
  /// How much of what was read is kept, unless the memory is so small that it would be missed; and
  /// which part of that where the program itself holds it no longer, as it reads a stream.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  static constexpr std::size_t kPartAlone = 4;
  static constexpr std::size_t kLeastShare = 16;  // of the memory that the record may take

  /// `backend` must outlive this.
  explicit EffectRecord(cvl::Backend& backend);

  /// Calls `carry_out()`, which leaves `results`, unless the program was begun anew and has done
  /// this before. Throws what `carry_out` throws, then or now, and Departure.
  template <class CarryOut>
  void pass(vcode::Op op, vcode::Type type, std::span<const cvl::Value> operands,
            std::span<cvl::Value> results, CarryOut carry_out) {
    if (closed_) return carry_out();
    const Key key{op, type, fingerprint(operands)};
    if (repeats()) return repeat(key, results);
    // There is room for what has been done before it is done.
    Effect& effect = add(key, results.size());
    try {
      carry_out();
    } catch (...) {
      effect.failure = std::current_exception();
      throw;
    }
    keep(effect, results);
  }

  /// How often what is in the record is still needed.
  enum class Need { Again, LastTime };
  /// From now on the program is begun anew. Where that is the last time, what was read is given
  /// away. REQUIRES: complete().
  void begin_anew(Need need);

  /// Is everything that the program has done in the record?
  bool complete() const { return !closed_; }
  /// Has the program been begun anew and not come as far as before?
  bool repeats() const { return next_ < effects_.size(); }
  /// Is more kept than is reasonable, if it is not needed to come as far as before?
  bool is_full() { return !closed_ && !repeats() && (bytes_ > most_bytes_ || keeps_much_alone()); }
  /// Did the last effect fail?
  bool last_failed() const { return !effects_.empty() && effects_.back().failure != nullptr; }
  /// Lets go of everything: the program cannot be begun anew any more.
  void close();

 private:
  struct Key {
    vcode::Op op;
    vcode::Type type;
    std::uint64_t operands;
    bool operator==(const Key&) const = default;
  };
  struct Effect {
    Key key;
    std::vector<cvl::Value> results;
    std::exception_ptr failure;
  };

  std::uint64_t fingerprint(std::span<const cvl::Value> values) const;
  void repeat(const Key& key, std::span<cvl::Value> results);
  Effect& add(const Key& key, std::size_t results);
  void keep(Effect& effect, std::span<const cvl::Value> results);
  bool keeps_much_alone();

  cvl::Backend& backend_;
  std::size_t most_bytes_;
  std::vector<Effect> effects_;
  std::size_t next_ = 0;                  // the effect that the program comes to next
  std::size_t bytes_ = 0;                 // of all effects, …
  std::size_t bytes_when_looked_at_ = 0;  // … when it was last found out who else holds them
  bool gives_away_ = false;
  bool closed_ = false;
};

}  // namespace vinterp
