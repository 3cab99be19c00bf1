// Sequences of instructions: function bodies and the SPEC of a kernel.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vcode/program.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {

/// Where a sequence of instructions ends.
enum class SequenceEnd : std::uint8_t {
  Return,  // a function: behind RET
  End,     // a SPEC: before END
};

/// Parses instructions into lists; constants and names go to the program. Serves one program.
class InstructionParser {
 public:
  InstructionParser(Program& program, TokenReader& reader, Diagnostics& diagnostics)
      : program_(program), reader_(reader), diagnostics_(diagnostics) {}

  /// Reads up to the end of the sequence. Errors are reported, each once; a missing end is reported
  /// where the next definition or the end of the text shows that it is missing.
  void sequence(std::vector<Instruction>& code, SequenceEnd end);

  /// Is the token the word that begins a function or a kernel definition?
  bool at_definition() const {
    return reader_.at_word("FUNC") || (program_.fcode && reader_.at_word("KERNEL"));
  }
  void skip_to_definition();
  /// After an error: passes over what may still belong to the broken instruction. The next
  /// operation ends that, and so does any word that begins a later line, which may be a misspelled
  /// operation.
  void skip_to_instruction();

 private:
  struct OpenIf {
    Span span;
    Span else_span;  // once its ELSE has been seen
  };

  void instructions();
  std::optional<Op> operation() const;
  bool at_end(SequenceEnd end) const;
  bool instruction(Op op);
  bool arguments(const OpInfo& op, Instruction& instruction);
  bool written_type(const OpInfo& op, Instruction& instruction);
  bool counts(const OpInfo& op, Instruction& instruction);
  bool name(const OpInfo& op, Instruction& instruction);
  void unknown_word();
  bool forbidden_in_spec(Op op);
  void conditional(Op op, Span span);
  void end_inside_conditional(std::string_view end, Span span);
  std::vector<Note> open_conditional_notes() const;

  Program& program_;
  TokenReader& reader_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::string_view, std::uint32_t> name_indices_;  // views into the source
  std::vector<Instruction> code_;                                     // of the sequence so far
  SequenceEnd end_ = SequenceEnd::Return;
  std::vector<OpenIf> open_ifs_;
  bool fused_reported_ = false;
};

}  // namespace vcode
