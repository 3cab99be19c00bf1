#include "vcode/parser.hpp"

#include <utility>

#include <fmt/format.h>

#include "vcode/instruction_parser.hpp"
#include "vcode/kernel_parser.hpp"
#include "vcode/kernel_verifier.hpp"
#include "vcode/kernel_words.hpp"
#include "vcode/keywords.hpp"
#include "vcode/numbers.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {
namespace {

class Parser {
 public:
  Parser(std::shared_ptr<const Source> source, Diagnostics& diagnostics, bool put_off_kernels)
      : diagnostics_(diagnostics),
        put_off_kernels_(put_off_kernels),
        errors_before_(diagnostics.error_count()),
        reader_(*source, diagnostics),
        instructions_(program_, reader_, diagnostics) {
    program_.source = std::move(source);
  }

  std::optional<Program> run();

 private:
  void program();
  void header();
  bool directive();
  bool width(std::optional<int>& bits);
  void kernel();
  void function();
  bool function_name(Function& function);
  void signature(Function& function);
  bool type_list(std::vector<Type>& types);

  Diagnostics& diagnostics_;
  bool put_off_kernels_;
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
  if (reader_.at_word("FCODE")) header();
  while (!reader_.at_end()) {
    if (reader_.accept_word("FUNC")) {
      function();
      continue;
    }
    if (instructions_.at_definition()) {
      kernel();
      continue;
    }
    reader_.set_function({});
    reader_.fail_expected(
        program_.fcode ? "`FUNC` or `KERNEL`" : "`FUNC`",
        reader_.at_word("KERNEL") ? "files with kernels begin with `FCODE 2`" : "");
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

// ---- FCODE 2 ----

void Parser::header() {
  program_.fcode.emplace();
  reader_.advance();
  const Token version = reader_.token();
  if (version.kind != Token::Kind::Integer || read_integer(version.text) != 2) {
    reader_.fail(
        {.code = ErrorCode::FcodeVersion,
         .message = version.kind == Token::Kind::Integer
                        ? fmt::format("FCODE of version {} is not known", shortened(version.text))
                        : "the version is missing after `FCODE`",
         .span = version.span,
         .function = {},
         .notes = {},
         .hint = "this program reads `FCODE 2`"});
    instructions_.skip_to_definition();
    return;
  }
  reader_.advance();
  while (!reader_.at_end() && !instructions_.at_definition()) {
    if (!directive()) {
      instructions_.skip_to_definition();
      return;
    }
  }
}

bool Parser::directive() {
  FcodeHeader& header = *program_.fcode;
  if (reader_.accept_word("WIDTH")) {
    if (reader_.accept_word("INT")) return width(header.int_width);
    if (reader_.accept_word("FLOAT")) return width(header.float_width);
    reader_.fail_expected("INT or FLOAT after `WIDTH`");
    return false;
  }
  if (reader_.accept_word("FP")) {
    header.strict_fp = reader_.at_word("STRICT");
    if (reader_.accept_word("STRICT") || reader_.accept_word("REASSOC")) return true;
    reader_.fail_expected("STRICT or REASSOC after `FP`");
    return false;
  }
  if (reader_.accept_word("NEEDS")) {
    const Token& token = reader_.token();
    const auto feature = token.kind == Token::Kind::Word ? find_feature(token.text) : std::nullopt;
    if (feature) {
      header.needs |= feature_bit(*feature);
      reader_.advance();
      return true;
    }
    reader_.fail_expected("STREAM, SCATTER or ASSERT after `NEEDS`",
                          "a file that needs another feature needs a newer version of this program",
                          {}, ErrorCode::KernelFeature);
    return false;
  }
  reader_.fail_expected("WIDTH, FP, NEEDS, KERNEL or FUNC");
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

void Parser::kernel() {
  // What FP STRICT refuses is found in the bindings.
  const bool put_off = put_off_kernels_ && !program_.fcode->strict_fp;
  if (auto kernel = parse_kernel(reader_, instructions_, put_off)) {
    program_.kernels.push_back(std::move(*kernel));
  }
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

std::optional<Program> parse(std::shared_ptr<const Source> source, Diagnostics& diagnostics,
                             bool put_off_kernels) {
  return Parser(std::move(source), diagnostics, put_off_kernels).run();
}

std::optional<Kernel> read_kernel(const Source& source, const FcodeHeader& header,
                                  const Kernel& kernel, Diagnostics& diagnostics) {
  TokenReader reader(source, diagnostics, kernel.unread->begin);
  Program program;
  program.fcode = header;
  InstructionParser instructions(program, reader, diagnostics);
  std::optional<Kernel> read = parse_kernel(reader, instructions, false);
  if (!read || !verify_kernel(*read, header, diagnostics, true)) return std::nullopt;
  read->spec.clear();
  return read;
}

}  // namespace vcode
