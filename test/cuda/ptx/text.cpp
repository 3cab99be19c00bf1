#include "cuda/ptx/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

#include "cuda/ptx/fault.hpp"

namespace ptx_machine {
namespace {

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// Comments become blanks, so that lines and columns stay what they are.
std::string without_comments(std::string_view text) {
  std::string result(text);
  for (std::size_t at = 0; at + 1 < result.size(); ++at) {
    if (result[at] == '"') {
      at = std::min(result.find('"', at + 1), result.size());
    } else if (result[at] == '/' && (result[at + 1] == '/' || result[at + 1] == '*')) {
      const bool line = result[at + 1] == '/';
      const std::size_t end = line ? result.find('\n', at) : result.find("*/", at + 2);
      const std::size_t stop = end == std::string::npos ? result.size() : end + (line ? 0 : 2);
      for (; at < stop; ++at) {
        if (result[at] != '\n') result[at] = ' ';
      }
      --at;
    }
  }
  return result;
}

class Parser {
 public:
  explicit Parser(std::string text, int line = 1) : text_(std::move(text)), line_(line) {}

  ModuleText module() {
    ModuleText module;
    while (skip_blanks()) {
      const std::string word = peek_word();
      if (word == ".version" || word == ".target" || word == ".address_size") {
        to_end_of_line();
      } else if (word == ".visible" || word == ".weak" || word == ".extern") {
        take(word.size());
      } else if (word == ".entry" || word == ".func") {
        take(word.size());
        module.routines.push_back(routine(word == ".entry"));
      } else if (word == ".global" || word == ".const" || word == ".shared") {
        module.variables.push_back(parse_variable(until(';')));
      } else {
        fail(fmt::format("`{}` is not known outside kernels", word));
      }
    }
    return module;
  }

  std::vector<Statement> body() {
    std::vector<Statement> statements;
    while (skip_blanks()) statements.push_back(statement());
    return statements;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Fault(fmt::format("PTX line {}: {}", line_, what));
  }
  bool skip_blanks() {
    while (at_ < text_.size() && is_space(text_[at_])) take(1);
    return at_ < text_.size();
  }
  std::string peek_word() const {
    std::size_t end = at_;
    while (end < text_.size() && !is_space(text_[end]) && text_[end] != '(' && text_[end] != ';') {
      ++end;
    }
    return text_.substr(at_, end - at_);
  }
  std::string take(std::size_t count) {
    std::string taken = text_.substr(at_, count);
    line_ += static_cast<int>(std::count(taken.begin(), taken.end(), '\n'));
    at_ += taken.size();
    return taken;
  }
  void to_end_of_line() { take(std::min(text_.find('\n', at_), text_.size()) - at_); }
  /// The text up to `stop`, which is left out.
  std::string until(char stop) {
    const std::size_t end = text_.find(stop, at_);
    if (end == std::string::npos) fail(fmt::format("`{}` is missing", stop));
    std::string taken = take(end - at_);
    take(1);
    return trimmed(taken);
  }

  std::vector<Variable> parameter_list() {
    take(1);  // the bracket
    std::vector<Variable> variables;
    for (const std::string& each : split_operands(until(')'))) {
      variables.push_back(parse_variable(each));
    }
    return variables;
  }

  Routine routine(bool is_entry) {
    Routine result;
    result.is_entry = is_entry;
    skip_blanks();
    if (text_[at_] == '(') result.results = parameter_list();
    skip_blanks();
    result.name = take(peek_word().size());
    skip_blanks();
    if (text_[at_] == '(') result.parameters = parameter_list();
    for (skip_blanks(); text_[at_] == '.'; skip_blanks()) to_end_of_line();  // .maxntid and so on
    if (text_[at_] == ';') {
      take(1);
      return result;
    }
    if (text_[at_] != '{') fail(fmt::format("the body of `{}` is missing", result.name));
    take(1);
    result.line = line_;
    std::size_t end = at_;
    for (int depth = 1; depth > 0; ++end) {
      end = text_.find_first_of("{}", end);
      if (end == std::string::npos) fail(fmt::format("the body of `{}` does not end", result.name));
      depth += text_[end] == '{' ? 1 : -1;
    }
    result.body = take(end - at_);
    result.body.pop_back();
    return result;
  }

