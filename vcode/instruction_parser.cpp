#include "vcode/instruction_parser.hpp"

#include <utility>

#include <fmt/format.h>

#include "vcode/constant_parser.hpp"
#include "vcode/keywords.hpp"
#include "vcode/numbers.hpp"

namespace vcode {

void InstructionParser::sequence(std::vector<Instruction>& code, SequenceEnd end) {
  code_.clear();
  end_ = end;
  open_ifs_.clear();
  instructions();
  code = code_;  // a copy, which has room for no more than it holds
}

void InstructionParser::instructions() {
  while (true) {
    if (end_ == SequenceEnd::End && reader_.at_word("END")) {
      if (!open_ifs_.empty()) end_inside_conditional("END", reader_.token().span);
      return;
    }
    if (reader_.at_end() || at_definition()) {
      reader_.fail_expected(end_ == SequenceEnd::Return ? "`RET` at the end of the function"
                                                        : "`END` at the end of the kernel",
                            {}, open_conditional_notes());
      return;
    }
    const auto op = operation();
    if (!op) {
      unknown_word();
      skip_to_instruction();
      continue;
    }
    if (!instruction(*op)) {
      skip_to_instruction();
      continue;
    }
    if (*op == Op::Return && end_ == SequenceEnd::Return) return;
  }
}

// The operation that the token names. RUN is one in FCODE only.
std::optional<Op> InstructionParser::operation() const {
  const Token& token = reader_.token();
  const auto op = token.kind == Token::Kind::Word ? find_op(token.text) : std::nullopt;
  return op == Op::Run && !program_.fcode ? std::nullopt : op;
}

void InstructionParser::unknown_word() {
  const Token& token = reader_.token();
  if (token.kind == Token::Kind::Word && token.text == "FUSED") {
    if (std::exchange(fused_reported_, true)) return;
    reader_.fail({.code = ErrorCode::FusedInstruction,
                  .message = "`FUSED` calls an operation that only the library made together with "
                             "this file defines",
                  .span = token.span,
                  .function = {},
                  .notes = {},
                  .hint = "optimize the .vcode file that this one was made from: `fcode-opt "
                          "prog.vcode -o prog.fcode` writes a file that needs no library"});
    return;
  }
  if (token.kind == Token::Kind::Word && token.text == "RUN") {
    reader_.fail_expected("an instruction",
                          fmt::format("`RUN` is an instruction of FCODE: its files begin with "
                                      "`FCODE {}`",
                                      kFcodeVersion));
    return;
  }
  if (!code_.empty()) {
    const OpInfo& before = info(code_.back().op);
    if (reader_.token_type() && before.argument == Argument::None) {
      reader_.fail_expected(fmt::format("an instruction (`{}` takes no type)", before.text));
      return;
    }
  }
  std::string hint;
  if (token.kind == Token::Kind::Word && diagnostics_.keeps(Severity::Error)) {
    const std::string nearest = nearest_operation(token.text);
    if (!nearest.empty()) hint = fmt::format("did you mean `{}`?", nearest);
  }
  reader_.fail_expected("an instruction", std::move(hint));
}

bool InstructionParser::instruction(Op op) {
  Instruction result;
  result.op = op;
  result.span = reader_.token().span;
  reader_.advance();
  const OpInfo& row = info(op);
  if (!arguments(row, result)) return false;
  if (end_ == SequenceEnd::End && forbidden_in_spec(op)) {
    reader_.fail({.code = ErrorCode::KernelSpec,
                  .message = fmt::format("`{}` in the SPEC of a kernel", row.text),
                  .span = result.span,
                  .function = {},
                  .notes = {},
                  .hint = "a SPEC is a sequence of instructions without calls; END ends it"});
  }
  if (op == Op::If || op == Op::Else || op == Op::EndIf) conditional(op, result.span);
  if (op == Op::Return && !open_ifs_.empty()) {
    end_inside_conditional("RET", result.span);
    skip_to_definition();
  }
  code_.push_back(result);
  return true;
}

bool InstructionParser::forbidden_in_spec(Op op) {
  return op == Op::Call || op == Op::Run || op == Op::Return;
}

void InstructionParser::end_inside_conditional(std::string_view end, Span span) {
  reader_.fail({.code = ErrorCode::UnbalancedIf,
                .message = fmt::format("`{}` inside a conditional", end),
                .span = span,
                .function = {},
                .notes = open_conditional_notes(),
                .hint = end == "RET" ? "write `ENDIF` before it; a function has one `RET`, its "
                                       "last word"
                                     : "write `ENDIF` before it"});
}

bool InstructionParser::arguments(const OpInfo& op, Instruction& instruction) {
  switch (op.argument) {
    case Argument::None:
      return true;
    case Argument::Counts:
      return counts(op, instruction);
    case Argument::Name:
      return name(op, instruction);
    case Argument::Constant: {
      auto constant = parse_constant(reader_, instruction.span);
      if (!constant) return false;
      instruction.type = constant->type;
      instruction.a = static_cast<std::uint32_t>(program_.constants.size());
      program_.constants.push_back(std::move(*constant));
      return true;
    }
    default:
      return written_type(op, instruction);
  }
}

bool InstructionParser::written_type(const OpInfo& op, Instruction& instruction) {
  const auto type = reader_.token_type();
  if (type && op.allows(*type)) {
    instruction.type = *type;
    reader_.take_into(instruction.span);
    return true;
  }
  std::vector<std::string_view> allowed;
  for (Type candidate : {Type::Int, Type::Bool, Type::Float, Type::Segdes, Type::Char}) {
    if (op.allows(candidate)) allowed.push_back(type_name(candidate));
  }
  std::string list(allowed[0]);
  for (std::size_t i = 1; i < allowed.size(); ++i) {
    list += i + 1 == allowed.size() ? " or " : ", ";
    list += allowed[i];
  }
  reader_.fail_expected(fmt::format("{} after `{}`", list, op.text));
  return false;
}

bool InstructionParser::counts(const OpInfo& op, Instruction& instruction) {
  for (std::uint32_t* number : {&instruction.a, &instruction.b}) {
    const Token& token = reader_.token();
    const char* const what = number == &instruction.a ? "count" : "start";
    if (token.kind != Token::Kind::Integer) {
      reader_.fail_expected(fmt::format("two integers, count and start, after `{}`", op.text));
      return false;
    }
    const auto value = read_integer(token.text);
    constexpr std::int64_t kLargest = 0xFFFFFFFF;
    if (!value || *value < 0 || *value > kLargest) {
      const bool negative = token.text.starts_with('-');
      reader_.fail(
          {.code = ErrorCode::NumberOutOfRange,
           .message = fmt::format("the {} of `{}` is {}: `{}`", what, op.text,
                                  negative ? "negative" : "too large", shortened(token.text)),
           .span = token.span,
           .function = {},
           .notes = {},
           .hint = {}});
      return false;
    }
    *number = static_cast<std::uint32_t>(*value);
    reader_.take_into(instruction.span);
  }
  return true;
}

bool InstructionParser::name(const OpInfo& op, Instruction& instruction) {
  const Token& token = reader_.token();
  if (token.kind != Token::Kind::Word || is_reserved(token.text)) {
    reader_.fail_expected(
        fmt::format("a {} name after `{}`", op.op == Op::Run ? "kernel" : "function", op.text));
    return false;
  }
  const auto next = static_cast<std::uint32_t>(program_.names.size());
  const auto [entry, added] = name_indices_.try_emplace(token.text, next);
  if (added) program_.names.emplace_back(token.text);
  instruction.a = entry->second;
  reader_.take_into(instruction.span);
  return true;
}

void InstructionParser::conditional(Op op, Span span) {
  const auto fail = [&](std::string message) {
    reader_.fail({.code = ErrorCode::UnbalancedIf,
                  .message = std::move(message),
                  .span = span,
                  .function = {},
                  .notes = open_conditional_notes(),
                  .hint = {}});
  };
  if (op == Op::If) {
    open_ifs_.push_back({span, {}});
  } else if (open_ifs_.empty()) {
    fail(fmt::format("`{}` without an open `IF`", info(op).text));
  } else if (op == Op::EndIf) {
    open_ifs_.pop_back();
  } else if (open_ifs_.back().else_span) {
    fail("a second `ELSE` for the same `IF`");
  } else {
    open_ifs_.back().else_span = span;
  }
}

std::vector<Note> InstructionParser::open_conditional_notes() const {
  std::vector<Note> notes;
  if (open_ifs_.empty()) return notes;
  notes.push_back({"this `IF` is open", open_ifs_.back().span});
  if (open_ifs_.back().else_span) {
    notes.push_back({"its `ELSE`", open_ifs_.back().else_span});
  }
  return notes;
}

void InstructionParser::skip_to_instruction() {
  const std::uint32_t broken_line = reader_.token().span.line;
  const Token* token = &reader_.token();
  while (!reader_.at_end() && !at_definition() &&
         !(end_ == SequenceEnd::End && reader_.at_word("END"))) {
    if (token->kind == Token::Kind::Word && (operation() || token->span.line > broken_line)) {
      return;
    }
    reader_.advance();
    token = &reader_.token();
  }
}

void InstructionParser::skip_to_definition() {
  while (!reader_.at_end() && !at_definition()) reader_.advance();
}

}  // namespace vcode
