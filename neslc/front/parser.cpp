#include "neslc/front/parser.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "neslc/front/expression_parser.hpp"
#include "neslc/front/hints.hpp"
#include "neslc/front/token_stream.hpp"

namespace neslc {
namespace {

using Kind = Token::Kind;

// The command words (reference, section 9) and how many words may follow.
struct Command {
  std::string_view name;
  std::size_t least;
  std::size_t most;
};
constexpr std::size_t kAny = 1000;
// Not a word of NESL 3.1: a command only where a file name follows.
constexpr Command kImport = {"import", 1, 1};
constexpr std::array<Command, 13> kCommands = {{{"help", 0, kAny},
                                                {"exit", 0, 0},
                                                {"lisp", 0, 0},
                                                {"describe", 1, 1},
                                                {"apropos", 1, 1},
                                                {"get", 1, 1},
                                                {"set", 1, kAny},
                                                {"show", 1, kAny},
                                                {"shell", 1, 2},
                                                {"dump", 1, 2},
                                                {"edit", 0, 1},
                                                {"load", 0, 0},
                                                {"defconfig", 1, kAny}}};

const Command* find_command(const Token& token) {
  if (token.is(Kind::Punctuation, "?")) return &kCommands[0];
  if (token.kind != Kind::Name) return nullptr;
  for (const Command& command : kCommands) {
    if (command.name == token.text) return &command;
  }
  return nullptr;
}

class FormParser {
 public:
  FormParser(std::shared_ptr<const vcode::Source> source, ParseOptions options)
      : options_(options),
        tokens_(std::move(source), {.dotted_names = options.library}),
        expressions_(tokens_) {}

  Parsed all() {
    Parsed parsed;
    while (!tokens_.at(Kind::End)) {
      if (tokens_.at_mark(";") || tokens_.at_mark("$")) {  // an empty form
        tokens_.take();
        continue;
      }
      ParsedForm form = next();
      if (options_.interactive && ended_early_) {
        parsed.incomplete = true;
        break;
      }
      parsed.forms.push_back(std::move(form));
    }
    return parsed;
  }

 private:
  ParsedForm next() {
    const std::size_t first = tokens_.position();
    ParsedForm result;
    result.begin = tokens_.peek().begin;
    bool at_next = false;  // behind the form and what ends it
    try {
      auto form = std::make_shared<ast::Form>();
      form->source = tokens_.source();
      form->begin = tokens_.peek().begin;
      toplevel(*form);
      if (!tokens_.at_form_end()) fail_end(first);
      form->end = tokens_.tokens()[tokens_.position() - 1].end;
      form->span = tokens_.span_from(first);
      result.form = std::move(form);
    } catch (Failure& failure) {
      result.error = std::move(failure.error);
      const Kind reached = tokens_.peek().kind;
      ended_early_ = reached == Kind::End || (reached == Kind::Error && unfinished(tokens_.peek()));
      explain_statement(*result.error, first);
      at_next = lost_its_end(first);
      tokens_.skip_to(at_next ? tokens_.position() + 1 : form_end(first));
    }
    if (tokens_.at(Kind::End)) {
      ended_early_ = ended_early_ || result.form;
    } else if (!at_next && !tokens_.at_definition()) {
      tokens_.skip_to(tokens_.position() + 1);
    }
    result.names = result.form ? ast::defined_names(*result.form) : attempted_names(first);
    result.end =
        tokens_.position() > first ? tokens_.tokens()[tokens_.position() - 1].end : result.begin;
    return result;
  }

  // What a form with an error was to define: `function NAME`, `datatype NAME` or `NAME =`.
  std::vector<ast::DefinedName> attempted_names(std::size_t first) const {
    const std::vector<Token>& tokens = tokens_.tokens();
    const bool definition = TokenStream::starts_definition(tokens[first]);
    const std::size_t at = first + (definition ? 1 : 0);
    if (tokens[at].kind != Kind::Name) return {};
    if (!definition && !tokens[at + 1].is(Kind::Punctuation, "=")) return {};
    return {{tokens[at].text, tokens[at].line}};
  }

  // A comment or string that more text could close.
  bool unfinished(const Token& token) const {
    const char c = tokens_.source()->text()[token.begin];
    return c == '%' || c == '"' || c == '`';
  }

