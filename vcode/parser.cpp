#include "vcode/parser.hpp"

#include <utility>

#include <fmt/format.h>

#include "vcode/instruction_parser.hpp"
#include "vcode/kernel_parser.hpp"
#include "vcode/kernel_verifier.hpp"
#include "vcode/keywords.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {
namespace {

class Parser {
 public:
  Parser(std::shared_ptr<const Source> source, Diagnostics& diagnostics)
      : diagnostics_(diagnostics),
        errors_before_(diagnostics.error_count()),
        reader_(*source, diagnostics),
        instructions_(program_, reader_, diagnostics) {
    program_.source = std::move(source);
  }

  std::optional<Program> run();

 private:
  void program();
  bool header();
  bool version();
  bool directive();
  bool width(std::optional<int>& bits);
  void function();
  bool function_name(Function& function);
  void signature(Function& function);
  bool type_list(std::vector<Type>& types);

  Diagnostics& diagnostics_;
  std::size_t errors_before_;  // counted before the reader reads its first token
  TokenReader reader_;
  Program program_;
  InstructionParser instructions_;
};

std::optional<Program> Parser::run() {
  program();
  verify_kernels(program_, diagnostics_);
  if (diagnostics_.error_count() != errors_before_) return std::nullopt;
  return std::move(program_);
}

void Parser::program() {
  if (reader_.at_word("FCODE") && !header()) return;
  while (!reader_.at_end()) {
    if (reader_.accept_word("FUNC")) {
      function();
      continue;
    }
    if (instructions_.at_definition()) {
      if (auto kernel = parse_kernel(reader_, instructions_)) {
        program_.kernels.push_back(std::move(*kernel));
      }
      continue;
    }
    reader_.set_function({});
    reader_.fail_expected(
        program_.fcode ? "`FUNC` or `KERNEL`" : "`FUNC`",
        reader_.at_word("KERNEL")
            ? fmt::format("files with kernels begin with `FCODE {}`", kFcodeVersion)
            : "");
    instructions_.skip_to_definition();
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

// ---- FCODE ----

// False: of a file of another version nothing more is read.
bool Parser::header() {
  program_.fcode.emplace();
  reader_.advance();
  if (!version()) return false;
  while (!reader_.at_end() && !instructions_.at_definition()) {
    if (!directive()) {
      instructions_.skip_to_definition();
      break;
    }
  }
  return true;
}

bool Parser::version() {
  const Token token = reader_.token();
  const auto number = reader_.token_integer();
  if (number == kFcodeVersion) {
    reader_.advance();
    return true;
  }
  const bool missing = token.kind != Token::Kind::Integer;
  const bool older = number && *number < kFcodeVersion;
  reader_.fail({.code = ErrorCode::FcodeVersion,
                .message = missing ? std::string("the version is missing after `FCODE`")
                                   : fmt::format("FCODE {}; this program reads FCODE {}",
                                                 shortened(token.text), kFcodeVersion),
                .span = token.span,
                .function = {},
                .notes = {},
                .hint = missing ? fmt::format("write `FCODE {}`", kFcodeVersion)
                        : older
                            ? "the file was made by an older fcode-opt or nesl: make it again"
                            : "the file was made by a newer fcode-opt or nesl: use its vinterp"});
  return false;
}

bool Parser::directive() {
  FcodeHeader& header = *program_.fcode;
  if (!reader_.accept_word("WIDTH")) {
    reader_.fail_expected("WIDTH, KERNEL or FUNC");
    return false;
  }
  if (reader_.accept_word("INT")) return width(header.int_width);
  if (reader_.accept_word("FLOAT")) return width(header.float_width);
  reader_.fail_expected("INT or FLOAT after `WIDTH`");
  return false;
}

bool Parser::width(std::optional<int>& bits) {
  bits.reset();
  if (reader_.accept_word("ANY")) return true;
  const Token& token = reader_.token();
  if (token.kind == Token::Kind::Integer && (token.text == "32" || token.text == "64")) {
    bits = token.text == "32" ? 32 : 64;
    reader_.advance();
    return true;
  }
  reader_.fail_expected("32, 64 or ANY");
  return false;
}

// ---- functions ----

void Parser::function() {
  Function function;
  if (function_name(function)) signature(function);
  reader_.set_function(function.name);
  instructions_.sequence(function.code, SequenceEnd::Return);
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
    instructions_.skip_to_instruction();
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

}  // namespace

std::optional<Program> parse(std::shared_ptr<const Source> source, Diagnostics& diagnostics) {
  return Parser(std::move(source), diagnostics).run();
}

}  // namespace vcode
