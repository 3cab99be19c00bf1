// What programs do that they hardly mean to do.
#pragma once

#include <vector>

#include "neslc/front/session.hpp"
#include "vcode/diagnostics.hpp"

namespace neslc {

/// In order of the text; the spans belong to `form.written_body()->source`.
std::vector<vcode::Diagnostic> warnings_of(const CheckedForm& form);

}  // namespace neslc
