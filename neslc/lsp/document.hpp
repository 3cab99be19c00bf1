// What the front end knows about the text of a program: nothing of it is run. Files that it loads
// by name are read for what they define.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "neslc/front/lexer.hpp"
#include "neslc/front/parser.hpp"
#include "neslc/front/session.hpp"

namespace neslc::lsp {

class Document {
 public:
  /// Checks all forms, each one after those before it, as `nesl check` does. Files that they load
  /// are looked for in the folder of the URI, if it is that of a file.
  Document(std::string uri, std::string text);

  const vcode::Source& source() const { return *source_; }

  /// The first error of each form that has one; a warning for a file that is not there. All places
  /// are in the text.
  const std::vector<vcode::Diagnostic>& errors() const { return errors_; }

  /// A name that the text defines at top level.
  struct Symbol {
    std::string name;
    std::string type;
    DefinitionKind kind = DefinitionKind::Function;
    vcode::Span span;  // of the name
    std::size_t begin = 0;
    std::size_t end = 0;  // of the form, offsets in the text
  };
  const std::vector<Symbol>& symbols() const { return symbols_; }

  /// Where a name is defined: in this text, or in a loaded one, whose name is its absolute path.
  struct Target {
    std::shared_ptr<const vcode::Source> source;  // null: in the library
    vcode::Span span;
  };
  /// What a name in the text is.
  struct Meaning {
    vcode::Span span;  // the name
    std::string type;  // `NAME : TYPE`
    std::string text;  // of the library and other definitions: what `describe` says
    Target definition;
  };
  /// Of the name that a place is in or directly behind. The column counts bytes.
  std::optional<Meaning> meaning(std::uint32_t line, std::uint32_t column) const;

  /// A name that may stand at a place.
  struct Candidate {
    enum class Kind : std::uint8_t { Function, Constructor, Variable, Type, Word };
    std::string name;
    Kind kind = Kind::Variable;
    std::string type;
    std::string documentation;
  };
  /// Those that continue the word in front of the place, in alphabetical order. In a form with an
  /// error all names that stand in it are among them.
  std::vector<Candidate> candidates(std::uint32_t line, std::uint32_t column);

 private:
  /// A place at which a name stands.
  struct Occurrence {
    vcode::Span span;
    std::string name;
    Scheme scheme;
    const Definition* definition = nullptr;  // null: a local variable
    Target target;
  };
  /// Line, column and name: an operation begins where its left operand does.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::string>;
  /// The variables of a form, which may be used between two lines.
  struct Locals {
    std::size_t begin = 0, end = 0;
    std::map<std::string, Scheme> types;
  };

  void check(const ParsedForm& form);
  void load(const ast::Form& form);
  void load_file(const std::string& path);
  void define(const CheckedForm& form);
  void add(Occurrence occurrence);
  void add_body(const Body& body, const std::vector<TypeClass>& variables, const CheckedForm& form);
  void add_expression(const Expr& expr, const std::vector<TypeClass>& variables,
                      const CheckedForm& form);
  void add_error(const StaticError& error, const ParsedForm& form);
  vcode::Span span_of(const Local& local) const;
  const Token* name_at(std::uint32_t line, std::uint32_t column) const;
  std::size_t offset(std::uint32_t line, std::uint32_t column) const;

  std::shared_ptr<const vcode::Source> source_;
  std::vector<Token> tokens_;
  std::optional<std::string> folder_;  // with a slash at its end
  Session session_;
  std::vector<vcode::Diagnostic> errors_;
  std::vector<Symbol> symbols_;
  std::map<Key, Occurrence> occurrences_;
  std::map<const Definition*, Target> definitions_;  // of this text and those that it loads
  std::set<std::string> loaded_;                     // paths
  std::vector<Locals> locals_;
  std::vector<std::pair<std::size_t, std::size_t>> wrong_;  // forms with errors: begin and end
  std::vector<std::shared_ptr<const Body>> bodies_;         // that the types belong to
};

}  // namespace neslc::lsp
