// Which place of the NESL program each instruction of its VCODE comes from.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/module.hpp"
#include "machine/line_profile.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/printer.hpp"
#include "vcode/program.hpp"

namespace neslc {

class SourceMap {
 public:
  /// `program` was lowered from `module`. The references must outlive the map.
  SourceMap(const ir::Module& module, const vcode::LinkedProgram& program)
      : module_(module), program_(program) {}

  /// A place in the text of a function, and the function.
  struct Frame {
    const ir::Scope* scope;
    vcode::Span span;
  };
  /// The place of an instruction and those of the calls around it that were replaced by the code of
  /// the callee; the innermost first.
  std::vector<Frame> frames(std::uint32_t instruction) const;

  /// The innermost place outside of the library, and the function of the library that was called
  /// there, if any.
  struct UserPlace {
    std::string function;  // empty: a top-level expression
    std::string library;   // empty: none
    vcode::Span span;      // of `source`; none if all frames are the library's
    std::shared_ptr<const vcode::Source> source;
  };
  UserPlace user_place(std::uint32_t instruction) const;
  /// The same for the table of a profile; the called function of the library stands behind a `>`.
  vinterp::LineProfile::Place profile_place(std::uint32_t instruction) const;

  /// Gives a failure of an instruction its place, and notes that say how the program got there.
  /// `calls`: the active CALL instructions, outermost first. Returns the source of all the spans.
  std::shared_ptr<const vcode::Source> explain(vcode::Diagnostic& diagnostic,
                                               std::uint32_t instruction,
                                               std::span<const std::uint32_t> calls) const;

 private:
  const ir::Module& module_;
  const vcode::LinkedProgram& program_;
};

/// For the text of a program that was lowered from `module`: comments `FILE:LINE:COLUMN FUNCTION`
/// where the place changes.
vcode::Comments place_comments(const ir::Module& module, const vcode::Program& program);

}  // namespace neslc
