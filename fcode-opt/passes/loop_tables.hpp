// Loops inside of a round that write into sequences of the function, as the round itself may, too.
// A sequence is one table all the time, so that there is one version of it that can be read: what
// the last loop has left, and what the round has written since.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "fcode-opt/passes/body_reader.hpp"

namespace fcode {

/// What is known of a loop and those inside of it, from the last time that the function was read.
struct LoopFacts {
  using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;

  Pairs writes;  // loops inside, into which vectors
  std::size_t last =
      0;        // that writes of all inside, in the order in which they are read, from 1 on
  Pairs moves;  // functions, and the arguments that describe what they hand on slices of
};

/// The function has to be read again, knowing that.
struct Again {
  LoopFacts facts;
};

class LoopTables : public BodyReader {
 public:
  LoopTables(const Module& module, const std::vector<bool>& recursive,
             const SerialFunction& function, const LoopFacts& facts)
      : BodyReader(module, recursive, function), facts_(facts) {}

 protected:
  /// Of tables that loops inside have written.
  using Versions = std::map<std::uint32_t, std::uint32_t>;

  /// The loop inside, which is that function, writes into the vector. Throws Again if that is new.
  void learn(std::uint32_t function, std::uint32_t vector) const;
  /// The function hands on a slice of the sequence that the argument describes.
  void learn_move(std::uint32_t function, std::uint32_t argument) const;
  bool moves(std::uint32_t function, std::uint32_t argument) const {
    return facts_.moves.contains({function, argument});
  }
  bool writes(std::uint32_t function) const;
  bool writes_into(std::uint32_t function, ExpressionId sequence) const;
  /// Does the statement call a loop that writes?
  bool calls_writer(const Statement& statement) const;

  /// Where the condition holds, what has been written into the sequence is written.
  void write(ExpressionId sequence, ExpressionId condition);
  /// The version of a table that a loop writes. What has been written into it is written when the
  /// loop goes on for the first time.
  ExpressionId begun_version(ExpressionId sequence, ExpressionId has_begun);

  /// Is it no table, or the version of one that can be read?
  bool is_current(ExpressionId node) const;
  void require_current(ExpressionId node) const;
  /// Goes on with the versions of both arms of a conditional, in which these values are made.
  using Made = std::array<std::vector<ExpressionId>*, 2>;
  void join_versions(const Made& in_a, const Versions& of_a, const Made& in_b,
                     const Versions& of_b);

  /// Does the operation read an element, which a loop inside may change behind it?
  bool reads_what_changes(const Statement& statement, const Values& values) const;
  /// The statements of a block. Loops that write come when they have to: what reads a table as it
  /// was before them can do so then.
  std::vector<const Statement*> in_order(const Block& block) const;

  /// What describes a sequence that is a slice of its vector, and where it begins there.
  struct Place {
    ExpressionId descriptor, first;
  };
  /// Are the results scalars and sequences of the function, in which it may have written, or slices
  /// of those that it hands on slices of? Then what has become of these, by their descriptors.
  using Places = std::map<std::uint32_t, Place>;
  std::optional<Places> places_of(const std::vector<ExpressionId>& results);
  /// Behind the last round there is one more, which finds the results and whether the function has
  /// failed: only in rounds what has been written can be read. `is_whole`: is the round done, and
  /// does not wait for a loop inside? `places`: of the results, if the body gives them.
  void add_last_round(ExpressionId is_whole, const Places& places);

  Versions versions_;
  std::size_t entered_ = 0;  // loops inside, so far

 private:
  ExpressionId overflows(std::size_t from);
  ExpressionId leaves_little_room();

  const LoopFacts facts_;
  std::uint32_t last_version_ = 0;
};

}  // namespace fcode
