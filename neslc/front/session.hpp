// A running session: its definitions, and the check of one form after another.
//
//   Session session;                                         // knows the library
//   auto source = std::make_shared<const vcode::Source>(name, text);
//   for (ParsedForm& parsed : parse_program(source).forms) {  // parser.hpp
//     Checked checked = session.check(parsed.form);          // changes nothing visible
//     ... evaluate it, if it is an expression or a binding ...
//     session.commit(std::move(*checked.form));              // now the names are bound
//   }
//
// Re-definition (reference 3.6). A definition is a *slot*: a definition of a name that has the same
// kind and type as the present one replaces the contents of its slot, and everything compiled
// earlier that refers to the slot uses the new contents; `version` counts the replacements. One of
// another type gets a new slot and hides the old one, which stays for those who refer to it. Slots
// are never freed while the session lives, so `Definition*` is a stable identity.
//
// Variables of the library (`pi`, `max_int`) have their expression as `body`: the back half
// evaluates it when it first needs the value, or compiles it in place.
//
// Because every lambda has its own type, a new definition whose type mentions a lambda never
// replaces, but hides.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "neslc/front/ast.hpp"
#include "neslc/front/missing_names.hpp"
#include "neslc/front/static_error.hpp"
#include "neslc/front/typed.hpp"
#include "neslc/front/types.hpp"

namespace neslc {

enum class DefinitionKind : std::uint8_t { Function, Constructor, Variable };

/// A slot. Public for reading; only the session writes, except for `payload`.
struct Definition {
  std::string name;
  DefinitionKind kind = DefinitionKind::Function;
  bool library = false;       // of the library: protected against re-definition
  bool open = false;          // of the library, but programs may define the name
  bool serial_only = false;   // reference 3.8: may not be used inside an apply-to-each
  std::uint32_t number = 0;   // unique within the session
  std::uint32_t version = 0;  // counts replacements of the contents
  Scheme scheme;              // a Function or Constructor has a function type
  std::string documentation;
  std::shared_ptr<const ast::Form> form;  // the text of the definition; null for a variable
  Span span;                              // its name in `form->source`
  /// Function: its code; null for a forward declaration and for a primitive.
  /// Variable: the expression that gave the value, null when its pattern has several variables.
  std::shared_ptr<const Body> body;
  const Datatype* datatype = nullptr;  // Constructor
  /// Trailing keyword parameters: names, and expressions (owned by `form`) that are checked anew at
  /// each call.
  struct Default {
    std::string name;
    const ast::Expr* value;
  };
  std::vector<Default> defaults;
  std::size_t positional = 1;  // parameters before the defaults, when there are any

  /// Declared in the library without a body: the back half knows it by its name.
  bool is_primitive() const {
    return library && kind != DefinitionKind::Constructor && body == nullptr;
  }
  /// Declared by the program without a body yet.
  bool is_forward() const {
    return !library && kind == DefinitionKind::Function && body == nullptr;
  }
};

/// The serial-only definition that a call of a function value of this type may reach, or null.
const Definition* serial_function(TypePtr function_type);

/// A form that has passed all checks.
struct CheckedForm {
  enum class Kind : std::uint8_t { Function, Declaration, Datatype, Binding, Expression, Command };
  Kind kind = Kind::Expression;
  std::shared_ptr<const ast::Form> form;

  /// Function, Declaration, Datatype (the constructor): what `commit` puts into the slot.
  /// Binding: one variable for each name of the pattern, from left to right; those of several `_`
  /// have no name, and nobody finds them. Expression: `it`.
  struct Change {
    Definition* slot = nullptr;
    Definition contents;
    bool replaces = false;  // the slot has been in use: same kind and type
    bool hides = false;     // another definition of that name disappears: print a notice
  };
  std::vector<Change> changes;

  /// Binding, Expression, and a Command that has an expression: the value to evaluate, and its type
  /// for the result line. For a Binding
  /// `body->parameter` is its pattern, whose locals stand in the order of `changes`. A
  /// scheme with variables belongs to a function, which has no data of an open type.
  std::shared_ptr<const Body> body;
  Scheme scheme;
  const Datatype* datatype = nullptr;  // Datatype

