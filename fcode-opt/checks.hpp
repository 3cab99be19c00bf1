// Run-time checks of compiled programs as assertions.
//
// A check is a conditional one of whose arms writes a message and EXITs. As an assertion - RUN of a
// kernel that consists of one ASSERT - it is no branch any more, so that the code before and behind
// it becomes one region, and it can be part of the kernel that computes what it checks.
#pragma once

#include <cstdint>
#include <string>

#include "fcode-opt/ir.hpp"

namespace fcode {

class KnownWalks;

/// The kernel ( ok:BOOL -- ) that stops the program with `message` unless all of ok is T.
std::uint32_t assertion_kernel(Module& module, const std::string& message);

/// Is the statement RUN of such a kernel?
bool is_assertion(const Module& module, const Statement& statement);

/// IF `ok` ELSE message, EXIT.
Statement check_statement(Module& module, Function& function, ValueId ok,
                          const std::string& message, const Origin& origin);

/// Turns checks into assertions, and conditionals around checks alone into straight code.
///
/// Counting checks - how many flags are T, of how many - become assertions on the flags themselves
/// where that is the same. Never moves a check past output, nor changes the order of messages.
/// Returns whether anything was changed.
bool checks_to_assertions(Module& module, KnownWalks& walks);

}  // namespace fcode
