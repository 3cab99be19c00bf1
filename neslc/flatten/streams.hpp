// Streams: sequences whose elements are computed in pieces, so that they never are in memory all at
// once (Madsen and Filinski, "Towards a streaming model for nested data parallelism", 2013).
//
// While code outside of every apply-to-each is flattened, a stream is no vectors but a description
// of how its elements will be made (StreamNode), and what a reduction gives of it is pending
// (StreamFold). When a result is needed, all that is pending on the same elements is computed in
// one traversal: a function that makes one piece, ordinary flattened code, and calls itself with
// what it carries to the next one (stream_loop.hpp). A function over streams is put in the place of
// each of its calls, so that it is known there what it is given.
//
// The elements of a stream pass by once. What would need them a second time is an error, which
// shows both places.
//
// Inside an apply-to-each a stream is computed whole: it is a sequence there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neslc/flatten/flattener.hpp"

namespace neslc {

using StreamPtr = std::shared_ptr<StreamNode>;
using FoldPtr = std::shared_ptr<StreamFold>;

/// A function value and its type, which says what it is.
struct FunctionValue {
  TypePtr type = nullptr;
  Value value;
};

/// How a stream is made. A *piece* is a sequence of some elements, maybe of none.
struct StreamNode {
  enum class Kind : std::uint8_t {
    Counted,  // step(begin, end) for pieces of 0 ... `initial`
    Source,   // (piece, state, ended) = step(state), the first state being begin(initial)
    Through,  // (piece, state) = step(state, piece, ended), the first state being `initial`
    Until,    // the same, and whether that was the last piece
    Each,     // an apply-to-each
    Join,     // pairs of the elements of two streams
    Append,   // one stream behind another
    Choice,   // one of two streams: the first one if `initial` is T
  };
  Kind kind = Kind::Counted;
  TypePtr element = nullptr;
  std::vector<StreamPtr> inputs;
  Value initial;
  FunctionValue begin;
  FunctionValue step;
  const ApplyToEach* each = nullptr;
  Frame frame;  // Each: the variables that it mentions
  /// Its pieces have the lengths of those of this one.
  const StreamNode* clock = nullptr;
  /// Made in the arm of a conditional: is that one chosen? Otherwise it makes no elements, and
  /// nothing of it is carried out.
  ir::ValueId chosen = ir::kNoValue;
  std::uint32_t number = 0;  // in the order in which nodes and folds are made
  ir::Origin origin;
  /// Of what has its elements from nowhere else: have they passed by, and where? What is kept in
  /// memory may do so any number of times.
  bool traversed = false;
  ir::Origin traversal;
  bool kept = false;

  bool has_passed() const { return traversed && !kept; }

  bool is_source() const { return inputs.empty(); }
};

/// What becomes of the elements of a stream: finish(state), where state = step(state, piece) for
/// each piece, beginning with begin(initial), or with `initial`.
struct StreamFold {
  StreamPtr input;
  Value initial;
  FunctionValue begin;  // type null: there is none
  FunctionValue step;
  FunctionValue finish;
  bool may_end = false;      // (state, enough) = step(state, piece)
  bool effects = false;      // is carried out although nobody needs its result
  std::uint32_t number = 0;  // as that of nodes
  ir::Origin origin;
  /// Instead of all that: a call whose argument is pending.
  std::function<Value(const Value& argument)> call;
  int depth = 0;  // of calls whose arguments are calls
  bool done = false;
  Value result;

  bool is_call() const { return input == nullptr; }
};

/// The streams of a function that is being flattened.
class Streams {
 public:
  explicit Streams(Flattener& flattener) : f_(flattener) {}

  Value add(StreamNode node);
  /// Throws CompileError if it cannot be an apply-to-each over streams.
  Value each(const ApplyToEach& node, std::vector<Value> generators, const Frame& frame,
             TypePtr element);
  Value add(StreamFold fold);
  /// What `call` will give for an argument that is pending: so more is pending when it is needed.
  Value later(const Value& argument, std::function<Value(const Value& argument)> call);

  /// The value, nothing of it being pending. Streams stay what they are.
  Value settled(Value value);
  /// The same for these variables, and for what is pending on streams among them, so that what
  /// follows may be code that is not always carried out.
  void settle(const std::vector<const Local*>& locals, Frame& frame);
  /// Everything that is pending.
  void settle_all();
  /// That which has effects.
  void settle_effects();

  /// `made_at`: of the stream that would have to be kept.
  [[noreturn]] void fail(const ir::Origin& origin, std::string message, std::string hint,
                         std::vector<vcode::Note> notes = {},
                         std::optional<WrittenPlace> made_at = {}) const;

  /// All nodes that those are made of, inputs first.
  static std::vector<StreamNode*> upstream(const std::vector<StreamPtr>& ends);

 private:
  friend class StreamArms;

  Value kept(const Value& stream);
  void force(const FoldPtr& fold);
  std::vector<FoldPtr> traversal(const FoldPtr& fold);
  void force_what_it_needs(const StreamFold& fold);
  template <class Is>
  bool needs_any(const StreamFold& fold, const Is& is) const;
  bool is_ready(const StreamFold& fold) const;
  void force_earlier_effects(const StreamFold& fold, const std::vector<FoldPtr>& group);
  void fail_second_traversal(const StreamFold& fold, const StreamNode& source) const;

  Flattener& f_;
  std::vector<FoldPtr> pending_;
  std::vector<StreamNode*> traversed_;
  std::vector<StreamPtr> kept_;  // of which `traversed_` speaks
  std::uint32_t next_number_ = 0;
  bool keeping_ = false;  // making a stream of what is kept
};

/// Calls `action` for what a StreamNode is made of besides its inputs.
template <class Node, class Action>
void for_each_part_of_node(Node& node, const Action& action) {
  action(node.initial);
  action(node.begin.value);
  action(node.step.value);
  for (auto& [local, value] : node.frame.locals) action(value);
}

/// Are streams, or what is pending, parts of the value?
bool holds_stream(const Value& value);
bool holds_pending(const Value& value);

}  // namespace neslc
