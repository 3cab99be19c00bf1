// The text of a PTX module, taken apart but not yet understood: kernels, functions, variables, and
// bodies as lists of statements. What the statements mean is the matter of kernel.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptx_machine {

/// `.shared .align 8 .b8 name[2056]`, with its first bytes if the text gives them.
struct Variable {
  std::string space;  // "shared", "local", "param", "global", "const"
  std::string name;
  std::size_t alignment = 1;
  std::size_t bytes = 0;
  std::vector<std::byte> initial;
};

struct Statement {
  enum class Kind { Instruction, Label, Open, Close, Registers, Variable, Pragma };
  Kind kind = Kind::Instruction;
  std::string text;  // without comment and semicolon; of a label its name
  int line = 0;      // of the module, from 1
};

/// A kernel (.entry) or a function (.func).
struct Routine {
  std::string name;
  bool is_entry = false;
  std::vector<Variable> parameters, results;
  std::string body;  // between the braces; of a declaration empty
  int line = 0;      // where that begins
};

struct ModuleText {
  std::vector<Routine> routines;
  std::vector<Variable> variables;
};

/// Both throw Fault where the text is not what a compiler writes. Bodies are only taken apart when
/// they are wanted: of a library's hundreds of kernels a program runs a few.
ModuleText parse_module(std::string_view text);
std::vector<Statement> parse_body(const Routine& routine);

/// `.align 8 .b8 name[16] = {1, 2}` without or with its space.
Variable parse_variable(std::string_view text);

/// The pieces between commas that are in no brackets, without blanks around them.
std::vector<std::string> split_operands(std::string_view text);
std::string trimmed(std::string_view text);

}  // namespace ptx_machine
