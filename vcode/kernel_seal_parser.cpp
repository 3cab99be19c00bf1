#include "vcode/kernel_seal_parser.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace vcode {

bool KernelSealParser::run() {
  if (reader_.accept_word("REACH") && !reach_clause()) return false;
  if (!reader_.at_word("SEAL")) return true;
  const std::size_t end = reader_.place().offset;
  head_ = reader_.source().text().substr(begin_.offset, end - begin_.offset);
  reader_.advance();
  return seal_clause();
}

bool KernelSealParser::reach_clause() {
  if (!number(reach_.literal) || !number(reach_.growth) || !number(reach_.power)) return false;
  while (reader_.at_word("MAX") || reader_.at_word("SUM")) {
    if (!measured()) return false;
  }
  return true;
}

bool KernelSealParser::number(std::int64_t& value) {
  const auto read = reader_.token_integer();
  if (!read || *read < 0 || *read > KernelReach::kUnbounded) {
    reader_.fail_expected("three numbers after `REACH`");
    return false;
  }
  value = *read;
  reader_.advance();
  return true;
}

bool KernelSealParser::measured() {
  const bool sums = reader_.at_word("SUM");
  reader_.advance();
  const Token name = reader_.token();
  const auto array = scope_.array("the name of an operand");
  if (!array) return false;
  const Kernel& kernel = scope_.kernel();
  const auto at =
      std::find_if(kernel.inputs.begin(), kernel.inputs.end(),
                   [&](KernelParameter input) { return !input.segdes && input.id == *array; });
  if (at == kernel.inputs.end() || kernel.arrays[*array].type != Type::Int) {
    scope_.fail(ErrorCode::KernelName, fmt::format("`{}` is no INT operand", shortened(name.text)),
                name.span);
    return false;
  }
  reach_.measured.push_back({static_cast<std::uint32_t>(at - kernel.inputs.begin()), sums});
  return true;
}

bool KernelSealParser::seal_clause() {
  const auto count = reader_.token_integer();
  if (!count || *count < 0) {
    reader_.fail_expected("a number of bytes after `SEAL`");
    return false;
  }
  reader_.advance();
  const Token word = reader_.token();
  const bool may_be_sum = word.kind == Token::Kind::Word || word.kind == Token::Kind::Integer;
  const auto sum = may_be_sum ? read_seal_sum(word.text) : std::nullopt;
  if (!sum) {
    reader_.fail_expected("the sum of the text after `SEAL` and a number");
    return false;
  }
  reader_.advance();
  seal_ = {static_cast<std::size_t>(*count), *sum};
  return true;
}

std::optional<std::size_t> KernelSealParser::sealed_bytes() const {
  const std::string_view rest = reader_.rest();
  const bool fits = seal_ && seal_->bytes < rest.size() &&
                    rest.substr(seal_->bytes).starts_with("SPEC\n") &&
                    seal_sum(head_, rest.substr(0, seal_->bytes)) == seal_->sum;
  return fits ? std::optional(seal_->bytes) : std::nullopt;
}

}  // namespace vcode
