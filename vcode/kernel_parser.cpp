#include "vcode/kernel_parser.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "vcode/kernel_scope.hpp"
#include "vcode/kernel_words.hpp"
#include "vcode/thunk_parser.hpp"

namespace vcode {
namespace {

using Kind = Binding::Kind;

class KernelParser {
 public:
  KernelParser(TokenReader& reader, InstructionParser& instructions)
      : reader_(reader), instructions_(instructions), scope_(kernel_, reader), thunks_(scope_) {
    // Room for what most kernels have.
    kernel_.sizes.reserve(8);
    kernel_.arrays.reserve(16);
    kernel_.inputs.reserve(8);
    kernel_.outputs.reserve(4);
  }

  std::optional<Kernel> run();

 private:
  void give_back_room();
  bool definition();
  bool name();
  bool parameters(std::string_view word, std::vector<KernelParameter>& list, bool inputs);
  bool parameter(std::vector<KernelParameter>& list, bool inputs);
  void bindings();
  void skip_to_binding(Span begin);
  bool at_end_of_bindings() const;

  bool binding(std::vector<Token>& names);
  bool size_binding(std::vector<Token>& names);
  bool assertion();
  bool result_names(std::vector<Token>& names);
  bool combinator(Kind kind, Binding& binding);
  bool space_and_thunk(Binding& binding);
  bool monoids(Binding& binding);
  bool classes(Binding& binding);
  bool scatter(Binding& binding);
  bool iteration(Binding& binding);
  bool number_behind(std::string_view word, std::string_view what, std::int64_t& number);

  bool bind_results(Binding& binding, const std::vector<Token>& names);
  bool bind_kept(Binding& binding, const std::vector<Token>& names);
  bool bind_array(Binding& binding, const Token& name, Type type, SizeId length);
  bool bind_segdes(Binding& binding, const Token& name, SizeId count, SizeId total);
  SizeId kept_size(const Token* begin, const Token* end);
  SizeId segment_count(Space space);
  bool take_output(const Token& name, KernelScope::Kind kind, const KernelScope::Name*& known);

