#include "vcode/parser.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>

#include <fmt/core.h>

#include "ir/text.hpp"
#include "ir/text_kernels.hpp"
#include "ir/tools.hpp"
#include "ir/verifier.hpp"

namespace ir {
namespace {

struct BadText {
  std::string message;
};

// Blocks are read recursively.
constexpr std::size_t kDeepestBlock = 1000;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Module run();

 private:
  std::string_view peek();
  std::string_view next();
  void expect(std::string_view word);
  [[noreturn]] void fail(std::string_view message) const;

  void collect_names();
  void kernels();
  void transparent();
  void opaque();
  void results_type();
  void block(Block& block);
  void statement(Block& block);
  void operation(Statement& statement, std::string_view word);
  void constant(Statement& statement);
  Origin origin();
  ValueId number(std::string_view digits) const;
  ValueId use(std::string_view word);
  ValueId assigned(std::string_view word);
  std::optional<Type> type(std::string_view word) const;
  Type written(std::string_view word) const;
  std::uint32_t function_index(std::string_view name) const;
  std::uint32_t kernel_index(std::string_view name) const;
  void parse_constants();
  std::uint32_t add_given(const vcode::Constant& constant);
  void parse_opaque(std::size_t function, std::string_view code);

  std::string_view text_;
  std::size_t at_ = 0;
  Module module_;
  Function* function_ = nullptr;
  std::map<std::string, std::uint32_t, std::less<>> functions_;
  std::map<std::string, std::uint32_t, std::less<>> kernels_;
  std::map<std::string, std::uint32_t, std::less<>> sources_;
  std::vector<std::string_view> constants_;
  std::size_t depth_ = 0;
};

Module Parser::run() {
  collect_names();
  expect("ENTRY");
  module_.entry = function_index(next());
  std::size_t index = 0;
  while (!peek().empty()) {
    if (index == module_.functions.size()) fail("FUNCTION expected");
    function_ = &module_.functions[index++];
    const std::string_view word = next();
    if (word == "FUNCTION:") {
      transparent();
    } else if (word == "OPAQUE:") {
      opaque();
    } else {
      fail("FUNCTION expected");
    }
  }
  parse_constants();
  if (const std::string fault = find_fault(module_); !fault.empty()) throw BadText{fault};
  return std::move(module_);
}

void Parser::collect_names() {
  bool heading = false;
  while (!peek().empty()) {
    const std::string_view word = next();
    if (word == kKernelsWord && (at_ == word.size() || text_[at_ - word.size() - 1] == '\n')) {
      kernels();
      break;
    }
    if (heading) {
      functions_.emplace(word, static_cast<std::uint32_t>(module_.functions.size()));
      module_.functions.emplace_back();
      module_.functions.back().name = word;
    }
    heading = word == "FUNCTION:" || word == "OPAQUE:";
  }
  at_ = 0;
}

// Everything from here on, which is taken off the text.
void Parser::kernels() {
  if (!parse_kernels(std::string(text_.substr(at_)), module_)) fail("the kernels are wrong");
  text_ = text_.substr(0, at_ - kKernelsWord.size());
  for (std::uint32_t i = 0; i < module_.kernels.size(); ++i) {
    kernels_.emplace(module_.kernels[i].name, i);
  }
}

void Parser::transparent() {
  next();  // the name
  expect("(");
  while (peek() != ")") function_->parameters.push_back(assigned(next()));
  expect(")");
  results_type();
  expect("{");
  const bool diverges = function_->body.diverges;
  block(function_->body);
  if (diverges != function_->body.diverges) fail("NEVER contradicts the end of the function");
}

void Parser::opaque() {
  function_->opaque = true;
  next();
  expect("(");
  while (peek() != ")") function_->parameters.push_back(new_value(*function_, type(next()), {}));
  expect(")");
  results_type();
  if (peek() != "FUNC") fail("FUNC expected");
  const std::size_t begin = at_;
  while (!peek().empty() && next() != "RET") {
  }
  parse_opaque(static_cast<std::size_t>(function_ - module_.functions.data()),
               text_.substr(begin, at_ - begin));
}

void Parser::results_type() {
  expect("->");
  const std::string_view word = next();
  function_->body.diverges = word == "NEVER";
  if (function_->body.diverges) return;
  if (word != "(") fail("( expected");
  while (peek() != ")") function_->result_types.push_back(type(next()));
  expect(")");
}

void Parser::block(Block& block) {
  if (++depth_ > kDeepestBlock) fail("blocks are nested too deep");
  block.diverges = true;
  while (peek() != "}") {
    if (peek() == "YIELD") {
      next();
      block.diverges = false;
      while (peek().starts_with('$')) block.results.push_back(use(next()));
      break;
    }
    statement(block);
  }
  expect("}");
  --depth_;
}

void Parser::statement(Block& block) {
  Statement statement;
  std::vector<std::string_view> results;
  while (peek().starts_with('$')) results.push_back(next());
  if (!results.empty()) expect("=");
  operation(statement, next());
  while (peek().starts_with('$')) statement.operands.push_back(use(next()));
  statement.origin = origin();
  if (statement.kind == Statement::Kind::If) {
    expect("{");
    statement.then_block = std::make_unique<Block>();
    statement.else_block = std::make_unique<Block>();
    this->block(*statement.then_block);
    expect("ELSE");
    expect("{");
    this->block(*statement.else_block);
  }
  for (const std::string_view result : results) {
    statement.results.push_back(assigned(result));
    function_->values[statement.results.back()].origin = statement.origin;
  }
  block.statements.push_back(std::move(statement));
}

void Parser::operation(Statement& statement, std::string_view word) {
  if (word == "CONST" || word == "GIVEN") {
    constant(statement);
    if (word == "GIVEN") statement.kind = Statement::Kind::Given;
  } else if (word == "CALL") {
    statement.kind = Statement::Kind::Call;
    statement.index = function_index(next());
  } else if (word == "RUN") {
    statement.kind = Statement::Kind::Run;
    statement.index = kernel_index(next());
    statement.effects = !vcode::is_pure(module_.kernels[statement.index]);
  } else if (word == "IF") {
    statement.kind = Statement::Kind::If;
  } else if (word == "EXIT") {
    statement.kind = Statement::Kind::Exit;
  } else {
    const auto op = vcode::find_op(word);
    if (!op) fail(fmt::format("`{}` is no operation", word));
    statement.op = *op;
    if (vcode::info(*op).takes_type()) statement.written = written(next());
  }
}

// Constants are read as VCODE, all together, at the end.
void Parser::constant(Statement& statement) {
  statement.kind = Statement::Kind::Const;
  statement.index = static_cast<std::uint32_t>(constants_.size());
  peek();
  const std::size_t begin = at_;
  next();
  peek();
  if (text_[at_] == '(') {
    at_ = std::min(text_.find(')', at_), text_.size() - 1) + 1;
  } else {
    next();
  }
  constants_.push_back(text_.substr(begin, at_ - begin));
}

Origin Parser::origin() {
  if (!peek().starts_with('@')) return {};
  std::string_view word = next().substr(1);
  std::uint32_t numbers[3];
  for (std::size_t i = 3; i-- > 0;) {
    const std::size_t colon = word.rfind(':');
    if (colon == std::string_view::npos) fail("a place needs three numbers");
    numbers[i] = number(word.substr(colon + 1));
    word = word.substr(0, colon);
  }
  const auto next_index = static_cast<std::uint32_t>(sources_.size());
  const auto [entry, added] = sources_.try_emplace(std::string(word), next_index);
  if (added) module_.scopes.push_back({.function = std::string(word)});
  return {{numbers[0], numbers[1], numbers[2]}, entry->second};
}

ValueId Parser::number(std::string_view digits) const {
  ValueId value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) fail("a number expected");
  return value;
}

