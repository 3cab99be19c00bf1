#include "vcode/kernel_scope.hpp"

#include <utility>

#include <fmt/format.h>

#include "vcode/kernel_words.hpp"
#include "vcode/numbers.hpp"

namespace vcode {

void KernelScope::fail(ErrorCode code, std::string message, Span span, std::vector<Note> notes,
                       std::string hint) {
  reader_.fail({.code = code,
                .message = std::move(message),
                .span = span,
                .function = {},
                .notes = std::move(notes),
                .hint = std::move(hint)});
}

std::optional<Token> KernelScope::any_name(std::string_view expected) {
  const Token token = reader_.token();
  if (token.kind == Token::Kind::Word && !is_reserved_in_kernels(token.text)) {
    reader_.advance();
    return token;
  }
  const bool reserved = token.kind == Token::Kind::Word;
  reader_.fail_expected(std::string(expected), reserved ? "keywords cannot be names" : "");
  return std::nullopt;
}

std::optional<Token> KernelScope::new_name(std::string_view expected) {
  auto name = any_name(expected);
  if (!name) return std::nullopt;
  const Name* const known = find(name->text);
  if (known == nullptr) return name;
  if (known->kind != Kind::Broken) fail_bound_twice(*name, known->span);
  return std::nullopt;
}

void KernelScope::fail_bound_twice(const Token& name, Span first) {
  fail(ErrorCode::KernelName, fmt::format("`{}` is bound a second time", shortened(name.text)),
       name.span, {{"it is bound here first", first}});
}

void KernelScope::bind(const Token& name, Kind kind, std::uint32_t id) {
  const Name meaning{kind, id, name.span};
  if (Name* const known = find(name.text)) {
    *known = meaning;
  } else {
    names_.add(name.text, meaning);
  }
}

SizeId KernelScope::add_size(const Token& name) {
  const auto id = static_cast<SizeId>(kernel_.sizes.size());
  kernel_.sizes.push_back({std::string(name.text), std::nullopt});
  bind(name, Kind::Size, id);
  return id;
}

ArrayId KernelScope::add_array(const Token& name, Type type, SizeId length) {
  const auto id = static_cast<ArrayId>(kernel_.arrays.size());
  kernel_.arrays.push_back({std::string(name.text), type, length});
  bind(name, Kind::Array, id);
  return id;
}

SegdesId KernelScope::add_segdes(const Token& name, SizeId count, SizeId total) {
  const auto id = static_cast<SegdesId>(kernel_.segdes.size());
  kernel_.segdes.push_back({std::string(name.text), count, total});
  bind(name, Kind::Segdes, id);
  return id;
}

void KernelScope::add_broken(const Token& name) {
  if (find(name.text) == nullptr) bind(name, Kind::Broken, 0);
}

SizeId KernelScope::literal_size(std::int64_t value) {
  const auto next = static_cast<SizeId>(kernel_.sizes.size());
  const auto [entry, added] = literals_.try_emplace(value, next);
  if (added) kernel_.sizes.push_back({{}, value});
  return entry->second;
}

SizeId KernelScope::unnamed_size() {
  kernel_.sizes.emplace_back();
  return static_cast<SizeId>(kernel_.sizes.size() - 1);
}

std::optional<SizeId> KernelScope::size(bool may_be_new) {
  const Token token = reader_.token();
  if (token.kind == Token::Kind::Integer) {
    const auto value = read_integer(token.text);
    if (!value || *value < 0) {
      fail(ErrorCode::NumberOutOfRange,
           fmt::format("the size `{}` is {}", shortened(token.text),
                       value || token.text.starts_with('-') ? "negative" : "too large"),
           token.span);
      return std::nullopt;
    }
    reader_.advance();
    return literal_size(*value);
  }
  const Name* const known = token.kind == Token::Kind::Word ? find(token.text) : nullptr;
  if (known == nullptr && may_be_new) {
    const auto name = any_name("a size: a name or a number");
    return name ? std::optional(add_size(*name)) : std::nullopt;
  }
  if (known == nullptr || known->kind != Kind::Size) {
    fail_unknown("a size");
    return std::nullopt;
  }
  reader_.advance();
  return known->id;
}

std::optional<Space> KernelScope::space() {
  const Token token = reader_.token();
  const Name* const known = token.kind == Token::Kind::Word ? find(token.text) : nullptr;
  if (known != nullptr && known->kind == Kind::Segdes) {
    reader_.advance();
    return Space{true, known->id};
  }
  if (token.kind != Token::Kind::Integer && (known == nullptr || known->kind != Kind::Size)) {
    fail_unknown("a size or a descriptor");
    return std::nullopt;
  }
  const auto id = size(false);
  if (!id) return std::nullopt;
  return Space{false, *id};
}

std::optional<ArrayId> KernelScope::array() {
  const Token token = reader_.token();
  const Name* const known = token.kind == Token::Kind::Word ? find(token.text) : nullptr;
  if (known == nullptr || known->kind != Kind::Array) {
    fail_unknown("a vector");
    return std::nullopt;
  }
  reader_.advance();
  return known->id;
}

void KernelScope::fail_unknown(std::string_view what) {
  const Token& token = reader_.token();
  if (token.kind != Token::Kind::Word || is_reserved_in_kernels(token.text)) {
    reader_.fail_expected(std::string(what));
    return;
  }
  const Name* const known = find(token.text);
  if (known != nullptr) {
    if (known->kind == Kind::Broken) return;
    const std::string_view found = known->kind == Kind::Size    ? "a size"
                                   : known->kind == Kind::Array ? "a vector"
                                                                : "a descriptor";
    fail(ErrorCode::KernelName,
         fmt::format("`{}` is {} where {} is needed", shortened(token.text), found, what),
         token.span, {{"it is bound here", known->span}});
    return;
  }
  NearestWord nearest(token.text);
  for (const auto& [name, place] : names_.entries()) nearest.consider(name);
  fail(ErrorCode::KernelName,
       fmt::format("`{}` is not known here; expected {}", shortened(token.text), what), token.span,
       {}, nearest.best().empty() ? "" : fmt::format("did you mean `{}`?", nearest.best()));
}

}  // namespace vcode