  TokenReader& reader_;
  InstructionParser& instructions_;
  Kernel kernel_;
  KernelScope scope_;
  ThunkParser thunks_;
  std::vector<Token> names_;  // of the results of a binding
  bool failed_ = false;
};

std::optional<Kernel> KernelParser::run() {
  reader_.set_in_kernel(true);
  reader_.advance();
  if (!definition()) {
    failed_ = true;
    while (!reader_.at_end() && !reader_.at_word("END") && !instructions_.at_definition()) {
      reader_.advance();
    }
  }
  reader_.set_in_kernel(false);
  reader_.accept_word("END");
  if (failed_) return std::nullopt;
  give_back_room();
  return std::move(kernel_);
}

// What is left of the room goes to the next kernel.
void KernelParser::give_back_room() {
  kernel_.sizes.shrink_to_fit();
  kernel_.arrays.shrink_to_fit();
  kernel_.inputs.shrink_to_fit();
  kernel_.outputs.shrink_to_fit();
  kernel_.bindings.shrink_to_fit();
}

bool KernelParser::definition() {
  if (!name() || !parameters("IN", kernel_.inputs, true) ||
      !parameters("OUT", kernel_.outputs, false)) {
    return false;
  }
  if (!reader_.accept_word("DO")) {
    reader_.fail_expected("`,` or DO");
    return false;
  }
  bindings();
  if (reader_.accept_word("SPEC")) {
    kernel_.has_spec = true;
    instructions_.sequence(kernel_.spec, SequenceEnd::End);
  } else if (!reader_.at_word("END")) {
    reader_.fail_expected("a binding, SPEC or END");
    failed_ = true;
  }
  return true;
}

// ---- the head ----

bool KernelParser::name() {
  reader_.set_function({});
  const Token token = reader_.token();
  if (token.kind != Token::Kind::Word || is_reserved(token.text)) {
    reader_.fail_expected("a kernel name after `KERNEL`");
    return false;
  }
  kernel_.name = token.text;
  kernel_.name_span = token.span;
  reader_.set_function(kernel_.name);
  reader_.advance();
  return true;
}

// Either list may be empty: a kernel may consist of assertions, or need no operands.
bool KernelParser::parameters(std::string_view word, std::vector<KernelParameter>& list,
                              bool inputs) {
  if (!reader_.accept_word(word)) {
    reader_.fail_expected(fmt::format("`{}`", word));
    return false;
  }
  if (reader_.at_word("OUT") || reader_.at_word("DO")) return true;
  do {
    if (!parameter(list, inputs)) return false;
  } while (reader_.accept(Token::Kind::Comma));
  return true;
}

bool KernelParser::parameter(std::vector<KernelParameter>& list, bool inputs) {
  const auto name = scope_.new_name("the name of a vector or descriptor");
  if (!name) return false;
  if (!reader_.accept(Token::Kind::Colon)) {
    reader_.fail_expected("`:` after the name");
    return false;
  }
  const auto size = [&]() -> std::optional<SizeId> {
    const Token token = reader_.token();
    const bool known = token.kind != Token::Kind::Word || scope_.find(token.text) != nullptr;
    const auto id = scope_.size(true);
    if (id && !known && !inputs) scope_.find(token.text)->open = true;
    return id;
  };
  KernelParameter parameter;
  if (reader_.accept_word("SEG")) {
    const auto count = size();
    if (!count) return false;
    const auto total = size();
    if (!total) return false;
    parameter = {true, scope_.add_segdes(*name, *count, *total)};
  } else if (reader_.accept_word("VEC")) {
    const auto type = reader_.token_type();
    if (!type || !is_data(*type)) {
      reader_.fail_expected("INT, BOOL or FLOAT after `VEC`");
      return false;
    }
    reader_.advance();
    const auto length = size();
    if (!length) return false;
    parameter = {false, scope_.add_array(*name, *type, *length)};
  } else {
    reader_.fail_expected("VEC or SEG");
    return false;
  }
  if (!inputs) scope_.find(name->text)->open = true;
  list.push_back(parameter);
  return true;
}

// ---- bindings ----

bool KernelParser::at_end_of_bindings() const {
  return reader_.at_end() || reader_.at_word("SPEC") || reader_.at_word("END") ||
         instructions_.at_definition();
}

void KernelParser::bindings() {
  while (!at_end_of_bindings()) {
    const Span begin = reader_.token().span;
    names_.clear();
    if (binding(names_)) continue;
    failed_ = true;
    for (const Token& name : names_) scope_.add_broken(name);
    skip_to_binding(begin);
  }
}

// After an error: a word that begins a later line and is not indented deeper than the broken
// binding begins the next one.
void KernelParser::skip_to_binding(Span begin) {
  std::uint32_t line = begin.line;
  if (reader_.token().span.line == line && !at_end_of_bindings()) reader_.advance();
  while (!at_end_of_bindings()) {
    const Token& token = reader_.token();
    const bool first = token.span.line > line;
    if (first && token.kind == Token::Kind::Word && token.span.column <= begin.column) return;
    line = token.span.line;
    reader_.advance();
  }
}

bool KernelParser::binding(std::vector<Token>& names) {
  if (reader_.at_word("SIZE")) return size_binding(names);
  if (reader_.at_word("ASSERT")) return assertion();
  Binding binding;
  binding.span = reader_.token().span;
  if (!result_names(names)) return false;
  const Token word = reader_.token();
  const auto kind = word.kind == Token::Kind::Word ? find_combinator(word.text) : std::nullopt;
  if (!kind) {
    reader_.fail_expected(
        "MAP, ITERATE, RAND, SCAN, REDUCE, FILTER, SPLIT, SCATTER, SEGMENTS or ONCE");
    return false;
  }
  reader_.advance();
  binding.kind = *kind;
  if (!combinator(*kind, binding) || !bind_results(binding, names)) return false;
  kernel_.bindings.push_back(std::move(binding));
  return true;
}

bool KernelParser::size_binding(std::vector<Token>& names) {
  Binding binding;
  binding.kind = Kind::Size;
  binding.span = reader_.token().span;
  reader_.advance();
  const auto name = scope_.any_name("the name of a size");
  if (!name) return false;
  names.push_back(*name);
  if (!reader_.accept_word("=")) {
    reader_.fail_expected("`=`");
    return false;
  }
  if (!thunks_.body(binding.elements)) return false;
  KernelScope::Name* const known = scope_.find(name->text);
  if (known == nullptr) {
    binding.size = scope_.add_size(*name);
  } else if (known->kind == KernelScope::Kind::Size && std::exchange(known->open, false)) {
    binding.size = known->id;
  } else {
    scope_.fail_bound_twice(*name, known->span);
    return false;
  }
  kernel_.bindings.push_back(std::move(binding));
  return true;
}

bool KernelParser::assertion() {
  Binding binding;
  binding.kind = Kind::Assert;
  binding.span = reader_.token().span;
  reader_.advance();
  if (!space_and_thunk(binding)) return false;
  const Token message = reader_.token();
  if (message.kind != Token::Kind::String) {
    reader_.fail_expected("the message of the assertion, a string");
    return false;
  }
  binding.message = message.text;
  reader_.advance();
  binding.exits = reader_.accept_word("EXIT");
  kernel_.bindings.push_back(std::move(binding));
  return true;
}

bool KernelParser::result_names(std::vector<Token>& names) {
  do {
    const auto name = scope_.any_name("a binding");
    if (!name) return false;
    names.push_back(*name);
  } while (reader_.accept(Token::Kind::Comma));
  if (reader_.accept_word("=")) return true;
  reader_.fail_expected("`,` or `=` after the name of a result");
  return false;
}

bool KernelParser::combinator(Kind kind, Binding& binding) {
  switch (kind) {
    case Kind::Once:
      return thunks_.body(binding.elements);
    case Kind::Split:
      return classes(binding) && space_and_thunk(binding) && thunks_.thunk(binding.flags);
    case Kind::Filter:
      return space_and_thunk(binding) && thunks_.thunk(binding.flags);
    case Kind::Scatter:
      return space_and_thunk(binding) && scatter(binding);
    case Kind::Iterate:
      return space_and_thunk(binding) && iteration(binding);
    case Kind::Scan:
    case Kind::Reduce:
      return space_and_thunk(binding) && monoids(binding);
    default:
      return space_and_thunk(binding);
  }
}

bool KernelParser::space_and_thunk(Binding& binding) {
  const auto space = scope_.space();
  if (!space) return false;
  binding.space = *space;
  return thunks_.thunk(binding.elements);
}

bool KernelParser::monoids(Binding& binding) {
  do {
    const Token word = reader_.token();
    const auto op = word.kind == Token::Kind::Word ? find_monoid(word.text) : std::nullopt;
    if (!op) {
      reader_.fail_expected("an operator to combine with: +, *, MAX, MIN, AND, OR or XOR");
      return false;
    }
    reader_.advance();
    const auto type = reader_.token_type();
    if (!type || !info(*op).allows(*type)) {
      reader_.fail_expected(fmt::format("a type that `{}` combines", word.text));
      return false;
    }
    reader_.advance();
    binding.monoids.push_back({*op, *type});
  } while (reader_.accept(Token::Kind::Comma));
  return true;
}

bool KernelParser::classes(Binding& binding) {
  const auto count = reader_.token_integer();
  if (!count || *count < 1) {
    reader_.fail_expected("the number of classes, which is positive, after `SPLIT`");
    return false;
  }
  binding.classes = *count;
  reader_.advance();
  return true;
}

bool KernelParser::scatter(Binding& binding) {
  if (!thunks_.thunk(binding.index)) return false;
  if (reader_.accept_word("WHEN") && !thunks_.thunk(binding.flags)) return false;
  if (!reader_.accept_word("INTO")) {
    reader_.fail_expected("WHEN or INTO");
    return false;
  }
  binding.into = scope_.space();
  if (!binding.into) return false;
  return !reader_.at(Token::Kind::LeftParen) || thunks_.thunk(binding.defaults);
}

bool KernelParser::iteration(Binding& binding) {
  std::vector<Type> types;
  for (const std::uint32_t result : binding.elements.results) {
    types.push_back(binding.elements.nodes[result].type);
  }
  if (!reader_.accept_word("WHILE")) {
    reader_.fail_expected("WHILE");
    return false;
  }
  if (!thunks_.of_state(types, binding.flags)) return false;
  if (!reader_.accept_word("DO")) {
    reader_.fail_expected("DO");
    return false;
  }
  if (!thunks_.of_state(types, binding.next)) return false;
  if (reader_.accept_word("PUSH")) {
    if (!thunks_.of_state(types, binding.push)) return false;
    if (!reader_.accept_word("POP")) {
      reader_.fail_expected("POP");
      return false;
    }
    if (!thunks_.of_state(types, binding.pop)) return false;
    if (!number_behind("DEPTH", "how many frames there may be", binding.depth)) return false;
  }
  while (reader_.accept_word("WRITE")) {
    const auto operand = scope_.array();
    if (!operand) return false;
    TableWrite& write = binding.writes.emplace_back();
    write.operand = *operand;
    if (!thunks_.of_state(types, write.thunk)) return false;
  }
  return number_behind("ROUNDS", "how many there may be", binding.rounds);
}

bool KernelParser::number_behind(std::string_view word, std::string_view what,
                                 std::int64_t& number) {
  const auto found = reader_.accept_word(word) ? reader_.token_integer() : std::nullopt;
  if (!found || *found < 0) {
    reader_.fail_expected(fmt::format("{} and {}", word, what));
    return false;
  }
  number = *found;
  reader_.advance();
  return true;
}

// ---- results ----

// What a binding's results are follows from its parts; those that OUT declares must agree, which
// the verifier checks.
bool KernelParser::bind_results(Binding& binding, const std::vector<Token>& names) {
  const std::size_t components = binding.elements.results.size();
  const bool filters = binding.kind == Kind::Filter || binding.kind == Kind::Split;
  const std::vector<ArrayId> tables = tables_of(binding);
  std::size_t wanted = components + tables.size();
  if (filters) {
    const auto classes = binding.kind == Kind::Split ? binding.classes : 1;
    const auto columns = static_cast<std::int64_t>(components + 1);
    const auto count = static_cast<std::int64_t>(names.size());
    wanted = classes > count ? 0 : static_cast<std::size_t>(classes * columns);
  }
  if (names.size() != wanted) {
    scope_.fail(ErrorCode::KernelResult,
                fmt::format("{} name{} for the results of a {} with {} component{}{}", names.size(),
                            names.size() == 1 ? "" : "s", combinator_name(binding.kind), components,
                            components == 1 ? "" : "s",
                            filters           ? "; each class has its components and a descriptor"
                            : !tables.empty() ? "; behind them stand its tables"
                                              : ""),
                binding.span);
    return false;
  }
  if (filters) return bind_kept(binding, names);
  if (binding.kind == Kind::Segments) {
    return bind_segdes(binding, names[0], length_of_space(kernel_, binding.space),
                       kept_size(names.data(), names.data() + 1));
  }
  SizeId length = 0;
  switch (binding.kind) {
    case Kind::Once:
      length = scope_.literal_size(1);
      break;
    case Kind::Reduce:
      length = segment_count(binding.space);
      break;
    case Kind::Scatter:
      length = length_of_space(kernel_, *binding.into);
      break;
    default:
      length = length_of_space(kernel_, binding.space);
  }
  for (std::size_t i = 0; i < components; ++i) {
    const Type type = binding.elements.nodes[binding.elements.results[i]].type;
    if (!bind_array(binding, names[i], type, length)) return false;
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const KernelArray operand = kernel_.arrays[tables[i]];
    if (!bind_array(binding, names[components + i], operand.type, operand.length)) return false;
  }
  return true;
}

bool KernelParser::bind_kept(Binding& binding, const std::vector<Token>& names) {
  const std::size_t columns = binding.elements.results.size() + 1;
  for (std::size_t begin = 0; begin < names.size(); begin += columns) {
    const SizeId kept = kept_size(&names[begin], &names[begin] + columns);
    for (std::size_t i = 0; i + 1 < columns; ++i) {
      const Type type = binding.elements.nodes[binding.elements.results[i]].type;
      if (!bind_array(binding, names[begin + i], type, kept)) return false;
    }
    const SizeId count = segment_count(binding.space);
    if (!bind_segdes(binding, names[begin + columns - 1], count, kept)) return false;
  }
  return true;
}

// The size that one class of a filter introduces: the one that OUT gives to any of its results.
SizeId KernelParser::kept_size(const Token* begin, const Token* end) {
  for (const Token* name = begin; name != end; ++name) {
    const auto* const known = scope_.find(name->text);
    if (known == nullptr || !known->open) continue;
    const SizeId size = known->kind == KernelScope::Kind::Array ? kernel_.arrays[known->id].length
                                                                : kernel_.segdes[known->id].total;
    if (auto* const named = scope_.find(kernel_.sizes[size].name)) named->open = false;
    return size;
  }
  return scope_.unnamed_size();
}

SizeId KernelParser::segment_count(Space space) {
  return space.segmented ? kernel_.segdes[space.id].count : scope_.literal_size(1);
}

bool KernelParser::bind_array(Binding& binding, const Token& name, Type type, SizeId length) {
  const KernelScope::Name* known = nullptr;
  if (!take_output(name, KernelScope::Kind::Array, known)) return false;
  binding.arrays.push_back(known != nullptr ? known->id : scope_.add_array(name, type, length));
  return true;
}

bool KernelParser::bind_segdes(Binding& binding, const Token& name, SizeId count, SizeId total) {
  const KernelScope::Name* known = nullptr;
  if (!take_output(name, KernelScope::Kind::Segdes, known)) return false;
  binding.segdes.push_back(known != nullptr ? known->id : scope_.add_segdes(name, count, total));
  return true;
}

// Is the name free, or that of a result that waits for its binding? That one is `known` then.
bool KernelParser::take_output(const Token& name, KernelScope::Kind kind,
                               const KernelScope::Name*& known) {
  KernelScope::Name* const found = scope_.find(name.text);
  known = found;
  if (known == nullptr || known->kind == KernelScope::Kind::Broken) {
    known = nullptr;
    return true;
  }
  if (known->kind == KernelScope::Kind::Size || !std::exchange(found->open, false)) {
    scope_.fail_bound_twice(name, known->span);
    return false;
  }
  if (known->kind == kind) return true;
  scope_.fail(ErrorCode::KernelResult,
              fmt::format("`{}` is declared as a {}, here it is a {}", shortened(name.text),
                          kind == KernelScope::Kind::Array ? "descriptor" : "vector",
                          kind == KernelScope::Kind::Array ? "vector" : "descriptor"),
              name.span, {{"it is declared here", known->span}});
  return false;
}

}  // namespace

std::optional<Kernel> parse_kernel(TokenReader& reader, InstructionParser& instructions) {
  return KernelParser(reader, instructions).run();
}

}  // namespace vcode