ValueId Parser::use(std::string_view word) {
  const ValueId value = number(word.substr(1));
  if (value >= text_.size()) fail(fmt::format("`{}` is never assigned", word));
  return value;
}

ValueId Parser::assigned(std::string_view word) {
  if (!word.starts_with('$')) fail("a value expected");
  const std::size_t colon = std::min(word.find(':'), word.size());
  const ValueId value = use(word.substr(0, colon));
  if (function_->values.size() <= value) function_->values.resize(value + 1);
  if (colon < word.size()) function_->values[value].type = type(word.substr(colon + 1));
  return value;
}

std::optional<Type> Parser::type(std::string_view word) const {
  if (word == "?") return std::nullopt;
  if (word == "PAIR") return Type::Pair;
  return written(word);
}

Type Parser::written(std::string_view word) const {
  for (const Type type : {Type::Int, Type::Bool, Type::Float, Type::Segdes, Type::Char}) {
    if (word == vcode::type_name(type)) return type;
  }
  fail("a type expected");
}

std::uint32_t Parser::function_index(std::string_view name) const {
  const auto found = functions_.find(name);
  if (found == functions_.end()) fail(fmt::format("there is no function `{}`", name));
  return found->second;
}

std::uint32_t Parser::kernel_index(std::string_view name) const {
  const auto found = kernels_.find(name);
  if (found == kernels_.end()) fail(fmt::format("there is no kernel `{}`", name));
  return found->second;
}