  /// What the form has between `=` and its end, whatever it is; null if it has nothing.
  std::shared_ptr<const Body> written_body() const {
    return body || changes.empty() ? body : changes.front().contents.body;
  }
};

/// Either the checked form or its error.
struct Checked {
  std::optional<CheckedForm> form;
  std::optional<StaticError> error;
  explicit operator bool() const { return form.has_value(); }
};

class Session {
 public:
  /// A session that knows the library as declared in library_text.hpp.
  Session();
  /// A session whose library is `library`: a NESL text in which functions may be declared without a
  /// body (primitives), operators are defined by their spelling in quotes, internal names contain a
  /// dot (programs cannot write them), and documentation that begins with "Serial only." marks
  /// a serial-only primitive. Everything in it is protected, but for functions whose documentation
  /// begins with "Beyond NESL 3.1." and for all that is in `open_library`, which is more of it:
  /// programs may define these names, and the library goes on with its own ones. Errors in it:
  /// `library_errors`.
  ///
  /// Each form begins at the beginning of a line, with a letter, and no other line does. So forms
  /// are found by name, and are parsed and checked when a name is asked for: most programs use few.
  explicit Session(std::string_view library, std::string_view open_library = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::vector<StaticError>& library_errors();

  /// Resolves names, infers types, checks everything of reference 3 and 8.2.
  Checked check(std::shared_ptr<const ast::Form> form);
  /// Makes the definitions of a checked form visible. Call at once for functions and datatypes, and
  /// after a successful evaluation for bindings and expressions. REQUIRES: no other form has been
  /// committed since the check (but by the session itself, from the library).
  void commit(CheckedForm form);

  /// For messages about names used too early: the forms of a text, before the first is checked.
  void announce(const std::vector<ParsedForm>& forms) { missing_.announce(forms); }
  /// For messages about its names: the value of a form that was checked could not be computed.
  void no_value(const ast::Form& form) { missing_.fail(form); }

  TypeTable& types() { return types_; }
  /// The visible definition of a name (in lower case), or null.
  Definition* find(std::string_view name);
  const Datatype* find_datatype(std::string_view name);
  std::vector<std::string> datatype_names();
  /// The function as it is checked where it is given an argument of that type, with streams: its
  /// text once more, parameters that are given streams being streams. Made once for each number and
  /// order of streams. The error says why it cannot be one.
  struct ForStreams {
    Definition* function = nullptr;  // null: it cannot
    std::optional<StaticError> error{};
  };
  const ForStreams& for_streams(const Definition& function, TypePtr argument);
  /// All visible names in order, library included, internal names left out.
  std::vector<const Definition*> definitions();

 private:
  friend class FormChecker;
  friend class ExpressionChecker;

  void find_forms(std::string_view library, bool open);
  void read_library(std::string_view name);
  void read_library();
  Definition* new_slot(std::string_view name);
  void keep(std::shared_ptr<const Body> body);
  ForStreams checked_for_streams(const Definition& function, TypePtr argument);

  TypeTable types_;
  std::vector<std::unique_ptr<Definition>> slots_;
  std::vector<std::unique_ptr<Datatype>> datatypes_;
  std::map<std::string, Definition*, std::less<>> names_;
  std::map<std::string, const Datatype*, std::less<>> datatype_names_;
  std::vector<std::shared_ptr<const Body>> kept_;  // bodies whose lambdas types may mention
  // What programs have hidden, for the forms of the library that are read later.
  std::map<std::string, Definition*, std::less<>> library_names_;
  std::map<std::string, const Datatype*, std::less<>> library_datatype_names_;
  struct LibraryForms {
    std::vector<std::string> texts;
    bool open = false;
  };
  std::map<std::string, LibraryForms, std::less<>> unread_;
  std::vector<StaticError> library_errors_;
  MissingNames missing_;
  /// By function, its version, and what it is given.
  std::map<std::tuple<const Definition*, std::uint32_t, std::string>, ForStreams> for_streams_;
  /// A function that is being checked once more: names are what they were when it was defined.
  const Body* checked_before_ = nullptr;
  std::uint64_t next_lambda_ = 1;
  bool loading_library_ = false;
  bool loading_open_ = false;  // what is being read may be defined anew
};

}  // namespace neslc