  // Something follows what looks like the whole form that begins at token `first`.
  [[noreturn]] void fail_end(std::size_t first) const {
    constexpr const char* kRule = "every form ends with `;`";
    const Token& begin = tokens_.tokens()[first];
    const bool comment = begin.is(Kind::Punctuation, "#") ||
                         (begin.is(Kind::Punctuation, "-") &&
                          tokens_.tokens()[first + 1].is(Kind::Punctuation, "-"));
    if (comment && tokens_.peek().line > begin.line) {
      tokens_.fail(tokens_.span_of(begin), "this is no comment",
                   "a comment stands between two `%`: % ... %");
    }
    if (const std::string hint = statement_hint(first); !hint.empty()) {
      tokens_.fail_expected("`;`", hint);
    }
    if (tokens_.at_definition()) tokens_.fail_missing_end(tokens_.position(), kRule);
    if (tokens_.at_mark("=") && tokens_.left_side() > first) expressions_.fail_separator(kRule);
    if (tokens_.at_closer()) {
      const Token& bracket = tokens_.peek();
      tokens_.fail(tokens_.span_of(bracket), fmt::format("this `{}` closes nothing", bracket.text),
                   "is a bracket missing in front, or is this one too many?");
    }
    if (tokens_.at_word("in")) {
      tokens_.fail_expected("`;`", "`in` belongs to `let` and to the braces of an apply-to-each");
    }
    tokens_.fail_expected("`;`");
  }

  // A statement of another language explains an error behind its first word.
  std::string statement_hint(std::size_t first) const {
    for (std::size_t i = first; i < tokens_.position(); ++i) {
      const Token& token = tokens_.tokens()[i];
      if (token.kind != Kind::Name) continue;
      if (std::string hint = hint_for_statement(token.text); !hint.empty()) return hint;
    }
    return {};
  }

  // The first word of a form says what it was meant to be; one further behind is second to a hint.
  void explain_statement(StaticError& error, std::size_t first) const {
    const std::vector<Token>& tokens = tokens_.tokens();
    const std::size_t word = first + (tokens[first].is(Kind::Punctuation, "#") ? 1 : 0);
    const std::string hint = hint_for_statement(tokens[word].text);
    if (!hint.empty()) {
      error.diagnostic.hint = hint;
    } else if (error.diagnostic.hint.empty()) {
      error.diagnostic.hint = statement_hint(first);
    }
  }

  // An unclosed comment or string takes the end of its line with it.
  bool lost_its_end(std::size_t first) const {
    const Token& token = tokens_.peek();
    if (token.kind != Kind::Error || !unfinished(token)) return false;
    return tokens_.position() == first ||
           tokens_.source()->text().substr(token.begin, token.end - token.begin).find(';') !=
               std::string_view::npos;
  }

  // The terminator of the form that begins at token `first` and has an error at the current one. A
  // `;` inside the braces or the bindings of a `let` ends the form only if these are never closed.
  std::size_t form_end(std::size_t first) const {
    const std::vector<Token>& tokens = tokens_.tokens();
    std::vector<char> open;
    for (std::size_t i = first; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      if (token.kind == Kind::End) return i;
      if (i >= tokens_.position()) {
        if (token.is(Kind::Punctuation, "$")) return i;
        if (i > first && TokenStream::starts_definition(token)) return i;
        if (token.is(Kind::Punctuation, ";")) {
          const bool inside = !open.empty() && closes(i + 1, open.back());
          if (!inside && !in_loop_head(first, i)) return i;
        }
      }
      nest(token, open);
    }
    return tokens.size() - 1;
  }

  // `for (i = 0; i < n; i = i + 1)`.
  bool in_loop_head(std::size_t first, std::size_t at) const {
    const std::vector<Token>& tokens = tokens_.tokens();
    if (hint_for_statement(tokens[first].text).empty() ||
        !tokens[first + 1].is(Kind::Punctuation, "(")) {
      return false;
    }
    const std::size_t end = tokens_.after_group(first + 1);
    return at < end && tokens[end - 1].line == tokens[first].line;
  }

  static void nest(const Token& token, std::vector<char>& open) {
    if (token.is(Kind::Punctuation, "{")) {
      open.push_back('{');
    } else if (token.is(Kind::Keyword, "let")) {
      open.push_back('l');
    } else if (token.is(Kind::Keyword, "in")) {
      if (!open.empty() && open.back() == 'l') open.pop_back();
    } else if (token.is(Kind::Punctuation, "}")) {
      while (!open.empty() && open.back() == 'l') open.pop_back();
      if (!open.empty()) open.pop_back();
    }
  }

