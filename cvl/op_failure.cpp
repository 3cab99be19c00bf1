#include "cvl/op_failure.hpp"

#include <fmt/core.h>

namespace cvl {

using vcode::ErrorCode;

Failure division_by_zero(vcode::Op op, std::int64_t position, std::int64_t length) {
  return Failure(ErrorCode::DivisionByZero,
                 fmt::format("division by zero in `{}`", vcode::info(op).text),
                 {fmt::format("element {} of the divisor is 0 (of {} elements, counted from 0)",
                              position, length)},
                 "guard the division, for instance with SELECT");
}

Failure random_range(std::int64_t position, std::int64_t bound, std::int64_t length) {
  return Failure(
      ErrorCode::RandRange, "`RAND` of a number below 1",
      {fmt::format("element {} is {} (of {} elements, counted from 0)", position, bound, length)},
      "a random number is drawn from 0 up to the element, which must be positive");
}

Failure index_out_of_range(vcode::Op op, std::int64_t position, std::int64_t index,
                           std::int64_t segment, std::int64_t segment_length) {
  return Failure(ErrorCode::IndexOutOfRange,
                 fmt::format("index {} is out of range in `{}`", index, vcode::info(op).text),
                 {fmt::format("element {} of the index vector refers to segment {}, which has {} "
                              "elements (all counted from 0)",
                              position, segment, segment_length)});
}

Failure negative_length(std::int64_t position, std::int64_t length, std::int64_t count) {
  return Failure(
      ErrorCode::NegativeLength, fmt::format("a segment cannot have {} elements", length),
      {fmt::format("element {} of the lengths (of {}, counted from 0)", position, count)});
}

Failure total_overflow() {
  return Failure(ErrorCode::CountOverflow,
                 "the lengths of the segments add up to more than 2^63 - 1");
}

}  // namespace cvl
