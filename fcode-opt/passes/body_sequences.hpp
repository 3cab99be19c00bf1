// Sequences, while a function of scalars is read as expressions of a state (BodyReader): those that
// it is called with, constants, slices, and what has other elements, or more of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "fcode-opt/passes/loop_body.hpp"

namespace fcode {

/// The function is no loop, and no recursion.
struct NoLoop {};

/// What a value is while a function is read: an expression, or, from kSequences on, something else.
inline constexpr ExpressionId kUndefined = ~ExpressionId{0};
/// From here on: sequences of the loop, by their numbers, …
inline constexpr ExpressionId kSequences = LoopBody::kSequences;
/// … and results of the next round, by theirs.
inline constexpr ExpressionId kPending = kSequences + (ExpressionId{1} << 30);
/// From here on: what is made of sequences, by its number.
inline constexpr ExpressionId kMade = kSequences + (ExpressionId{1} << 28);
/// The descriptor of one segment of one element.
inline constexpr ExpressionId kSingle = kUndefined - 1;
/// A result that the function itself has to give.
inline constexpr ExpressionId kElsewhere = kUndefined - 2;

class BodySequences {
 protected:
  using Parameter = SerialFunction::Parameter;
  using Values = std::vector<ExpressionId>;  // of a function, by ValueId

  BodySequences(const Module& module, const SerialFunction& function)
      : module_(module), main_(function.function), parameters_(function.parameters) {}

  /// What is written into a vector where the condition holds.
  struct Write {
    ExpressionId condition, place, element;
    bool appends = false;  // behind the end of the sequence, as the last element of that write
    bool operator==(const Write&) const = default;
  };
  /// A vector of the function, by its number, and what has been written into it since the round
  /// began, or since a loop inside wrote: then it is another version of it. Or a slice of it, which
  /// begins at `first` and has as many elements as `descriptor`: it may go on behind the end of
  /// the function's sequence, if what is there has been written.
  struct Table {
    std::uint32_t vector;
    std::uint32_t version = 0;
    std::vector<Write> writes = {};
    std::optional<ExpressionId> first = {}, descriptor = {};
  };
  /// A sequence that a loop hands on slices of: which of the loop's arguments its descriptor and
  /// vectors are, and what these are in each round.
  struct Moved {
    std::uint32_t descriptor;
    ExpressionId descriptor_now;
    std::vector<std::pair<std::uint32_t, Table>> vectors;
  };
  /// What is made of sequences. The descriptor of a slice; places of elements that count up by one
  /// from `first` on, as many as `descriptor` has; or the slice, which begins at `first` in the
  /// vector with this number. That it lies inside has been checked by the function. Or the vector
  /// with other elements at some places, or a few elements that are known one by one. What begins
  /// to become a sequence with more elements: room for these, and with those of `source` in it.
  struct Made {
    enum class Kind : std::uint8_t { Descriptor, Places, Slice, Written, List, Room, Begun };
    Kind kind;
    ExpressionId length = 0, first = 0, descriptor = 0, source = 0;
    std::uint32_t vector = 0, version = 0;
    std::vector<Write> writes = {};
    std::vector<ExpressionId> elements = {};
    bool operator==(const Made&) const = default;
  };

  Expressions& expressions() { return body_.expressions; }
  std::uint32_t add_component(Type type);
  ExpressionId state_node(std::uint32_t component);
  static ExpressionId scalar(ExpressionId node) {
    if (node >= kSequences) throw NoLoop{};
    return node;
  }
  static bool is_sequence(ExpressionId node) { return node >= kSequences && node < kPending; }
  /// Is it one of the function's sequences, or describes one?
  bool is_own(ExpressionId node) const {
    return node >= kSequences && node - kSequences < parameters_.size();
  }
  bool is_descriptor(ExpressionId node) const;
  /// Of which of its sequences does the function hand on slices? By their descriptors.
  const std::set<std::uint32_t>& sliced() const { return sliced_; }

  /// Where the sequences begin, and how long they are, of which the state knows that
  /// (LoopBody::own_segment), when the function is called with these arguments, which are its own
  /// sequences or slices of them; they are its own afterwards.
  std::vector<ExpressionId> move_sequences(std::vector<ExpressionId>& arguments);
  /// The same of one sequence.
  std::array<ExpressionId, 2> move(std::vector<ExpressionId>& arguments, const Moved& moved);
  /// Where new lists of a few elements, or without any, are what a loop goes on with, instead of
  /// sequences that are `now`: writes their elements into the vectors of these.
  void begin_lists(std::vector<ExpressionId>& arguments, const std::vector<ExpressionId>& now);

  /// Which table it is, if any: a vector of the function may be written into.
  std::optional<Table> table(ExpressionId node) const;
  ExpressionId add_table(Table table);
  /// Where the sequence begins in its vector.
  ExpressionId first_of(const Table& table);
  ExpressionId descriptor_of(const Table& table) const;

  /// How many elements each vector has that it describes.
  ExpressionId size(ExpressionId descriptor);
  ExpressionId size_node(std::uint32_t sequence);
  ExpressionId descriptor_of_length(ExpressionId length);
  /// Of a descriptor of one segment that the program contains.
  std::optional<std::int64_t> literal_length(ExpressionId descriptor) const;
  /// Of a parameter or constant, by its number.
  Type type_of(std::uint32_t number) const;

  ExpressionId add_made(const Made& made);
  const Made* made(ExpressionId node, Made::Kind kind) const;
  ExpressionId list(std::vector<ExpressionId> elements);
  const std::vector<ExpressionId>* elements_of(ExpressionId node) const;

  /// The element, or 0 where there is none.
  ExpressionId element(ExpressionId vector, ExpressionId index, ExpressionId descriptor);
  ExpressionId slice(const Statement& statement, const Values& values);
  ExpressionId replaced(ExpressionId vector, ExpressionId place, ExpressionId element,
                        ExpressionId descriptor);
  std::optional<ExpressionId> longer(const Statement& statement, const Values& values);
  /// Where only one of two is defined, the other one has no meaning.
  std::vector<ExpressionId> merged(ExpressionId condition, const std::vector<ExpressionId>& a,
                                   const std::vector<ExpressionId>& b);

  const Module& module_;
  const std::uint32_t main_;
  const std::vector<Parameter>& parameters_;
  LoopBody body_;
  std::vector<Made> made_;          // each once
  std::set<std::uint32_t> sliced_;  // descriptors

 private:
  /// A sequence as elements are read from it.
  struct Window {
    std::uint32_t vector;    // number
    std::uint32_t segments;  // whose elements those of the vector are: number
    ExpressionId first;      // kUndefined: its first
    ExpressionId length;
  };

  std::uint32_t sequence(ExpressionId node) const;
  ExpressionId start(std::uint32_t descriptor);
  ExpressionId added(ExpressionId first, ExpressionId offset);
  ExpressionId place_in(const Table& table, ExpressionId index);
  void append(Table& table, ExpressionId end, const std::vector<ExpressionId>& elements);
  const vcode::Constant* literal_of(ExpressionId node) const;
  bool is_empty(ExpressionId node) const;
  ExpressionId shortened(Table table, ExpressionId condition);
  ExpressionId merged_value(ExpressionId condition, ExpressionId a, ExpressionId b);
  Window window(ExpressionId vector, ExpressionId descriptor);
  ExpressionId element(const Window& from, ExpressionId index);
  ExpressionId chosen(ExpressionId condition, std::uint32_t vector, ExpressionId place,
                      ExpressionId otherwise);
  ExpressionId lies_below(ExpressionId index, ExpressionId limit);
};

}  // namespace fcode
