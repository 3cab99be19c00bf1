// One traversal: the code that computes streams piece by piece.
#pragma once

#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "neslc/flatten/flattener.hpp"
#include "neslc/flatten/streams.hpp"

namespace neslc {

/// Makes the function of a traversal, and its first call. What the function is given is what comes
/// from outside, the same for each piece, and what is carried from piece to piece.
class StreamLoop {
 public:
  /// `outer` flattens the code that needs the results.
  StreamLoop(Flattener& outer, std::vector<FoldPtr> folds);
  /// Sets the results of the folds.
  void run();

 private:
  /// A piece of a stream, and whether it is the last one.
  struct Piece {
    Value value;
    ir::ValueId ended = ir::kNoValue;
  };
  /// What a node or a fold carries: its state, and whether it is over.
  struct Carried {
    Value state;
    ir::ValueId over = ir::kNoValue;
  };

  /// `over_at_first`: a BOOL outside, or kNoValue if it never is over before all is done.
  Carried carry(const Value& first, ir::ValueId over_at_first);
  /// Is a node or fold over before the first piece? kNoValue where it is never over.
  ir::ValueId over_at_first(ir::ValueId chosen);
  ir::ValueId inside(ir::ValueId outer);
  Value inside(const Value& outer);
  Frame inside(const Frame& frame);
  Value first_state(const FunctionValue& begin, const Value& initial);
  /// The same of a node, which may be one that is not chosen: then nothing is carried out.
  Value first_state(const StreamNode& node);
  /// A call of a function of the program or the library, with values of the loop.
  Value call(const FunctionValue& function, const Value& argument);
  void step(const StreamNode& node);
  ir::ValueId piece_length(ir::ValueId all);
  void step_source(const StreamNode& node, Carried& carried);
  void step_through(const StreamNode& node, Carried& carried);
  Piece step_each(const StreamNode& node);
  Piece step_join(const StreamNode& node, Carried& carried);
  Piece step_append(const StreamNode& node, Carried& carried);
  Piece step_choice(const StreamNode& node);
  void step(const StreamFold& fold, Carried& carried);
  /// Makes the functions and the first call. `done`: have all folds ended? `next_values`: of each
  /// parameter that is carried, its value for the next piece. `wanted`: those whose last values are
  /// the results.
  ir::ValueList traverse(ir::ValueId done,
                         const std::unordered_map<ir::ValueId, ir::ValueId>& next_values,
                         const ir::ValueList& wanted);
  /// What `code` gives, or `idle` when the node is not chosen.
  Value if_chosen(const StreamNode& node, const Value& idle, const std::function<Value()>& code);
  /// What `code` gives, or `idle` when the flag is set.
  Value unless(ir::ValueId flag, const Value& idle, const std::function<Value()>& code);
  /// Must a source wait before it makes its next piece? kNoValue: never.
  ir::ValueId waits(const StreamNode& source);
  bool comes_only_through(const StreamNode& source, const StreamNode& node, std::size_t side) const;
  Value no_elements(const StreamNode& node);
  Value flag(ir::ValueId value) { return Value::scalar(value, loop_.serial()); }

  Flattener& outer_;
  Flattener loop_;
  std::vector<FoldPtr> folds_;
  std::vector<StreamNode*> nodes_;
  /// One source, nothing that may end before it, and no choice: no node is ever over while another
  /// goes on.
  bool ends_at_once_;
  ir::ValueList arguments_;   // of the first call
  ir::ValueList parameters_;  // the same inside
  std::unordered_map<ir::ValueId, ir::ValueId> known_inside_;
  std::unordered_map<const StreamNode*, Carried> carried_;
  std::unordered_map<const StreamNode*, Carried> before_;  // as the piece began
  std::unordered_map<const StreamNode*, Piece> pieces_;
  std::vector<Carried> of_folds_;
};

}  // namespace neslc
