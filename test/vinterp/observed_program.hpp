// A program and the steps that a machine would report of it, for tests of observers.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "machine/observer.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"

namespace vinterp_test {

inline vcode::LinkedProgram linked(std::string text) {
  vcode::Diagnostics diagnostics;
  auto program = vcode::parse(std::make_shared<const vcode::Source>("test.vcode", std::move(text)),
                              diagnostics);
  if (!program) throw std::logic_error("the test program does not parse");
  auto result = vcode::link(std::move(*program), diagnostics);
  if (!result) throw std::logic_error("the test program does not link");
  return std::move(*result);
}

/// The step of one instruction, as a machine fills it in.
inline vinterp::Step step_at(const vcode::LinkedProgram& program, std::uint32_t instruction,
                             std::int64_t elements = 0, std::int64_t bytes = 0) {
  vinterp::Step step;
  step.instruction = instruction;
  step.code = &program.code[instruction];
  step.op = &vcode::info(step.code->op);
  while (program.functions[step.function].end <= instruction) ++step.function;
  step.operand_count = static_cast<int>(step.op->operands.size());
  step.result_count = static_cast<int>(step.op->results.size());
  step.elements = elements;
  step.bytes = bytes;
  return step;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace vinterp_test
