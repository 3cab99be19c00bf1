#include "vcode/thunk_parser.hpp"

#include <utility>

#include <fmt/format.h>

#include "vcode/kernel_words.hpp"
#include "vcode/numbers.hpp"

namespace vcode {

using NodeKind = ThunkNode::Kind;

void ThunkParser::begin(Thunk& thunk) {
  thunk_ = &thunk;
  thunk = {};
  nodes_.clear();
  locals_.clear();
}

bool ThunkParser::thunk(Thunk& thunk) {
  begin(thunk);
  const Span first = reader_.token().span;
  if (!opening()) return false;
  const auto index = local_name();
  if (!index) return false;
  ThunkNode node;
  node.kind = NodeKind::Index;
  node.span = index->span;
  return bind_local(*index, add(node)) && rest(first);
}

bool ThunkParser::of_state(const std::vector<Type>& types, Thunk& thunk) {
  begin(thunk);
  const Span first = reader_.token().span;
  if (!opening()) return false;
  for (std::uint32_t k = 0; k < types.size(); ++k) {
    if (k > 0 && !reader_.accept(Token::Kind::Comma)) {
      reader_.fail_expected(fmt::format("`,`: the state has {} components", types.size()));
      return false;
    }
    const auto name = local_name();
    if (!name) return false;
    ThunkNode node;
    node.kind = NodeKind::State;
    node.type = types[k];
    node.id = k;
    node.span = name->span;
    if (!bind_local(*name, add(node))) return false;
  }
  return rest(first);
}

bool ThunkParser::opening() {
  if (reader_.accept(Token::Kind::LeftParen)) return true;
  reader_.fail_expected("`(`, which begins a function");
  return false;
}

/// What stands behind the parameters.
bool ThunkParser::rest(Span opening) {
  if (!reader_.accept_word("=>")) {
    reader_.fail_expected("`=>` after the parameters", "separate words by blanks: `( i => ...`");
    return false;
  }
  if (!results()) return false;
  if (!reader_.accept(Token::Kind::RightParen)) {
    reader_.fail_expected("`,` or `)` after an expression", {},
                          {{"the function starts here", opening}});
    return false;
  }
  return true;
}

bool ThunkParser::body(Thunk& thunk) {
  begin(thunk);
  return results();
}

bool ThunkParser::results() {
  while (reader_.accept_word("LET")) {
    const auto name = local_name();
    if (!name) return false;
    if (!reader_.accept_word("=")) {
      reader_.fail_expected("`=` after the name of a LET");
      return false;
    }
    std::uint32_t value = 0;
    if (!expression(value) || !bind_local(*name, value)) return false;
  }
  do {
    std::uint32_t result = 0;
    if (!expression(result)) return false;
    thunk_->results.push_back(result);
  } while (reader_.accept(Token::Kind::Comma));
  thunk_->nodes = nodes_;  // a copy, which has room for no more than it holds
  return true;
}

// An operand either is complete at once or opens a form; a complete one is handed to the form that
// waits for it, which may complete that one too.
bool ThunkParser::expression(std::uint32_t& result) {
  frames_.clear();
  while (true) {
    std::optional<std::uint32_t> value;
    if (!operand(value)) return false;
    while (value) {
      if (frames_.empty()) {
        result = *value;
        return true;
      }
      if (!feed(value)) return false;
    }
  }
}

bool ThunkParser::operand(std::optional<std::uint32_t>& value) {
  const Token& token = reader_.token();
  switch (token.kind) {
    case Token::Kind::LeftParen:
      if (!form()) return false;
      if (frames_.back().needed == 0) return close(value);
      return true;
    case Token::Kind::Integer: {
      const auto number = read_integer(token.text);
      if (!number) {
        scope_.fail(ErrorCode::NumberOutOfRange,
                    fmt::format("the integer `{}` does not fit in 64 bits", shortened(token.text)),
                    token.span);
        return false;
      }
      value = add_leaf(NodeKind::Constant, Type::Int);
      nodes_.back().int_value = *number;
      break;
    }
    case Token::Kind::Real:
      value = add_leaf(NodeKind::Constant, Type::Float);
      nodes_.back().float_value = read_real(token.text);
      break;
    case Token::Kind::Word:
      return name_operand(value);
    default:
      reader_.fail_expected("an expression");
      return false;
  }
  reader_.advance();
  return true;
}

bool ThunkParser::name_operand(std::optional<std::uint32_t>& value) {
  const Token token = reader_.token();
  if (token.text == "T" || token.text == "F") {
    value = add_leaf(NodeKind::Constant, Type::Bool);
    nodes_.back().int_value = token.text == "T" ? 1 : 0;
    reader_.advance();
    return true;
  }
  if (const std::uint32_t* const local = locals_.find(token.text)) {
    value = *local;
    reader_.advance();
    return true;
  }
  const KernelScope::Name* const known = scope_.find(token.text);
  if (known != nullptr && known->kind == KernelScope::Kind::Size) {
    value = add_leaf(NodeKind::Size, Type::Int, known->id);
    reader_.advance();
    return true;
  }
  if (known == nullptr || known->kind != KernelScope::Kind::Array) {
    scope_.fail_unknown("an expression");
    return false;
  }
  reader_.advance();
  Frame frame;
  frame.node.kind = NodeKind::Subscript;
  frame.node.type = scope_.kernel().arrays[known->id].type;
  frame.node.id = known->id;
  frame.node.span = token.span;
  frame.needed = 1;
  frame.opening = reader_.token().span;
  if (!reader_.accept(Token::Kind::LeftBracket)) {
    reader_.fail_expected(fmt::format("`[` after the vector `{}`", shortened(token.text)));
    return false;
  }
  frames_.push_back(std::move(frame));
  return true;
}

bool ThunkParser::form() {
  Frame frame;
  frame.opening = reader_.token().span;
  reader_.advance();
  const Token head = reader_.token();
  frame.node.span = head.span;
  if (reader_.accept_word("LET")) {
    const auto name = local_name();
    if (!name) return false;
    frame.form = Form::Let;
    frame.name = *name;
    frame.needed = 2;
  } else if (reader_.accept_word("IF")) {
    frame.node.kind = NodeKind::If;
    frame.needed = 3;
  } else if (head.kind == Token::Kind::Word && find_segment_operator(head.text)) {
    frame.node.kind = *find_segment_operator(head.text);
    frame.needed = argument_count(frame.node);
    reader_.advance();
    const Token& token = reader_.token();
    const auto* const known = token.kind == Token::Kind::Word ? scope_.find(token.text) : nullptr;
    if (known == nullptr || known->kind != KernelScope::Kind::Segdes) {
      scope_.fail_unknown("a descriptor");
      return false;
    }
    frame.node.id = known->id;
    reader_.advance();
  } else if (!operation(frame)) {
    return false;
  }
  frames_.push_back(std::move(frame));
  return true;
}

bool ThunkParser::operation(Frame& frame) {
  const Token head = reader_.token();
  const auto op = head.kind == Token::Kind::Word ? find_thunk_operation(head.text) : std::nullopt;
  if (!op) {
    const std::string nearest = head.kind == Token::Kind::Word ? nearest_operation(head.text) : "";
    reader_.fail_expected(
        "an elementwise operation, IF, LET or SEGNO, SEGOFF, SEGLEN, SEGSTART, "
        "NSEG after `(`",
        nearest.empty() ? "" : fmt::format("did you mean `{}`?", nearest));
    return false;
  }
  const OpInfo& row = info(*op);
  frame.node.kind = NodeKind::Apply;
  frame.node.op = *op;
  frame.needed = argument_count(frame.node);
  reader_.take_into(frame.node.span);
  if (row.takes_type()) {
    const auto type = reader_.token_type();
    if (!type || !row.allows(*type)) {
      reader_.fail_expected(fmt::format("a type that `{}` takes", row.text));
      return false;
    }
    frame.node.written = *type;
    reader_.take_into(frame.node.span);
  }
  frame.node.type = *operand_type(row.results[0], frame.node.written);
  return true;
}

// Gives a complete operand to the innermost open form; afterwards `value` is that form, if it is
// complete now.
bool ThunkParser::feed(std::optional<std::uint32_t>& value) {
  Frame& frame = frames_.back();
  const std::uint32_t operand = *value;
  value.reset();
  if (frame.form == Form::Let) {
    if (frame.count == 0 && !bind_local(frame.name, operand)) return false;
    frame.value = operand;
  } else {
    frame.node.args[frame.count] = operand;
  }
  return ++frame.count < frame.needed || close(value);
}

bool ThunkParser::close(std::optional<std::uint32_t>& value) {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  const bool bracket = frame.form == Form::Node && frame.node.kind == NodeKind::Subscript;
  if (!reader_.accept(bracket ? Token::Kind::RightBracket : Token::Kind::RightParen)) {
    reader_.fail_expected(bracket ? "`]`" : "`)`", {}, {{"it closes this", frame.opening}});
    return false;
  }
  if (frame.form == Form::Let) {
    locals_.pop();
    value = frame.value;
    return true;
  }
  if (frame.node.kind == NodeKind::If) frame.node.type = nodes_[frame.node.args[1]].type;
  value = add(frame.node);
  return true;
}

std::optional<Token> ThunkParser::local_name() {
  return scope_.any_name("a local name");
}

bool ThunkParser::bind_local(const Token& name, std::uint32_t node) {
  const KernelScope::Name* const known = scope_.find(name.text);
  if (known != nullptr && known->kind != KernelScope::Kind::Broken) {
    scope_.fail_bound_twice(name, known->span);
    return false;
  }
  if (locals_.find(name.text) != nullptr) {
    scope_.fail(ErrorCode::KernelName,
                fmt::format("`{}` is bound a second time in one function", shortened(name.text)),
                name.span);
    return false;
  }
  locals_.add(name.text, node);
  return true;
}

std::uint32_t ThunkParser::add(ThunkNode node) {
  nodes_.push_back(node);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t ThunkParser::add_leaf(NodeKind kind, Type type, std::uint32_t id) {
  ThunkNode node;
  node.kind = kind;
  node.type = type;
  node.id = id;
  node.span = reader_.token().span;
  return add(node);
}

}  // namespace vcode
