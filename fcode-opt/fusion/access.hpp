// How an operation reads its operands when it is computed element by element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fcode-opt/ir.hpp"
#include "fcode-opt/shapes/shapes.hpp"

namespace fcode {

/// At which element.
enum class Access : std::uint8_t {
  Own,         // the position that is being computed
  Target,      // the position of the target that gets a default (scatters)
  Zero,        // its only element
  Segment,     // the number of the position's segment
  Foreign,     // a computed position
  Descriptor,  // a descriptor, for its segments
  Length,      // only how long it is
};

/// What an operation becomes in a kernel.
enum class Role : std::uint8_t {
  Literal,    // CONST of one number
  Generator,  // DIST, INDEX, LENGTHS, LENGTH, one-segment MAKE_SEGDES: computed wherever it is read
  Map,        // one element from elements of the operands
  Random,     // RAND: the same, but drawn once, in the order of the program
  Reduce,
  Scan,
  Filter,
  Scatter,
  Segments,  // MAKE_SEGDES
  Assert,    // a run-time check (checks.hpp)
  Opaque,    // never part of a kernel
};

/// Is every element known to be at least 1? RAND of such a vector does not fail.
bool is_positive(ValueId value, const Module& module, Shapes& shapes);

/// DIST, INDEX or LENGTHS: a vector that a kernel computes wherever it reads it.
bool is_generator(const Statement& statement);

/// Does a kernel compute elements of the operand where it is such a reader? What is fetched from
/// computed positions has to be a vector.
bool reads_elements(const Statement& reader, std::size_t operand);

/// A vector fetched at positions that go up evenly in each segment; is it the same run again and
/// again?
bool is_copy_of_runs(const Statement& statement, const Shapes& shapes);
bool is_copy_of_one_run(const Statement& statement, Shapes& shapes);

/// The role that the statement can have, given what is known of its operands.
Role role_of(const Statement& statement, const Module& module, Shapes& shapes);

/// For each operand of a statement that is not Opaque.
std::vector<Access> accesses(const Statement& statement, Shapes& shapes);

/// The operand of a scatter that says what it leaves as it is; -1: it has none.
int default_operand(Op op);

/// The data length of the index space that the statement runs over.
Linear domain_of(const Statement& statement, Shapes& shapes);

/// The operand that describes the segments of that space; -1: the space is flat, or one segment.
int segments_operand(const Statement& statement, Shapes& shapes);

}  // namespace fcode
