// Failures while a program runs, in the words of its author: the classic texts of the library's
// checks and the terms of VCODE are replaced by what they mean.
#pragma once

#include "vcode/diagnostics.hpp"

namespace neslc {

/// `check` is the text of a check of the library, without its final point.
void word_check(vcode::Diagnostic& diagnostic, std::string_view check);

/// A failure that the vector library found at the diagnostic's place in `source`; the first
/// `own_notes` notes are the library's.
void word_failure(vcode::Diagnostic& diagnostic, const vcode::Source* source,
                  std::size_t own_notes);

}  // namespace neslc
