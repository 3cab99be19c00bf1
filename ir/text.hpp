// The intermediate form as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/module.hpp"

namespace ir {

/// The module as text, one statement on a line:
///
///     FUNCTION: sum ( $0:SEGDES $1:INT ) -> ( INT ) @sum:1:6:3 {
///       $2:INT = +_REDUCE INT $1 $0 @sum:2:1:13
///       YIELD $2
///     }
///
/// A value is `$` and its number, with its type behind a colon where it is assigned, if that is
/// known. `@` names the function of the source program, line, column and length that a statement
/// comes from. A block that gives no YIELD never reaches its end. Behind the functions and a line
/// `KERNELS:` follow the kernels, if there are any, as FCODE.
std::string print(const Module& module);

/// The module that print() has written, or nothing; then `error` says what is wrong with the text.
std::optional<Module> parse_module(std::string_view text, std::string& error);

}  // namespace ir
