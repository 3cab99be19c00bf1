// Machine code in place of some steps of a program.
//
// Steps that native_code.hpp can make loops of are put together, as many at a time as the others
// allow, which may be computed earlier or later for that. What nobody outside of such a group reads
// stays in registers. The steps of a group follow its code: they compute what is left of a block
// that has no whole number of groups of elements, and blocks in which an operation fails.
#pragma once

#include "cvl-cpu/kernel_bind.hpp"

namespace cvl::cpu {

/// Counts a run of the pass, and makes code when so much has been computed that it pays. To be
/// called when the pass has been bound and all targets have been added.
void renew_native_steps(const BoundPass& pass, BoundProgram& program);

/// Forgets code for steps, or rounds of them, that are run in another way this time. Where no new
/// code is wanted, this takes the place of the above.
void forget_other_native_steps(const BoundPass& pass, BoundProgram& program,
                               NativeSteps::Form form = NativeSteps::Form::Steps);

/// The same for the body of a loop. Where all of it can be machine code, the loop is, too
/// (NativeSteps::rounds), and the steps stay as they are. `states`: how many go on side by side.
void renew_native_rounds(const BoundPass& pass, BoundProgram& program, const PlanLoop& loop,
                         std::int64_t states);

/// The same for a loop that is running, on one thread, and whose rounds have taken long already, of
/// however few states. The steps stay as they are. For a loop whose states are run one after the
/// other it makes plain code, and when it is called again better code.
void make_native_rounds(const BoundPass& pass, BoundProgram& program, const PlanLoop& loop,
                        std::int64_t states);

/// Machine code that computes what is wanted of pieces (NativeSteps::pieces), if all that it needs
/// can be such code, and it is time to make it. True when there is some.
bool renew_native_pieces(const BoundPass& pass, BoundProgram& program, const PieceResults& wanted);

/// Places in the table of addresses for NativeSteps::rounds. Each node of the body has two: for its
/// one element, or the vector that it is gathered from, and for the length of that, an INT. Of a
/// vector that counts these are the first element and the difference between two.
struct RoundPlaces {
  std::uint32_t components = 0, nodes = 0, tables = 0;
  std::uint32_t now(std::uint32_t component) const { return component; }
  std::uint32_t next(std::uint32_t component) const { return components + component; }
  std::uint32_t flags() const { return 2 * components; }
  std::uint32_t node(NodeId node) const { return 2 * components + 1 + node; }
  std::uint32_t length(NodeId node) const { return this->node(nodes) + node; }
  std::uint32_t stack() const { return length(nodes); }  // of a FrameStack, if there is one
  std::uint32_t table(std::uint32_t table) const { return stack() + 1 + table; }
  std::uint32_t table_length(std::uint32_t table) const { return this->table(tables) + table; }
  std::uint32_t count() const { return table_length(tables); }
};

RoundPlaces round_places(const PlanLoop& loop);

}  // namespace cvl::cpu