  // Is the innermost open brace or let of this kind closed by what follows?
  bool closes(std::size_t from, char kind) const {
    constexpr std::size_t kFarthest = 2000;
    const std::vector<Token>& tokens = tokens_.tokens();
    std::vector<char> open = {kind};
    for (std::size_t i = from; i < tokens.size() && i - from < kFarthest; ++i) {
      const Token& token = tokens[i];
      if (token.kind == Kind::End || token.is(Kind::Punctuation, "$") ||
          TokenStream::starts_definition(token)) {
        return false;
      }
      nest(token, open);
      if (open.empty()) return true;
    }
    return false;
  }

  bool at_import() const {
    const Token& after = tokens_.peek(2);
    return tokens_.at(Kind::Name, kImport.name) && tokens_.peek(1).kind == Kind::String &&
           (after.kind == Kind::End || after.is(Kind::Punctuation, ";") ||
            after.is(Kind::Punctuation, "$"));
  }

  void toplevel(ast::Form& form) {
    if (tokens_.accept_word("function")) return function(form);
    if (tokens_.accept_word("datatype")) return datatype(form);
    if (const Command* command = find_command(tokens_.peek());
        command != nullptr && !options_.library) {
      return this->command(form, *command);
    }
    if (at_import() && !options_.library) return command(form, kImport);
    ast::ExprPtr left = expressions_.expression();
    if (tokens_.accept_mark("=")) {
      ast::ExprPtr value = expressions_.expression();
      form.node =
          ast::BindingForm{ExpressionParser::to_pattern(std::move(left)), std::move(value), {}, {}};
    } else if (tokens_.at_mark("|=") || tokens_.at_mark("&=")) {
      ast::BindingForm binding;
      binding.kind = tokens_.take().text == "|=" ? ast::BindingForm::Kind::FileVariable
                                                 : ast::BindingForm::Kind::Background;
      binding.pattern = ExpressionParser::to_pattern(std::move(left));
      binding.value = expression_and_options(binding.options);
      form.node = std::move(binding);
    } else {
      form.node = ast::ExpressionForm{std::move(left)};
    }
  }

  std::string new_name_hint(std::string_view what) const {
    if (what != "function") return {};
    return tokens_.at_mark("(") ? "a function without a name is written `x => x + 1`"
                                : "a definition reads `function name(arguments) = expression`";
  }

  std::string new_name(std::string_view what, vcode::Span& span) {
    const bool quoted = options_.library && tokens_.at(Kind::String);
    if (!tokens_.at(Kind::Name) && !quoted) {
      tokens_.fail_expected(fmt::format("the name of a {}", what), new_name_hint(what));
    }
    const Token& token = tokens_.take();
    span = tokens_.span_of(token);
    return token.text;
  }

  void function(ast::Form& form) {
    ast::FunctionForm result;
    result.name = new_name("function", result.name_span);
    if (!tokens_.at(Kind::Name) && !tokens_.at_mark("(")) {
      tokens_.fail_expected("the function's argument",
                            "a definition reads `function name(arguments) = expression`");
    }
    const std::size_t argument = tokens_.position();
    if (tokens_.at(Kind::Name)) {
      const Token& token = tokens_.take();
      result.argument = std::make_unique<ast::Pattern>();
      const bool constant = token.text == "t" || token.text == "f";
      result.argument->kind = constant ? ast::Pattern::Kind::Constant : ast::Pattern::Kind::Name;
      result.argument->name = token.text;
    } else {
      tokens_.take();
      if (tokens_.accept_mark(")")) {
        tokens_.fail(
            tokens_.span_from(argument), "this function has no argument",
            fmt::format("a value without arguments is a variable: `{} = ...;`", result.name));
      }
      result.argument = ExpressionParser::to_pattern(expressions_.expression());
      if (!tokens_.accept_mark(")")) fail_argument_end();
    }
    result.argument->span = tokens_.span_from(argument);
    if (tokens_.accept_mark(":")) {
      result.type = expressions_.type_definition();
      if (result.type->type->kind != ast::TypeExpr::Kind::Arrow) {
        const bool named = result.type->type->kind == ast::TypeExpr::Kind::Name;
        tokens_.fail(result.type->type->span, "this is not the type of a function",
                     named ? "a type reads `argument -> result`; the body stands behind `=`"
                           : "a function's type reads `argument -> result`; put a tuple of "
                             "arguments in parentheses: `(int, int) -> int`");
      }
    }
    if (tokens_.at(Kind::String)) result.documentation = tokens_.take().text;
    if (tokens_.accept_mark("=")) {
      result.body = expressions_.expression();
    } else if (!result.type) {
      fail_no_body();
    }
    form.node = std::move(result);
  }

