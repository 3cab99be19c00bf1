// What the tests of the optimizer share.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fcode-opt/optimizer.hpp"
#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/shapes/known_walks.hpp"
#include "ir/lift.hpp"
#include "ir/lower.hpp"
#include "ir/text.hpp"
#include "ir/tools.hpp"
#include "ir/verifier.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"
#include "vcode/printer.hpp"

namespace fcode::testing {

inline vcode::Program parse(std::string text) {
  vcode::Diagnostics diagnostics;
  auto program =
      vcode::parse(std::make_shared<const vcode::Source>("p", std::move(text)), diagnostics);
  if (!program) throw std::runtime_error("the test's program does not parse");
  return std::move(*program);
}

inline vcode::LinkedProgram link(vcode::Program program) {
  vcode::Diagnostics diagnostics;
  auto linked = vcode::link(std::move(program), diagnostics);
  if (!linked) throw std::runtime_error("the test's program does not link");
  return std::move(*linked);
}

inline Module module_of(std::string text) {
  return lift(link(parse(std::move(text))));
}

/// The written program without line breaks and indentation.
inline std::string flat(const vcode::Program& program) {
  std::string text;
  bool blank = true;
  for (const char c : vcode::print(program)) {
    const bool is_blank = c == ' ' || c == '\n';
    if (!is_blank) text += c;
    if (is_blank && !blank) text += ' ';
    blank = is_blank;
  }
  if (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// A pass that asks for shapes, by itself.
template <bool (*pass)(Module&, KnownWalks&)>
bool alone(Module& module) {
  KnownWalks walks;
  return pass(module, walks);
}

/// The program behind one pass, written as stack code.
inline std::string after(bool (*pass)(Module&), std::string text) {
  Module module = module_of(std::move(text));
  pass(module);
  if (const std::string fault = find_fault(module); !fault.empty()) {
    throw std::runtime_error(fault);
  }
  return flat(lower(module).program);
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A program whose vectors are given by the run: of them, and of their lengths, the optimizer knows
/// nothing.
struct FromOutside {
  vcode::Program program;
  std::vector<std::uint32_t> given;  // constants
};

/// The program with its data from outside: its literals of several elements, and instead of each
/// literal descriptor one that is made of the length of a vector, or of lengths.
inline FromOutside from_outside(const vcode::Program& program) {
  FromOutside result{program, {}};
  std::map<std::int64_t, std::uint32_t> as_long;  // vectors of such a length
  const auto give = [&](vcode::Constant constant) {
    result.program.constants.push_back(std::move(constant));
    const auto number = static_cast<std::uint32_t>(result.program.constants.size() - 1);
    result.given.push_back(number);
    return number;
  };
  for (vcode::Function& function : result.program.functions) {
    std::vector<vcode::Instruction> code;
    for (vcode::Instruction instruction : function.code) {
      if (instruction.op != vcode::Op::Const) {
        code.push_back(instruction);
        continue;
      }
      vcode::Constant constant = result.program.constants[instruction.a];
      const bool segdes = constant.type == Type::Segdes, one = constant.size() == 1;
      if (one && (!segdes || constant.ints()[0] == 1)) {
        code.push_back(instruction);
        continue;
      }
      if (segdes) constant.type = instruction.type = Type::Int;
      if (one) {
        const std::int64_t length = constant.ints()[0];
        if (!as_long.contains(length)) {
          constant.form = vcode::ConstantForm::Vector;
          constant.elements = std::vector<std::int64_t>(static_cast<std::size_t>(length));
          as_long[length] = give(std::move(constant));
        }
        instruction.a = as_long[length];
      } else {
        instruction.a = give(std::move(constant));
      }
      code.push_back(instruction);
      if (one) {
        instruction.op = vcode::Op::Length;
        code.push_back(instruction);
      }
      if (segdes) {
        instruction.op = vcode::Op::MakeSegdes;
        code.push_back(instruction);
      }
    }
    function.code = std::move(code);
  }
  return result;
}

/// The program optimized for a run that gives some of its constants.
inline vcode::Program optimized(const FromOutside& outside, const OptimizerOptions& options = {},
                                OptimizerReport* report = nullptr) {
  Module module = lift(link(outside.program), outside.given);
  optimize(module, options, report);
  return lower(module).program;
}

/// An example with other data: of each pair, the first in place of the second.
inline std::string example_of(const std::string& name,
                              const std::vector<std::pair<std::string, std::string>>& data) {
  std::string text =
      read_file(std::filesystem::path(PROJECT_ROOT) / "nesl-examples/vcode" / (name + ".vcode"));
  for (const auto& [input, constant] : data) {
    REQUIRE(text.find(constant) != std::string::npos);
    text.replace(text.find(constant), constant.size(), input);
  }
  return text;
}

/// The programs of the conformance tests that link.
/// The example run-length-encode, of what `input` leaves in place of its text.
inline std::string run_length_coding(const std::string& input) {
  return example_of("run-length-encode", {{input, "CONST CHAR \"aaaabccddddddeaa\""}});
}

inline std::vector<std::filesystem::path> programs() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(PROJECT_ROOT) /
                                                               "test/conformance")) {
    if (entry.path().extension() != ".vcode") continue;
    vcode::Diagnostics diagnostics;
    auto program = vcode::parse(std::make_shared<const vcode::Source>("p", read_file(entry.path())),
                                diagnostics);
    if (program && vcode::link(std::move(*program), diagnostics)) paths.push_back(entry.path());
  }
  return paths;
}

/// The same, and the examples.
inline std::vector<std::filesystem::path> programs_and_examples() {
  std::vector<std::filesystem::path> paths = programs();
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(PROJECT_ROOT) /
                                                               "nesl-examples/vcode")) {
    if (entry.path().extension() == ".vcode") paths.push_back(entry.path());
  }
  return paths;
}

/// The pass, and dead code goes.
template <bool (*pass)(Module&)>
bool and_remove_dead(Module& module) {
  const bool changed = pass(module);
  remove_dead(module);
  return changed;
}

}  // namespace fcode::testing