std::optional<vcode::Program> parse_code(std::string code) {
  vcode::Diagnostics diagnostics;
  return vcode::parse(std::make_shared<const vcode::Source>("", std::move(code)), diagnostics);
}

void Parser::parse_constants() {
  std::string lines = "FUNC C\n";
  for (const std::string_view text : constants_) lines += fmt::format("CONST {}\n", text);
  const auto program = parse_code(lines + "RET\n");
  if (!program || program->functions[0].code.size() != constants_.size() + 1) {
    throw BadText{"a constant is wrong"};
  }
  const std::vector<vcode::Instruction>& code = program->functions[0].code;
  const auto is_const = [](const vcode::Instruction& i) { return i.op == Op::Const; };
  if (!std::all_of(code.begin(), code.end() - 1, is_const)) {
    throw BadText{"a constant is wrong"};
  }
  for (Function& function : module_.functions) {
    for_each_statement(function.body, [&](Statement& statement) {
      if (!pushes_constant(statement)) return;
      const vcode::Constant& constant = program->constants[code[statement.index].a];
      const bool known = statement.kind == Statement::Kind::Const;
      statement.index = known ? add_constant(module_, constant) : add_given(constant);
    });
  }
}

// Values that the run gives are not those of equal constants.
std::uint32_t Parser::add_given(const vcode::Constant& constant) {
  module_.constants.push_back(constant);
  module_.given.resize(module_.constants.size());
  module_.given.back() = true;
  return static_cast<std::uint32_t>(module_.constants.size() - 1);
}

void Parser::parse_opaque(std::size_t index, std::string_view code) {
  auto program = parse_code(std::string(code));
  if (!program || program->functions.size() != 1) fail("the code of an opaque function is wrong");
  Function& function = module_.functions[index];
  function.code = program->functions[0].code;
  for (vcode::Instruction& instruction : function.code) {
    if (instruction.op == Op::Call) instruction.a = function_index(program->names[instruction.a]);
    if (instruction.op == Op::Const) {
      instruction.a = add_constant(module_, program->constants[instruction.a]);
    }
  }
}

std::string_view Parser::peek() {
  const std::size_t kept = at_;
  const std::string_view word = next();
  at_ = word.empty() ? kept : static_cast<std::size_t>(word.data() - text_.data());
  return word;
}

// Words are separated by white space; a string is one word.
std::string_view Parser::next() {
  constexpr std::string_view kBlanks = " \n\t\r";
  at_ = text_.find_first_not_of(kBlanks, at_);
  if (at_ == std::string_view::npos) {
    at_ = text_.size();
    return {};
  }
  const std::size_t begin = at_;
  if (text_[at_] == '"') {
    at_ = std::min(text_.find('"', at_ + 1), text_.size() - 1) + 1;
  } else {
    at_ = std::min(text_.find_first_of(kBlanks, at_), text_.size());
  }
  return text_.substr(begin, at_ - begin);
}

void Parser::expect(std::string_view word) {
  if (next() != word) fail(fmt::format("{} expected", word));
}

void Parser::fail(std::string_view message) const {
  const auto line =
      1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
  throw BadText{fmt::format("line {}: {}", line, message)};
}

}  // namespace

std::optional<Module> parse_module(std::string_view text, std::string& error) {
  try {
    return Parser(text).run();
  } catch (const BadText& bad) {
    error = bad.message;
    return std::nullopt;
  }
}

}  // namespace ir