  // Types and defaults as other languages write them.
  [[noreturn]] void fail_argument_end() const {
    std::string hint;
    if (tokens_.at_mark(":")) {
      hint = "types stand behind the arguments: `function f(x) : int -> int = ...`";
    } else if (tokens_.at_mark("=")) {
      hint = "a default is written with `:=`, as in `function f(x, by := 10) = ...`";
    }
    tokens_.fail_expected("`)` after the function's argument", std::move(hint));
  }

  [[noreturn]] void fail_no_body() const {
    std::string hint;
    if (tokens_.at_mark("->")) {
      hint = "types stand behind `:`, as in `function f(x) : int -> int = ...`";
    } else if (tokens_.at_mark("{")) {
      hint = "the body is an expression without braces: `function f(x) = x + 1;`";
    }
    tokens_.fail_expected("`=` and the function's body", std::move(hint));
  }

  void datatype(ast::Form& form) {
    ast::DatatypeForm result;
    result.name = new_name("datatype", result.name_span);
    if (tokens_.at_mark("=")) {
      tokens_.fail_expected(
          "the types of the fields",
          fmt::format("they stand behind the name: `datatype {} (int, float);`", result.name));
    }
    result.type = expressions_.record_definition(result.fields);
    form.node = std::move(result);
  }

  void command(ast::Form& form, const Command& command) {
    using Word = ast::CommandForm::Word;
    ast::CommandForm result;
    result.name = command.name;
    tokens_.take();
    const std::size_t first = tokens_.position();
    if (command.name == "load") {
      if (!tokens_.at_form_end()) result.expression = expression_and_options(result.options);
    } else {
      while (!tokens_.at_form_end() && !at_dumped(result)) {
        const Token& token = tokens_.take();
        const Word::Kind kind = token.kind == Kind::String    ? Word::Kind::String
                                : token.kind == Kind::Integer ? Word::Kind::Number
                                : token.kind == Kind::Name || token.kind == Kind::Keyword
                                    ? Word::Kind::Name
                                    : Word::Kind::Punctuation;
        result.words.push_back({kind, token.text, tokens_.span_of(token)});
      }
      if (at_dumped(result)) result.expression = expression_and_options(result.options);
    }
    if (result.words.size() < command.least || result.words.size() > command.most) {
      tokens_.fail(
          tokens_.span_from(first > 0 ? first - 1 : first),
          fmt::format("the command `{}` {}", command.name,
                      result.words.size() < command.least ? "lacks what it is about"
                                                          : "has too many words"),
          fmt::format("`help;` shows commands; an expression that begins with `{}` stands in "
                      "parentheses",
                      command.name));
    }
    form.node = std::move(result);
  }

  // `dump vcode "file"` is followed by an expression.
  static bool at_dumped(const ast::CommandForm& command) {
    return command.name == "dump" && command.words.size() == 2 && command.words[0].text == "vcode";
  }

  // An expression and behind it, separated by commas, options `name := value`.
  ast::ExprPtr expression_and_options(std::vector<ast::Binding>& options) {
    ast::ExprPtr rest = expressions_.expression();
    while (auto* tuple = std::get_if<ast::Tuple>(&rest->node)) {
      if (!std::holds_alternative<ast::KeywordArgument>(last_of(*tuple).node)) break;
      ast::ExprPtr first = std::move(tuple->first);
      collect_options(std::move(tuple->second), options);
      rest = std::move(first);
    }
    return rest;
  }

  static const ast::Expr& last_of(const ast::Tuple& tuple) {
    const ast::Expr* at = tuple.second.get();
    while (const auto* inner = std::get_if<ast::Tuple>(&at->node)) at = inner->second.get();
    return *at;
  }

  void collect_options(ast::ExprPtr rest, std::vector<ast::Binding>& options) {
    while (rest) {
      ast::ExprPtr next;
      if (auto* tuple = std::get_if<ast::Tuple>(&rest->node)) {
        next = std::move(tuple->second);
        rest = std::move(tuple->first);
      }
      if (!std::holds_alternative<ast::KeywordArgument>(rest->node)) {
        tokens_.fail(rest->span, "an option reads `name := value`");
      }
      ast::PatternPtr option = ExpressionParser::to_pattern(std::move(rest));
      ast::ExprPtr value = std::move(option->value);
      options.push_back({std::move(option), std::move(value)});
      rest = std::move(next);
    }
  }

  ParseOptions options_;
  TokenStream tokens_;
  ExpressionParser expressions_;
  bool ended_early_ = false;
};

}  // namespace

Parsed parse_program(std::shared_ptr<const vcode::Source> source, ParseOptions options) {
  return FormParser(std::move(source), options).all();
}

}  // namespace neslc
