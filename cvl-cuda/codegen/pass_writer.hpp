// The struct of one pass.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cvl-cuda/codegen/fault_sites.hpp"
#include "cvl-cuda/codegen/kernel_code.hpp"
#include "cvl-cuda/shapes.hpp"

namespace cvl::cuda::codegen {

class PassWriter {
 public:
  PassWriter(const KernelPlan& plan, std::uint32_t number, const FaultSites& sites);

  /// REQUIRES: states() <= kMostStates.
  PassCode write();
  int states() const { return static_cast<int>(folds_.size()); }

 private:
  /// Something that is folded over the positions: a scan, a reduction, a number of elements.
  struct Fold {
    std::string combiner, type;
    std::string value;           // what a position adds
    std::vector<NodeId> needs;   // nodes that `value` is made from
    bool running = false;        // is it wanted at every position?
    SegdesId under = kNone;      // begins anew with each of its segments
    std::string at_segment_end;  // a target of one element for each segment; empty: none
    std::string of_nothing;      // of a segment without elements, if there is such a target
    std::string concluded;       // an lvalue that takes the fold of all positions; empty: none
  };
  /// What is being written: only what is folded, everything at a position, or what a target of a
  /// scatter fetches from the position that won it. Failures are reported once, when visiting.
  enum class Mode : std::uint8_t { Count, Visit, Target };

  const PlanNode& node(NodeId number) const { return pass_.nodes[number]; }

  // Folds (pass_folds.cpp).
  void find_folds();
  void add_reduction(const PlanSink& sink);
  void add_selection(const PlanSink& sink);
  int add_fold(Fold fold);
  void find_running();
  std::string result_of(std::size_t fold, const std::string& state) const;

  // Members.
  std::string source(ArrayId array);
  std::string target(ArrayId array);
  std::string descriptor(SegdesId segdes);
  std::string size(SizeId size);
  std::string random(std::uint32_t draw);
  std::string lengths(SegdesId segdes);
  std::string winners(std::uint32_t sink);
  std::string kept(std::uint32_t sink, std::uint32_t value);
  std::string count(int number);
  std::string stored(ArrayId array, bool late);
  void member(Member member);
  std::string declaration(const Member& member) const;

  // Code at a position.
  void line(const std::string& text);
  static std::vector<bool> needed(const PlanPass& pass, const std::vector<NodeId>& roots);
  std::vector<NodeId> roots_of_folds() const;
  std::string own(SegdesId segdes);
  void write_nodes(const std::vector<bool>& wanted, Mode mode);
  void write_sinks(bool late);
  void write_node(NodeId number, Mode mode);
  void write_guarded(NodeId number, Mode mode, const std::string& value, const std::string& index,
                     const std::string& limit);
  void write_apply(NodeId number, Mode mode);
  std::string fail(std::uint32_t binding, int site, const std::string& value,
                   const std::string& limit) const;
  void begin_segments();
  void add_to_folds(bool all);
  void write_segment_ends();
  void write_cursor_steps(const std::set<SegdesId>& used, Mode mode);

  // Sinks (pass_sinks.cpp).
  void write_sink(std::uint32_t number);
  void write_scatter(const PlanSink& sink, std::uint32_t number);
  void write_selection(const PlanSink& sink);
  bool is_gathered(vcode::Type type) const;
  std::string move_function() const;

  // What is at a position of vectors, and of a tile (pass_parts.cpp).
  std::string moved_part() const;
  std::string loaded_part() const;
  std::string stored_part() const;
  std::string segmented_part() const;

  // Loops (pass_loops.cpp).
  void write_iteration(const PlanSink& sink);
  void write_body_node(const PlanNode& node, NodeId number);

  // What waits until it is known what lies before a position (pass_runs.cpp).
  bool is_late(NodeId number) const { return number != kNone && node(number).after_scan; }
  bool is_late(const PlanSink& sink) const;
  void find_kept();
  void write_kept();
  void write_known();
  std::string kept_type() const;
  int descriptors_walked() const;
  int run_of_kept() const;
  std::string evaluate_function();
  std::string finish_function();
  std::string count_function();

  // Functions of the struct.
  std::string visit_function();
  std::string conclude_function();
  std::string other_function();
  std::string target_function();
  std::string state_types();
  std::string take_body(Mode mode);

  const KernelPlan& plan_;
  const vcode::Kernel& kernel_;
  const PlanPass& pass_;
  const std::uint32_t number_;
  const FaultSites& sites_;
  PassCode code_;
  std::vector<Fold> folds_;
  std::vector<int> fold_of_scan_;        // by node; -1: not a scan
  std::vector<int> fold_of_selection_;   // by sink: the count of the first class; -1: none
  std::vector<int> count_of_sink_;       // by sink: the first number for the host
  std::vector<NodeId> kept_, repeated_;  // by evaluate() for finish(); evaluated by both
  std::set<SegdesId> cursors_;           // descriptors whose own segment is asked for
  std::set<SegdesId> windows_;           // … at positions of a tile
  std::set<SegdesId> used_;              // … in the function being written
  std::vector<NodeId> loaded_;           // elements of operands at the position
  struct StoredArray {
    ArrayId array;
    bool late;  // by finish()
  };
  std::vector<StoredArray> stored_;  // elements of results at the position
  struct GatheredArray {
    ArrayId array;
    std::string fold;  // the number of elements so far
  };
  std::vector<GatheredArray> gathered_;  // selected elements that gather in shared memory first
  std::string body_;
};

}  // namespace cvl::cuda::codegen
