// Reads functions of scalars as expressions of a state (LoopBody): what loops and recursion have in
// common. Whatever cannot be part of a kernel's rounds is thrown as NoLoop.
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

class BodyReader {
 public:
  BodyReader(const Module& module, const std::vector<bool>& recursive,
             const SerialFunction& function)
      : module_(module),
        recursive_(recursive),
        main_(function.function),
        parameters_(function.parameters) {}

 protected:
  using Parameter = SerialFunction::Parameter;
  using Values = std::vector<ExpressionId>;  // of a function, by ValueId
  /// A condition, and which of its arms it is.
  struct Arm {
    ExpressionId condition;
    bool is_first;
    bool operator==(const Arm&) const = default;
  };

  /// Calls inside each other that are put in place, and loops inside each other.
  static constexpr int kDeepestCall = 20;

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

  /// The parameters of the function: components of the state, and sequences. It hands on slices of
  /// those that `sliced` are descriptors of; nothing: of all, if it makes slices at all.
  std::vector<ExpressionId> begin(std::optional<std::set<std::uint32_t>> sliced);
  /// Where the sequences begin, and how long they are, of which the state knows that
  /// (LoopBody::own_segment), when the function is called with these arguments, which are its own
  /// sequences or slices of them; they are its own afterwards.
  std::vector<ExpressionId> move_sequences(std::vector<ExpressionId>& arguments);
  /// The same of one sequence.
  std::array<ExpressionId, 2> move(std::vector<ExpressionId>& arguments, const Moved& moved);
  /// Where new lists of a few elements, or without any, are what a loop goes on with, instead of
  /// sequences that are `now`: writes their elements into the vectors of these.
  void begin_lists(std::vector<ExpressionId>& arguments, const std::vector<ExpressionId>& now);

  Expressions& expressions() { return body_.expressions; }
  /// What has been read so far, to go back to.
  struct Progress;
  Progress progress() const;
  void go_back(Progress progress);

  std::uint32_t add_component(Type type);
  std::uint32_t begun_with(const vcode::ThunkNode& number);
  ExpressionId state_node(std::uint32_t component);

  /// Of the constants that the run gives, which are vectors? Those that something is fetched from.
  void find_vectors(const Block& block);
  /// The values of a function that is called with these arguments, as far as they are known then.
  /// REQUIRES: it can be read, being so deep in calls.
  Values values_of(std::uint32_t function, const std::vector<ExpressionId>& arguments, int depth);

  /// What an operation gives, or a constant. REQUIRES: it is no call and no conditional.
  ExpressionId value_of(const Statement& statement, const Values& values);
  static std::vector<ExpressionId> arguments_of(const Statement& call, const Values& values);
  /// Is the arm run, when its conditional is reached?
  ExpressionId is_run(const Arm& arm);
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
  /// Which table it is, if any: a vector of the function may be written into.
  std::optional<Table> table(ExpressionId node) const;
  ExpressionId add_table(Table table);
  /// Where the sequence begins in its vector.
  ExpressionId first_of(const Table& table);
  ExpressionId descriptor_of(const Table& table) const;
  /// The element, or 0 where there is none.
  ExpressionId element(ExpressionId vector, ExpressionId index, ExpressionId descriptor);
  /// How many elements each vector has that it describes.
  ExpressionId size(ExpressionId descriptor);
  ExpressionId size_node(std::uint32_t sequence);
  ExpressionId descriptor_of_length(ExpressionId length);
  /// Where only one of two is defined, the other one has no meaning.
  std::vector<ExpressionId> merged(ExpressionId condition, const std::vector<ExpressionId>& a,
                                   const std::vector<ExpressionId>& b);

  const Module& module_;
  const std::vector<bool>& recursive_;  // functions: recursive_functions()
  const std::uint32_t main_;
  const std::vector<Parameter>& parameters_;
  LoopBody body_;
  std::vector<Arm> arms_;  // that are being read, from the outermost one inward

 private:
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
  /// A sequence as elements are read from it.
  struct Window {
    std::uint32_t vector;    // number
    std::uint32_t segments;  // whose elements those of the vector are: number
    ExpressionId first;      // kUndefined: its first
    ExpressionId length;
  };

  ExpressionId given(std::uint32_t index);
  ExpressionId literal(std::uint32_t index);
  ExpressionId operation(const Statement& statement, const Values& values);
  ExpressionId add_made(const Made& made);
  const Made* made(ExpressionId node, Made::Kind kind) const;
  ExpressionId slice(const Statement& statement, const Values& values);
  ExpressionId replaced(ExpressionId vector, ExpressionId place, ExpressionId element,
                        ExpressionId descriptor);
  ExpressionId list(std::vector<ExpressionId> elements);
  const std::vector<ExpressionId>* elements_of(ExpressionId node) const;
  std::optional<ExpressionId> of_lists(const Statement& statement, const Values& values);
  ExpressionId folded(Op reduction, Type type, const std::vector<ExpressionId>& elements);
  std::optional<std::int64_t> literal_length(ExpressionId descriptor) const;
  std::optional<ExpressionId> longer(const Statement& statement, const Values& values);
  ExpressionId applied(const Statement& statement, const std::vector<ExpressionId>& operands);
  ExpressionId merged_value(ExpressionId condition, ExpressionId a, ExpressionId b);
  Window window(ExpressionId vector, ExpressionId descriptor);
  ExpressionId added(ExpressionId first, ExpressionId offset);
  bool makes_slices(std::uint32_t function, std::set<std::uint32_t>& seen) const;
  ExpressionId parameter(std::optional<Type> type);
  ExpressionId constant(std::uint32_t constant, bool is_sequence);
  std::uint32_t sequence(ExpressionId node) const;
  Type type_of(std::uint32_t number) const;
  ExpressionId start(std::uint32_t descriptor);
  ExpressionId place_in(const Table& table, ExpressionId index);
  void append(Table& table, ExpressionId end, const std::vector<ExpressionId>& elements);
  bool is_empty(ExpressionId node) const;
  ExpressionId shortened(Table table, ExpressionId condition);
  ExpressionId element(const Window& from, ExpressionId index);
  ExpressionId chosen(ExpressionId condition, std::uint32_t vector, ExpressionId place,
                      ExpressionId otherwise);
  ExpressionId lies_below(ExpressionId index, ExpressionId limit);
  ExpressionId never_zero(ExpressionId divisor);

  std::set<std::uint32_t> vectors_;  // of the constants that the run gives
  std::vector<Made> made_;           // each once
  std::set<std::uint32_t> sliced_;   // descriptors
};

struct BodyReader::Progress {
  LoopBody body;
  std::set<std::uint32_t> vectors;
  std::vector<Made> made;
  std::vector<Arm> arms;
};

}  // namespace fcode
