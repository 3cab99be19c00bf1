// A warning about functions that call themselves for elements that are left out.
#pragma once

#include <vector>

#include "neslc/front/session.hpp"
#include "vcode/diagnostics.hpp"

namespace neslc {

/// `{e : x in s | c}` evaluates e for each x, also where c is F. Where e calls the function that it
/// belongs to, the recursion goes on below each element that is left out: of a search for eight
/// queens it visits all 8^8 ways to place them. One warning for each such call, unless an `if`
/// decides about it; the spans belong to `body.source`.
std::vector<vcode::Diagnostic> sieve_warnings(const Body& body, const Definition& function);

}  // namespace neslc
