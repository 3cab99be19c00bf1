// Any program is checked without a crash, and what passes has complete types.
#include "neslc/front/parser.hpp"
#include "neslc/front/session.hpp"
#include "support.hpp"

using namespace neslc;
using vcode::fuzzing::check;

namespace {

// A part of the library: a session of its own for each input has to be quick.
constexpr std::string_view kLibrary = R"(
function "+"(a, b) : (a, a) -> a :: (a in number);
function "or"(a, b) : (a, a) -> a :: (a in logical);
function "<"(a, b) : (a, a) -> bool :: (a in ordinal);
function negate(v) : a -> a :: (a in number);
function length(v) : [a] -> int :: (a in any);
function string(v) : a -> [char] :: (a in any);
function elt(a, i) : ([a], int) -> a :: (a in any);
function iseq(s, d, e) : (int, int, int) -> [int];
function read(v, i) : ([a], [int]) -> [a] :: (a in any);
function append(a, b) : ([a], [a]) -> [a] :: (a in any);
function map(g, s) : (c -> b, [c]) -> [b] :: (b in any; c in any);
function rand_seed(v) : int -> bool "Serial only.";
function "time"(e) : a -> (a, float) :: (a in any) "Serial only.";
datatype stream(int);
pi = 3.14;
)";

void check_complete(const Body& body) {
  check(!body.expression->type->has_variables, "no inference variables are left");
  for (const auto& local : body.locals) {
    check(!local->type->has_variables, "no inference variables are left in locals");
  }
  for (const auto& lambda : body.lambdas) check(lambda->body != nullptr, "lambdas have bodies");
  for (const auto& reference : body.references) {
    check(reference.definition != nullptr, "references are resolved");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = vcode::fuzzing::make_source(data, size);
  Session session(kLibrary);
  check(session.library_errors().empty(), "the library is sound");
  for (ParsedForm& parsed : parse_program(source).forms) {
    if (!parsed.form) continue;
    Checked checked = session.check(parsed.form);
    check(checked.form.has_value() != checked.error.has_value(), "a form or an error");
    if (checked.error) {
      vcode::render(checked.error->diagnostic, checked.error->source.get(), {});
      continue;
    }
    if (checked.form->body) {
      check_complete(*checked.form->body);
      scheme_text(checked.form->scheme);
    }
    for (const CheckedForm::Change& change : checked.form->changes) {
      scheme_text(change.contents.scheme);
      if (change.contents.body) check_complete(*change.contents.body);
    }
    session.commit(std::move(*checked.form));
  }
  return 0;
}
