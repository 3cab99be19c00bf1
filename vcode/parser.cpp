#include "vcode/parser.hpp"

#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "vcode/constant_parser.hpp"
#include "vcode/keywords.hpp"
#include "vcode/numbers.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {
namespace {

class Parser {
 public:
  Parser(std::shared_ptr<const Source> source, Diagnostics& diagnostics)
      : diagnostics_(diagnostics),
        errors_before_(diagnostics.error_count()),
        reader_(*source, diagnostics) {
    program_.source = std::move(source);
  }

  std::optional<Program> run();

 private:
  struct OpenIf {
    Span span;
    Span else_span;  // once its ELSE has been seen
  };

  void program();
  void function();
  bool function_name(Function& function);
  void signature(Function& function);
  bool type_list(std::vector<Type>& types);
  void body(Function& function);
  void unknown_word(const Function& function);
  bool instruction(Op op, Function& function);
  bool arguments(const OpInfo& op, Instruction& instruction);
  bool written_type(const OpInfo& op, Instruction& instruction);
  bool counts(const OpInfo& op, Instruction& instruction);
  bool callee(Instruction& instruction);
  void conditional(Op op, Span span);
  void open_conditional_note(std::vector<Note>& notes) const;
  void skip_to_instruction();
  void skip_to_function();

