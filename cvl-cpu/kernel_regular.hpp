// Regular nests, whose rows all have a length that the program knows: there are no descriptors, and
// the own position is divided to rows and columns. What is the same in a whole row is computed once
// for each row here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cvl/kernel_plan.hpp"
#include "cvl/value.hpp"

namespace cvl::cpu {

/// Does a node compare INTs, other than for being different?
bool orders_ints(const PlanNode& node);

/// The remainder of the own position divided by a number is the position within a row of so many
/// elements. 0: the node is something else.
std::int64_t row_length_of_offset(const PlanPass& pass, NodeId node);
/// The same of the quotient, which is the number of the row.
std::int64_t row_length_of_number(const PlanPass& pass, NodeId node);
/// The same of what is read off the rows: number and position within the row, and an element that
/// has the number of the row.
std::int64_t row_length_of_read(const PlanPass& pass, NodeId node);

/// The rows that a pass refers to, as far as its nodes have been looked at.
struct NestRows {
  SegdesId segdes = kNone;      // whose segments they are; kNone: nothing has asked for one
  std::int64_t row_length = 0;  // by which the pass divides positions; 0: it has not

  /// Are the segments of this descriptor the rows? If there was none before, they are.
  bool take(SegdesId id);
  /// Does the node divide the own position for the number of its row, or for its place there?
  bool is_number(const PlanPass& pass, NodeId node);
  bool is_offset(const PlanPass& pass, NodeId node);
  /// Is it the length or the start of the own row?
  bool describe(const PlanPass& pass, const PlanNode& node) const;
  /// Can rows be so long in a run?
  bool fit(std::int64_t length) const { return row_length == 0 || row_length == length; }

 private:
  bool take_length(std::int64_t length);
};

/// An INT that is the same in a whole row, because the own position occurs in it only divided by
/// the length of a row, or a multiple of that; or in a whole segment, because only the number of
/// the own segment occurs in it.
struct RowNumber {
  struct Item {
    enum class Kind : std::uint8_t { Place, Number, Apply, Choose, Element };
    Kind kind = Kind::Number;
    vcode::Op op = vcode::Op::Add;   // Apply; 0 and 1 stand for BOOLs
    std::uint32_t args[3] = {};      // Apply; Choose: by the first; Element: the index
    NodeId node = kNone;             // Number: which is uniform; Element: the gather
    std::int64_t number = 0;         // with the operands of one run
    const Vector* vector = nullptr;  // Element; likewise
  };
  std::vector<Item> items;  // arguments before their users; the last one is the number
  SegdesId segdes = kNone;  // whose segments; kNone: rows

  /// In the rows or segments [first, first + count), which begin at positions `starts`, with INTs
  /// of 64 bits or of 32. False if an element lies outside of its vector. REQUIRES: numbers and
  /// vectors are those of the run; count is positive
  bool evaluate(std::int64_t first, const std::int64_t* starts, std::int64_t count, bool wide,
                std::int64_t* out) const;

 private:
  bool evaluate_one(std::int64_t place, bool wide, std::int64_t& out) const;
  bool evaluate_some(std::int64_t first, const std::int64_t* starts, std::int64_t count, bool wide,
                     std::int64_t* out) const;
};

/// The node in this form, if it has it and is not too long.
std::optional<RowNumber> find_row_number(const PlanPass& pass, NodeId node,
                                         std::int64_t row_length);

/// The same by the number of the own segment, of some descriptor.
std::optional<RowNumber> find_segment_number(const PlanPass& pass, NodeId node);

}  // namespace cvl::cpu
