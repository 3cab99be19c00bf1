#include "vcode-smith/shrinker.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace smith {
namespace {

using vcode::Constant;
using vcode::Function;
using vcode::Op;
using vcode::Program;

using CodeFails = std::function<bool(const Program&)>;

bool calls(const Program& program, const std::string& name) {
  for (const Function& function : program.functions) {
    for (const vcode::Instruction& instruction : function.code) {
      if (instruction.op == Op::Call && program.names[instruction.a] == name) return true;
    }
  }
  return false;
}

/// The program without the instructions [begin, begin + count) of a function.
Program without(const Program& program, std::size_t function, std::size_t begin,
                std::size_t count) {
  Program smaller = program;
  auto& code = smaller.functions[function].code;
  const auto first = code.begin() + static_cast<std::ptrdiff_t>(begin);
  code.erase(first, first + static_cast<std::ptrdiff_t>(count));
  return smaller;
}

bool balanced(const Program& program, std::size_t function) {
  int depth = 0;
  for (const vcode::Instruction& instruction : program.functions[function].code) {
    if (instruction.op == Op::If) ++depth;
    if (instruction.op == Op::EndIf) --depth;
    if (depth < 0 || (instruction.op == Op::Else && depth == 0)) return false;
  }
  return depth == 0;
}

/// Deletes runs of instructions, long ones first.
bool delete_instructions(Program& program, const CodeFails& still_fails) {
  bool any = false;
  for (std::size_t f = 0; f < program.functions.size(); ++f) {
    for (std::size_t run = program.functions[f].code.size(); run > 0; run /= 2) {
      for (std::size_t begin = 0; begin + run < program.functions[f].code.size();) {
        Program smaller = without(program, f, begin, run);
        if (balanced(smaller, f) && still_fails(smaller)) {
          program = std::move(smaller);
          any = true;
        } else {
          ++begin;
        }
      }
    }
  }
  return any;
}

bool delete_functions(Program& program, const CodeFails& still_fails) {
  bool any = false;
  for (std::size_t f = 0; f < program.functions.size();) {
    Program smaller = program;
    smaller.functions.erase(smaller.functions.begin() + static_cast<std::ptrdiff_t>(f));
    const std::string& name = program.functions[f].name;
    if (program.functions.size() > 1 && !calls(smaller, name) && still_fails(smaller)) {
      program = std::move(smaller);
      any = true;
    } else {
      ++f;
    }
  }
  return any;
}

/// Replaces a conditional by one of its arms: IF, ELSE to ENDIF deleted and the condition popped.
bool flatten_conditionals(Program& program, const CodeFails& still_fails) {
  bool any = false;
  for (std::size_t f = 0; f < program.functions.size(); ++f) {
    for (std::size_t i = 0; i < program.functions[f].code.size(); ++i) {
      if (program.functions[f].code[i].op != Op::If) continue;
      std::size_t otherwise = 0;
      std::size_t end = i;
      for (int depth = 0; end < program.functions[f].code.size(); ++end) {
        const Op op = program.functions[f].code[end].op;
        if (op == Op::If) ++depth;
        if (op == Op::Else && depth == 1) otherwise = end;
        if (op == Op::EndIf && --depth == 0) break;
      }
      const std::size_t first_end = otherwise == 0 ? end : otherwise;
      for (const bool keep_first : {true, false}) {
        Program smaller = program;
        auto& code = smaller.functions[f].code;
        const auto at = [&](std::size_t k) {
          return code.begin() + static_cast<std::ptrdiff_t>(k);
        };
        if (keep_first) {
          code.erase(at(first_end), at(end + 1));
        } else {
          code.erase(at(end));
          code.erase(at(i + 1), at(first_end + (otherwise == 0 ? 0 : 1)));
        }
        vcode::Instruction pop;
        pop.op = Op::Pop;
        pop.a = 1;
        code[i] = pop;
        if (!still_fails(smaller)) continue;
        program = std::move(smaller);
        any = true;
        break;
      }
    }
  }
  return any;
}

bool shorten_constants(Program& program, const CodeFails& still_fails) {
  bool any = false;
  for (std::size_t c = 0; c < program.constants.size(); ++c) {
    for (const std::size_t divisor : {2, 1}) {
      // First the second half goes, then single elements.
      for (bool progress = true; progress && program.constants[c].size() > 0;) {
        progress = false;
        Program smaller = program;
        Constant& constant = smaller.constants[c];
        const std::size_t size = constant.size();
        constant.form = vcode::ConstantForm::Vector;
        std::visit([&](auto& elements) { elements.resize(divisor == 2 ? size / 2 : size - 1); },
                   constant.elements);
        if (still_fails(smaller)) {
          program = std::move(smaller);
          any = progress = true;
        }
      }
    }
  }
  return any;
}

/// Numbers that are read become smaller, and vectors shorter.
bool shrink_input(TestProgram& program, const StillFails& still_fails) {
  bool any = false;
  const auto accept = [&](TestProgram smaller) {
    if (!still_fails(smaller)) return false;
    program = std::move(smaller);
    return any = true;
  };
  for (std::size_t i = 0; i < program.input.size(); ++i) {
    for (bool progress = true; progress && program.input[i].size() > 1;) {
      TestProgram shorter = program;
      shorter.input[i].pop_back();
      progress = accept(std::move(shorter));
    }
    for (const std::int64_t divisor : {100, 10, 2}) {
      for (bool progress = true; progress;) {
        TestProgram smaller = program;
        for (std::int64_t& number : smaller.input[i]) number /= divisor;
        progress = smaller.input != program.input && accept(std::move(smaller));
      }
    }
  }
  while (!program.input.empty()) {  // what nobody reads
    TestProgram shorter = program;
    shorter.input.pop_back();
    if (!accept(std::move(shorter))) break;
  }
  return any;
}

}  // namespace

TestProgram shrink(TestProgram program, const StillFails& still_fails) {
  bool progress = true;
  for (int round = 0; progress && round < 8; ++round) {
    progress = shrink_input(program, still_fails);
    const auto fails = [&](const Program& code) { return still_fails({code, program.input}); };
    progress |= delete_instructions(program.code, fails);
    progress |= flatten_conditionals(program.code, fails);
    progress |= delete_functions(program.code, fails);
    progress |= shorten_constants(program.code, fails);
  }
  return program;
}

}  // namespace smith