  Diagnostics& diagnostics_;
  std::size_t errors_before_;  // counted before the reader reads its first token
  TokenReader reader_;
  Program program_;
  std::unordered_map<std::string_view, std::uint32_t> name_indices_;  // views into the source
  std::vector<OpenIf> open_ifs_;
  bool fused_reported_ = false;
};

std::optional<Program> Parser::run() {
  program();
  if (diagnostics_.error_count() != errors_before_) return std::nullopt;
  return std::move(program_);
}

void Parser::program() {
  while (!reader_.at_end()) {
    if (reader_.accept_word("FUNC")) {
      function();
      continue;
    }
    reader_.set_function({});
    reader_.fail_expected("`FUNC`");
    skip_to_function();
  }
  if (program_.functions.empty() && !reader_.broken() && !reader_.reported()) {
    reader_.fail({.code = ErrorCode::NoFunction,
                  .message = "the program has no functions",
                  .span = {1, 1, 0},
                  .function = {},
                  .notes = {},
                  .hint = "the smallest program is `FUNC MAIN RET`"});
  }
}

void Parser::function() {
  Function function;
  open_ifs_.clear();
  if (function_name(function)) signature(function);
  reader_.set_function(function.name);
  body(function);
  program_.functions.push_back(std::move(function));
}

bool Parser::function_name(Function& function) {
  const Token& token = reader_.token();
  reader_.set_function({});
  if (token.kind == Token::Kind::Word && !is_reserved(token.text)) {
    function.name = token.text;
    function.name_span = token.span;
    reader_.advance();
    return true;
  }
  const bool reserved = token.kind == Token::Kind::Word;
  reader_.fail_expected("a function name after `FUNC`",
                        reserved ? "keywords cannot be function names" : "");
  // A keyword or number that was meant as the name is passed over, so that it gives no second
  // error as the first word of the body.
  if (token.text != "FUNC") reader_.advance();
  return false;
}

void Parser::signature(Function& function) {
  if (!reader_.accept_word("I")) return;
  function.has_signature = true;
  if (!type_list(function.declared_in)) return;
  if (!reader_.accept_word("O")) {
    reader_.fail_expected("a type or `O` in the list of argument types");
    skip_to_instruction();
    return;
  }
  type_list(function.declared_out);
}

bool Parser::type_list(std::vector<Type>& types) {
  while (const auto type = reader_.token_type()) {
    types.push_back(*type);
    reader_.advance();
  }
  return true;
}

// The instructions up to RET. A missing RET is reported where the next function or the end of the
// text shows that it is missing.
void Parser::body(Function& function) {
  while (true) {
    const Token& token = reader_.token();
    if (token.kind == Token::Kind::End || reader_.at_word("FUNC")) {
      std::vector<Note> notes;
      open_conditional_note(notes);
      reader_.fail_expected("`RET` at the end of the function", {}, std::move(notes));
      return;
    }
    const auto op = token.kind == Token::Kind::Word ? find_op(token.text) : std::nullopt;
    if (!op) {
      unknown_word(function);
      skip_to_instruction();
      continue;
    }
    if (!instruction(*op, function)) {
      skip_to_instruction();
      continue;
    }
    if (*op == Op::Return) return;
  }
}

void Parser::unknown_word(const Function& function) {
  const Token& token = reader_.token();
  if (token.kind == Token::Kind::Word && token.text == "FUSED") {
    if (std::exchange(fused_reported_, true)) return;
    reader_.fail({.code = ErrorCode::FusedInstruction,
                  .message = "`FUSED` calls an operation that only the library made together with "
                             "this file defines",
                  .span = token.span,
                  .function = {},
                  .notes = {},
                  .hint = "run the .vcode or .ucode file that this one was made from"});
    return;
  }
  if (!function.code.empty()) {
    const OpInfo& before = info(function.code.back().op);
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

bool Parser::instruction(Op op, Function& function) {
  Instruction result;
  result.op = op;
  result.span = reader_.token().span;
  reader_.advance();
  const OpInfo& row = info(op);
  if (!arguments(row, result)) return false;
  if (op == Op::If || op == Op::Else || op == Op::EndIf) conditional(op, result.span);
  if (op == Op::Return && !open_ifs_.empty()) {
    std::vector<Note> notes;
    open_conditional_note(notes);
    reader_.fail({.code = ErrorCode::UnbalancedIf,
                  .message = "`RET` inside a conditional",
                  .span = result.span,
                  .function = {},
                  .notes = std::move(notes),
                  .hint = "write `ENDIF` before it; a function has one `RET`, its last word"});
    skip_to_function();
  }
  function.code.push_back(result);
  return true;
}

bool Parser::arguments(const OpInfo& op, Instruction& instruction) {
  switch (op.argument) {
    case Argument::None:
      return true;
    case Argument::Counts:
      return counts(op, instruction);
    case Argument::Name:
      return callee(instruction);
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

bool Parser::written_type(const OpInfo& op, Instruction& instruction) {
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

bool Parser::counts(const OpInfo& op, Instruction& instruction) {
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

bool Parser::callee(Instruction& instruction) {
  const Token& token = reader_.token();
  if (token.kind != Token::Kind::Word || is_reserved(token.text)) {
    reader_.fail_expected("a function name after `CALL`");
    return false;
  }
  const auto next = static_cast<std::uint32_t>(program_.names.size());
  const auto [entry, added] = name_indices_.try_emplace(token.text, next);
  if (added) program_.names.emplace_back(token.text);
  instruction.a = entry->second;
  reader_.take_into(instruction.span);
  return true;
}

void Parser::conditional(Op op, Span span) {
  const auto fail = [&](std::string message) {
    std::vector<Note> notes;
    open_conditional_note(notes);
    reader_.fail({.code = ErrorCode::UnbalancedIf,
                  .message = std::move(message),
                  .span = span,
                  .function = {},
                  .notes = std::move(notes),
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

void Parser::open_conditional_note(std::vector<Note>& notes) const {
  if (open_ifs_.empty()) return;
  notes.push_back({"this `IF` is open", open_ifs_.back().span});
  if (open_ifs_.back().else_span) {
    notes.push_back({"its `ELSE`", open_ifs_.back().else_span});
  }
}

// After an error: passes over what may still belong to the broken instruction. The next operation
// ends that, and so does any word that begins a later line, which may be a misspelled operation.
void Parser::skip_to_instruction() {
  const std::uint32_t broken_line = reader_.token().span.line;
  const Token* token = &reader_.token();
  while (!reader_.at_end() && !reader_.at_word("FUNC")) {
    if (token->kind == Token::Kind::Word &&
        (find_op(token->text) || token->span.line > broken_line)) {
      return;
    }
    reader_.advance();
    token = &reader_.token();
  }
}

void Parser::skip_to_function() {
  while (!reader_.at_end() && !reader_.at_word("FUNC")) reader_.advance();
}

}  // namespace

std::optional<Program> parse(std::shared_ptr<const Source> source, Diagnostics& diagnostics) {
  return Parser(std::move(source), diagnostics).run();
}

}  // namespace vcode