  Statement statement() {
    using Kind = Statement::Kind;
    const int line = line_;
    if (text_[at_] == '{') return {Kind::Open, take(1), line};
    if (text_[at_] == '}') return {Kind::Close, take(1), line};
    const std::string word = peek_word();
    if (word.size() > 1 && word.back() == ':') {
      take(word.size());
      return {Kind::Label, word.substr(0, word.size() - 1), line};
    }
    std::string text = until(';');
    if (word == ".reg") return {Kind::Registers, std::move(text), line};
    if (word == ".pragma") return {Kind::Pragma, std::move(text), line};
    if (word == ".shared" || word == ".local" || word == ".param") {
      return {Kind::Variable, std::move(text), line};
    }
    if (word[0] == '.') fail(fmt::format("`{}` is not known in kernels", word));
    return {Kind::Instruction, std::move(text), line};
  }

  std::string text_;
  std::size_t at_ = 0;
  int line_;
};

std::size_t width_of_type(const std::string& type) {
  const std::size_t digits = type.find_first_of("0123456789");
  if (type == ".pred" || digits == std::string::npos) return 1;
  return std::stoul(type.substr(digits)) / 8;
}

/// `{1, 2, 3}` or `5`, each of `width` bytes.
std::vector<std::byte> initial_bytes(std::string list, std::size_t width) {
  std::vector<std::byte> result;
  list.erase(std::remove_if(list.begin(), list.end(), [](char c) { return c == '{' || c == '}'; }),
             list.end());
  for (const std::string& element : split_operands(list)) {
    std::uint64_t value = 0;
    const bool hexadecimal = element.rfind("0x", 0) == 0;
    const bool negative = element[0] == '-';
    const char* begin = element.data() + (hexadecimal ? 2 : negative ? 1 : 0);
    const char* end = element.data() + element.size();
    const auto [stop, error] = std::from_chars(begin, end, value, hexadecimal ? 16 : 10);
    if (error != std::errc() || stop != end) {
      throw Fault(fmt::format("`{}` is no number that a variable can begin with", element));
    }
    if (negative) value = ~value + 1;
    for (std::size_t k = 0; k < width; ++k) {
      result.push_back(static_cast<std::byte>(value >> (8 * k)));
    }
  }
  return result;
}

}  // namespace

std::string trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

std::vector<std::string> split_operands(std::string_view text) {
  std::vector<std::string> pieces;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : ',';
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c != ',' || (depth > 0 && at < text.size())) continue;
    std::string piece = trimmed(text.substr(begin, at - begin));
    if (!piece.empty()) pieces.push_back(std::move(piece));
    begin = at + 1;
  }
  return pieces;
}

Variable parse_variable(std::string_view text) {
  Variable result;
  const std::size_t equals = text.find('=');
  std::istringstream words{std::string(text.substr(0, equals))};
  std::size_t width = 0;
  for (std::string word; words >> word;) {
    if (word == ".align") {
      words >> result.alignment;
    } else if (word[0] == '.' && width_of_type(word) * 8 > 1 &&
               word.find_first_of("0123456789") != std::string::npos) {
      width = width_of_type(word);
    } else if (word[0] == '.') {
      result.space = word.substr(1);
    } else {
      result.name += word;
    }
  }
  if (width == 0 || result.name.empty()) {
    throw Fault(fmt::format("`{}` is no variable that is understood", text));
  }
  result.bytes = width;
  const std::size_t bracket = result.name.find('[');
  if (bracket != std::string::npos) {
    const std::string count = result.name.substr(bracket + 1, result.name.find(']') - bracket - 1);
    if (count.empty()) {
      throw Fault(fmt::format("`{}`: memory whose size the launch says is not known here", text));
    }
    result.bytes = width * std::stoul(count);
    result.name.resize(bracket);
  }
  result.alignment = std::max(result.alignment, width);
  if (equals != std::string_view::npos) {
    result.initial = initial_bytes(std::string(text.substr(equals + 1)), width);
  }
  return result;
}

ModuleText parse_module(std::string_view text) {
  return Parser(without_comments(text)).module();
}

std::vector<Statement> parse_body(const Routine& routine) {
  return Parser(routine.body, routine.line).body();
}

}  // namespace ptx_machine
