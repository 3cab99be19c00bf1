// The operation table for people (--list-ops) and programs (--list-ops=json).
#pragma once

#include <string>

namespace vinterp {

/// One line an operation: spelling, types, stack effect, meaning.
std::string list_ops();
/// An array of objects with the same facts.
std::string list_ops_json();
/// The table of docs/vcode-reference.md, which a test keeps equal to it.
std::string list_ops_markdown();

}  // namespace vinterp
