#include "neslc/lsp/document.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/loader.hpp"
#include "neslc/command/completer.hpp"
#include "neslc/command/describe.hpp"
#include "neslc/command/modules.hpp"
#include "neslc/flatten/definitions_text.hpp"
#include "neslc/front/free_variables.hpp"
#include "neslc/front/library_text.hpp"
#include "neslc/front/lower_case.hpp"
#include "neslc/front/warnings.hpp"
#include "neslc/lsp/uri.hpp"

namespace neslc::lsp {
namespace {

constexpr std::string_view kEnding = ".nesl";
constexpr std::uintmax_t kLargestFile = std::uintmax_t{1} << 26;

/// A name that a form defines.
struct Name {
  const CheckedForm::Change* change;
  const Local* local;  // of a binding; else null
  vcode::Span span;
};

std::vector<Name> names_of(const CheckedForm& form) {
  std::vector<Name> names;
  if (std::holds_alternative<ast::BindingForm>(form.form->node)) {
    std::vector<const Local*> locals;
    append_locals(*form.body->parameter, locals);
    for (std::size_t i = 0; i < form.changes.size() && i < locals.size(); ++i) {
      names.push_back({&form.changes[i], locals[i], locals[i]->span});
    }
  } else if (form.kind != CheckedForm::Kind::Expression &&
             form.kind != CheckedForm::Kind::Command) {
    const CheckedForm::Change& change = form.changes.front();
    names.push_back({&change, nullptr, change.contents.span});
  }
  return names;
}

bool belongs_to_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

Document::Document(std::string uri, std::string text)
    : source_(std::make_shared<const vcode::Source>(std::move(uri), std::move(text))),
      tokens_(tokenize(*source_)),
      session_(std::string(library_text()) + std::string(definitions_text()),
               open_definitions_text()) {
  if (const std::optional<std::string> path = path_of(source_->name())) {
    folder_ = path->substr(0, path->rfind('/') + 1);
    loaded_.insert(*path);
  }
  const std::vector<ParsedForm> forms = parse_program(source_).forms;
  session_.announce(forms);
  for (const ParsedForm& form : forms) check(form);
}

void Document::check(const ParsedForm& form) {
  if (form.error) return add_error(*form.error, form);
  Checked checked = session_.check(form.form);
  if (!checked) return add_error(*checked.error, form);
  if (const auto body = checked.form->written_body(); body && body->source == source_) {
    for (vcode::Diagnostic& warning : warnings_of(*checked.form)) {
      errors_.push_back(std::move(warning));
    }
  }
  define(*checked.form);
  load(*form.form);
  if (checked.form->kind != CheckedForm::Kind::Command) session_.commit(std::move(*checked.form));
}

// ---- Loaded files

/// `import "FILE"`, and `load "FILE"`; what other expressions stand for is not known before they
/// are evaluated.
void Document::load(const ast::Form& form) {
  const auto* const command = std::get_if<ast::CommandForm>(&form.node);
  if (command == nullptr || !folder_) return;
  namespace fs = std::filesystem;
  std::string path;
  vcode::Span span;
  std::string hint;
  std::error_code error;
  if (is_import(form)) {
    const bool here = form.source == source_;
    span = command->words[0].span;
    path = module_file(here ? *folder_ : folder_of(form.source->name()), command->words[0].text);
  } else if (command->name == "load" && command->expression) {
    const auto* const file = std::get_if<ast::StringLiteral>(&command->expression->node);
    if (file == nullptr) return;
    span = command->expression->span;
    path = (fs::path(*folder_) / file->text).string();
    if (!path.ends_with(kEnding) && !fs::exists(path, error)) path += kEnding;
    hint = "an editor looks for it in the folder of this file, `nesl` in the current one";
  } else {
    return;
  }
  path = fs::path(path).lexically_normal().string();
  // What is no file might never end.
  if (fs::is_regular_file(path, error) && fs::file_size(path, error) <= kLargestFile) {
    return load_file(path);
  }
  if (form.source != source_) return;
  vcode::Diagnostic missing;
  missing.severity = vcode::Severity::Warning;
  missing.code = vcode::ErrorCode::CannotOpen;
  missing.message = "there is no file `" + vcode::escaped(path) + "`";
  missing.span = span;
  missing.hint = std::move(hint);
  errors_.push_back(std::move(missing));
}

/// Takes over what the file defines. Its errors are shown where it is edited.
void Document::load_file(const std::string& path) {
  if (!loaded_.insert(path).second) return;
  vcode::Diagnostics unreadable;
  const auto source = vinterp::read_source(path, unreadable);
  if (!source) return;
  for (const ParsedForm& form : parse_program(source).forms) {
    if (form.error) continue;
    Checked checked = session_.check(form.form);
    if (!checked) continue;
    load(*form.form);
    if (checked.form->kind == CheckedForm::Kind::Command) continue;
    for (const Name& name : names_of(*checked.form)) {
      definitions_[name.change->slot] = {source, name.span};
    }
    session_.commit(std::move(*checked.form));
  }
}

/// What is wrong in the library with a form of the text is shown where the form begins.
void Document::add_error(const StaticError& error, const ParsedForm& form) {
  wrong_.emplace_back(form.begin, form.end);
  vcode::Diagnostic diagnostic = error.diagnostic;
  const bool here = error.source == source_;
  if (!here) std::erase_if(diagnostic.notes, [](const vcode::Note& note) { return !!note.span; });
  if (!here || !diagnostic.span) {
    const auto next = std::find_if(tokens_.begin(), tokens_.end(),
                                   [&](const Token& token) { return token.begin >= form.begin; });
    const auto length = static_cast<std::uint32_t>(next->end - next->begin);
    diagnostic.span = {next->line, next->column, length};
  }
  errors_.push_back(std::move(diagnostic));
}

// ---- Names

void Document::define(const CheckedForm& form) {
  for (const Name& name : names_of(form)) {
    const Definition& contents = name.change->contents;
    const vcode::Span span = name.local == nullptr ? name.span : span_of(*name.local);
    symbols_.push_back({contents.name, scheme_text(contents.scheme), contents.kind, span,
                        form.form->begin, form.form->end});
    add({span, contents.name, contents.scheme, nullptr, {source_, span}});
    definitions_[name.change->slot] = {source_, span};
  }
  const bool function = form.kind == CheckedForm::Kind::Function;
  std::shared_ptr<const Body> body = form.written_body();
  if (!body) return;
  const Scheme& scheme = function ? form.changes.front().contents.scheme : form.scheme;
  add_body(*body, scheme.variables, form);
  bodies_.push_back(std::move(body));
}

void Document::add(Occurrence occurrence) {
  if (!occurrence.span) return;
  Key key{occurrence.span.line, occurrence.span.column, occurrence.name};
  occurrences_.emplace(std::move(key), std::move(occurrence));
}

/// The name without the parentheses that may stand around it in a pattern.
vcode::Span Document::span_of(const Local& local) const {
  const auto begin = std::pair(local.span.line, local.span.column);
  auto token = std::partition_point(tokens_.begin(), tokens_.end(), [&](const Token& t) {
    return std::pair(t.line, t.column) < begin;
  });
  while (token != tokens_.end() && token->is(Token::Kind::Punctuation, "(")) ++token;
  if (token == tokens_.end() || !token->is(Token::Kind::Name, local.name)) return local.span;
  return {token->line, token->column, static_cast<std::uint32_t>(token->end - token->begin)};
}

void Document::add_body(const Body& body, const std::vector<TypeClass>& variables,
                        const CheckedForm& form) {
  Locals locals{form.form->begin, form.form->end, {}};
  for (const auto& local : body.locals) {
    const Scheme scheme{variables, local->type};
    const vcode::Span span = span_of(*local);
    add({span, local->name, scheme, nullptr, {source_, span}});
    locals.types.emplace(local->name, scheme);
  }
  locals_.push_back(std::move(locals));
  add_expression(*body.expression, variables, form);
}

void Document::add_expression(const Expr& expr, const std::vector<TypeClass>& variables,
                              const CheckedForm& form) {
  for_each_expression(expr, [&](const Expr& part) {
    if (const auto* local = std::get_if<LocalRef>(&part.node)) {
      const vcode::Span target = span_of(*local->local);
      add({part.span, local->local->name, {variables, part.type}, nullptr, {source_, target}});
    } else if (const auto* global = std::get_if<GlobalRef>(&part.node)) {
      const auto found = definitions_.find(global->definition);
      const Target target = found == definitions_.end() ? Target{} : found->second;
      // The slot of a function that calls itself is filled when the form is committed.
      const bool own = !form.changes.empty() && form.changes.front().slot == global->definition;
      const std::string& name = own ? form.changes.front().contents.name : global->definition->name;
      add({part.span, name, {variables, part.type}, global->definition, target});
    } else if (const auto* lambda = std::get_if<LambdaRef>(&part.node)) {
      add_expression(*lambda->lambda->body, variables, form);
    }
    return Visit::Below;
  });
}

std::size_t Document::offset(std::uint32_t line, std::uint32_t column) const {
  if (line == 0 || line > source_->line_count()) return source_->text().size();
  const std::string_view text = source_->line(line);
  const auto begin = static_cast<std::size_t>(text.data() - source_->text().data());
  return begin + std::min<std::size_t>(column - 1, text.size());
}

const Token* Document::name_at(std::uint32_t line, std::uint32_t column) const {
  const std::size_t at = offset(line, column);
  auto token = std::upper_bound(tokens_.begin(), tokens_.end(), at,
                                [](std::size_t place, const Token& t) { return place < t.begin; });
  while (token != tokens_.begin()) {
    --token;
    if (token->end < at) break;
    if (token->kind == Token::Kind::Name) return &*token;
  }
  return nullptr;
}

std::optional<Document::Meaning> Document::meaning(std::uint32_t line, std::uint32_t column) const {
  const Token* const token = name_at(line, column);
  if (token == nullptr) return std::nullopt;
  const auto found = occurrences_.find({token->line, token->column, token->text});
  if (found == occurrences_.end()) return std::nullopt;
  const Occurrence& occurrence = found->second;
  Meaning meaning;
  meaning.span = {token->line, token->column,
                  static_cast<std::uint32_t>(token->end - token->begin)};
  meaning.type = occurrence.name + " : " + scheme_text(occurrence.scheme);
  meaning.definition = occurrence.target;
  if (const Definition* const definition = occurrence.definition) {
    meaning.text = definition->library ? describe(*definition) : definition->documentation;
  }
  return meaning;
}

std::vector<Document::Candidate> Document::candidates(std::uint32_t line, std::uint32_t column) {
  const std::size_t at = offset(line, column);
  const std::string_view text = source_->text();
  const bool quoted = std::any_of(tokens_.begin(), tokens_.end(), [&](const Token& token) {
    return token.kind == Token::Kind::String && token.begin < at && at < token.end;
  });
  if (quoted) return {};
  std::size_t begin = at;
  while (begin > 0 && belongs_to_name(text[begin - 1])) --begin;
  const std::string word = lower_case(text.substr(begin, at - begin));

  std::map<std::string, Candidate> found;  // the first one of a name hides the others
  const auto offer = [&](Candidate candidate) {
    if (candidate.name.starts_with(word)) found.emplace(candidate.name, std::move(candidate));
  };
  for (const Locals& locals : locals_) {
    if (at < locals.begin || at > locals.end) continue;
    for (const auto& [name, scheme] : locals.types) {
      offer({name, Candidate::Kind::Variable, scheme_text(scheme), {}});
    }
  }
  for (const Definition* definition : session_.definitions()) {
    const std::string& name = definition->name;
    if (!belongs_to_name(name[0]) || !name.starts_with(word)) continue;
    const Candidate::Kind kind =
        definition->kind == DefinitionKind::Function      ? Candidate::Kind::Function
        : definition->kind == DefinitionKind::Constructor ? Candidate::Kind::Constructor
                                                          : Candidate::Kind::Variable;
    offer({name, kind, scheme_text(definition->scheme), definition->documentation});
  }
  for (const std::string& name : session_.datatype_names()) {
    offer({name, Candidate::Kind::Type, {}, {}});
  }
  for (const std::string_view reserved : reserved_words()) {
    offer({std::string(reserved), Candidate::Kind::Word, {}, {}});
  }
  for (const auto& [first, last] : wrong_) {
    if (at < first || at > last) continue;
    for (const Token& token : tokens_) {
      const bool typed = token.begin <= at && at <= token.end;
      const bool here = token.begin >= first && token.end <= last;
      if (token.kind != Token::Kind::Name || typed || !here) continue;
      offer({token.text, Candidate::Kind::Variable, {}, {}});
    }
  }
  std::vector<Candidate> result;
  for (auto& [name, candidate] : found) result.push_back(std::move(candidate));
  return result;
}

}  // namespace neslc::lsp
