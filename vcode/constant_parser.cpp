#include "vcode/constant_parser.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "vcode/numbers.hpp"

namespace vcode {
namespace {

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;
using Truths = std::vector<std::uint8_t>;

class ConstantParser {
 public:
  ConstantParser(TokenReader& reader, Span& span) : reader_(reader), span_(span) {}

  std::optional<Constant> run();

 private:
  bool value();
  bool string();
  bool element();
  bool integer_element(const Token& token);
  bool expect_element();
  void fail_number(std::string message, std::string hint = {});

  TokenReader& reader_;
  Span& span_;
  Constant constant_;
  std::int64_t total_ = 0;  // of the segment lengths so far
};

std::optional<Constant> ConstantParser::run() {
  const auto type = reader_.token_type();
  if (!type) {
    reader_.fail_expected("a type (INT, BOOL, FLOAT, SEGDES or CHAR) after `CONST`");
    return std::nullopt;
  }
  reader_.take_into(span_);
  if (*type == Type::Char) return string() ? std::optional(std::move(constant_)) : std::nullopt;
  constant_.type = *type;
  if (*type == Type::Float) constant_.elements = Reals{};
  if (*type == Type::Bool) constant_.elements = Truths{};
  return value() ? std::optional(std::move(constant_)) : std::nullopt;
}

bool ConstantParser::string() {
  const Token token = reader_.token();
  if (token.kind != Token::Kind::String) {
    reader_.fail_expected("a string after `CONST CHAR`");
    return false;
  }
  constant_.type = Type::Int;
  constant_.form = ConstantForm::String;
  Integers codes;
  codes.reserve(token.text.size());
  for (char c : token.text) codes.push_back(static_cast<unsigned char>(c));
  constant_.elements = std::move(codes);
  reader_.take_into(span_);
  return true;
}

bool ConstantParser::value() {
  const Token& token = reader_.token();
  if (token.kind != Token::Kind::LeftParen) {
    const auto stream = token.kind == Token::Kind::Word && constant_.type == Type::Int
                            ? find_stream(token.text)
                            : std::nullopt;
    if (stream) {
      constant_.form = ConstantForm::Stream;
      constant_.elements = Integers{*stream};
      reader_.take_into(span_);
      return true;
    }
    constant_.form = ConstantForm::Scalar;
    return element();
  }
  const Span opening = token.span;
  constant_.form = ConstantForm::Vector;
  reader_.take_into(span_);
  while (reader_.token().kind != Token::Kind::RightParen) {
    const bool cut = reader_.at_end() || reader_.at_word("FUNC") ||
                     (reader_.token().kind == Token::Kind::Word && find_op(reader_.token().text));
    if (cut) {
      reader_.fail_expected("an element or `)`", {}, {{"the vector starts here", opening}});
      return false;
    }
    if (!element()) return false;
  }
  reader_.take_into(span_);
  return true;
}

bool ConstantParser::element() {
  const Token& token = reader_.token();
  switch (constant_.type) {
    case Type::Float:
      if (token.kind != Token::Kind::Real) return expect_element();
      std::get<Reals>(constant_.elements).push_back(read_real(token.text));
      break;
    case Type::Bool:
      if (!reader_.at_word("T") && !reader_.at_word("F")) return expect_element();
      std::get<Truths>(constant_.elements).push_back(token.text == "T");
      break;
    default:
      if (token.kind != Token::Kind::Integer) return expect_element();
      if (!integer_element(token)) return false;
  }
  reader_.take_into(span_);
  return true;
}

bool ConstantParser::integer_element(const Token& token) {
  const auto value = read_integer(token.text);
  if (!value) {
    fail_number(fmt::format("the integer `{}` does not fit in 64 bits", shortened(token.text)));
    return false;
  }
  if (constant_.type == Type::Segdes) {
    if (*value < 0) {
      fail_number(fmt::format("the segment length `{}` is negative", shortened(token.text)));
      return false;
    }
    if (*value > std::numeric_limits<std::int64_t>::max() - total_) {
      fail_number("the segment lengths add up to more than 63 bits can hold");
      return false;
    }
    total_ += *value;
  }
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kGreatest = std::numeric_limits<std::int32_t>::max();
  if (*value < kLeast || *value > kGreatest) constant_.element_spans.push_back(token.span);
  std::get<Integers>(constant_.elements).push_back(*value);
  return true;
}

// Reports the token as no element of this constant: an element of another type if it is one.
bool ConstantParser::expect_element() {
  const Token& token = reader_.token();
  const bool number = token.kind == Token::Kind::Integer || token.kind == Token::Kind::Real;
  const bool other_type = number || reader_.at_word("T") || reader_.at_word("F");
  std::string_view wanted = "an integer";
  if (constant_.type == Type::Float) wanted = "a real number";
  if (constant_.type == Type::Bool) wanted = "`T` or `F`";
  std::string hint;
  if (constant_.type == Type::Float && token.kind == Token::Kind::Integer) {
    hint = fmt::format("write `{}.0`", shortened(token.text));
  }
  reader_.fail_expected(
      fmt::format("{} in a constant of type {}", wanted, type_name(constant_.type)),
      std::move(hint), {}, other_type ? ErrorCode::MixedConstant : ErrorCode::Syntax);
  return false;
}

void ConstantParser::fail_number(std::string message, std::string hint) {
  reader_.fail({.code = ErrorCode::NumberOutOfRange,
                .message = std::move(message),
                .span = reader_.token().span,
                .function = {},
                .notes = {},
                .hint = std::move(hint)});
}

}  // namespace

std::optional<Constant> parse_constant(TokenReader& reader, Span& span) {
  return ConstantParser(reader, span).run();
}

}  // namespace vcode
