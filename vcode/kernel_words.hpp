// The words that have a meaning inside the kernel definitions of FCODE.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "vcode/kernel.hpp"

namespace vcode {

/// True for words that cannot name a size, vector, descriptor or local of a kernel.
bool is_reserved_in_kernels(std::string_view word);

/// Can a kernel have this as the name of a size, vector, descriptor or local?
bool can_name_in_kernels(std::string_view word);

/// The second-order combinators that are written after `=`: MAP, REDUCE, ...
std::optional<Binding::Kind> find_combinator(std::string_view word);
std::string_view combinator_name(Binding::Kind kind);

/// SEGNO, SEGOFF, SEGLEN, SEGSTART and NSEG.
std::optional<ThunkNode::Kind> find_segment_operator(std::string_view word);
std::string_view segment_operator_name(ThunkNode::Kind kind);

/// The reduction whose combiner is written with this word: `+` stands for Op::AddReduce, ...
std::optional<Op> find_monoid(std::string_view word);
/// For example "+ INT".
std::string monoid_text(Monoid monoid);

/// The elementwise operation of that spelling that thunks can apply.
std::optional<Op> find_thunk_operation(std::string_view word);

}  // namespace vcode
