#include "neslc/front/parser.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "support.hpp"

namespace neslc::testing {
namespace {

std::string show(const ast::ExprPtr& expression);

struct Show {
  std::string operator()(const ast::Name& n) const { return n.name; }
  std::string operator()(const ast::IntLiteral& n) const { return std::to_string(n.value); }
  std::string operator()(const ast::FloatLiteral& n) const { return fmt::format("{}", n.value); }
  std::string operator()(const ast::CharLiteral& n) const {
    return std::string("`") + static_cast<char>(n.value);
  }
  std::string operator()(const ast::StringLiteral& n) const { return '"' + n.text + '"'; }
  std::string operator()(const ast::BoolLiteral& n) const { return n.value ? "T" : "F"; }
  std::string operator()(const ast::Tuple& n) const {
    return fmt::format("({}, {})", show(n.first), show(n.second));
  }
  std::string operator()(const ast::Operation& n) const {
    return n.left ? fmt::format("({}{}{})", show(n.left), n.spelling, show(n.right))
                  : n.spelling + show(n.right);
  }
  std::string operator()(const ast::Call& n) const {
    return show(n.callee) + "<" + show(n.argument) + ">";
  }
  std::string operator()(const ast::Field& n) const { return show(n.record) + "." + n.name; }
  std::string operator()(const ast::Index& n) const {
    return show(n.sequence) + "[" + show(n.position) + "]";
  }
  std::string operator()(const ast::If& n) const {
    return "if " + show(n.condition) + "?" + show(n.then_branch) + ":" + show(n.else_branch);
  }
  static std::string bindings(const std::vector<ast::Binding>& all) {
    std::string text;
    for (const auto& b : all) text += ast::pattern_text(*b.pattern) + "=" + show(b.value) + ";";
    return text;
  }
  std::string operator()(const ast::Let& n) const {
    return "let " + bindings(n.bindings) + show(n.body);
  }
  std::string operator()(const ast::ApplyToEach& n) const {
    return fmt::format("{{{}:{}{}}}", n.body ? show(n.body) : "", bindings(n.generators),
                       n.sieve ? fmt::format("|{}", show(n.sieve)) : "");
  }
  std::string operator()(const ast::SequenceLiteral& n) const {
    std::string text;
    for (const auto& e : n.elements) text += fmt::format("{}{}", text.empty() ? "[" : " ", show(e));
    return text + "]";
  }
  std::string operator()(const ast::EmptySequence&) const { return "[]"; }
  std::string operator()(const ast::Range& n) const {
    return fmt::format("[{}:{}{}]", show(n.first), show(n.last),
                       n.stride ? fmt::format(":{}", show(n.stride)) : "");
  }
  std::string operator()(const ast::Closure& n) const {
    return "closure " + show(n.function) + " " + show(n.value);
  }
  std::string operator()(const ast::Lambda& n) const {
    return fmt::format("({}=>{})", ast::pattern_text(*n.parameter), show(n.body));
  }
  std::string operator()(const ast::KeywordArgument& n) const {
    return n.name + ":=" + show(n.value);
  }
  std::string operator()(const ast::Time& n) const { return "time<" + show(n.body) + ">"; }
};

std::string show(const ast::ExprPtr& expression) {
  return std::visit(Show(), expression->node);
}

// The only form of a text, with all its groupings; or its error.
std::string parsed(const std::string& text) {
  const Parsed result = parse_program(make_source(text));
  REQUIRE(result.forms.size() == 1);
  const ParsedForm& form = result.forms[0];
  if (form.error) return transcript_line(*form.error);
  if (const auto* binding = std::get_if<ast::BindingForm>(&form.form->node)) {
    return ast::pattern_text(*binding->pattern) + " = " + show(binding->value);
  }
  if (const auto* function = std::get_if<ast::FunctionForm>(&form.form->node)) {
    return fmt::format("function {} {}{}{}", function->name, ast::pattern_text(*function->argument),
                       function->type ? " typed" : "",
                       function->body ? fmt::format(" {}", show(function->body)) : "");
  }
  if (const auto* value = std::get_if<ast::ExpressionForm>(&form.form->node)) {
    return show(value->value);
  }
  if (const auto* command = std::get_if<ast::CommandForm>(&form.form->node)) {
    std::string words = "command " + command->name;
    for (const auto& word : command->words) words += " " + word.text;
    return words + (command->expression ? " " + show(command->expression) : "");
  }
  return "datatype " + std::get<ast::DatatypeForm>(form.form->node).name;
}

TEST_CASE("precedence and associativity", "[parser]") {
  CHECK(parsed("a -> b -> c;") == "(a->(b->c))");
  CHECK(parsed("a <- b -> c;") == "(a<-(b->c))");
  CHECK(parsed("a <- b <- c;") == "((a<-b)<-c)");
  CHECK(parsed("a -> [1] ++ [7];") == "((a->[1])++[7])");
  CHECK(parsed("-2 ^ 2;") == "(-2^2)");
  CHECK(parsed("2 ^ 3 ^ 2;") == "((2^3)^2)");
  CHECK(parsed("-a[0] + #g(x);") == "(-a[0]+#g<x>)");
  CHECK(parsed("a - b - c * d;") == "((a-b)-(c*d))");
  CHECK(parsed("a or b and c xor d;") == "((aor(bandc))xord)");
  CHECK(parsed("1 + 2 == 3 and t;") == "(((1+2)==3)andT)");
  CHECK(parsed("x => y => x + y, z;") == "((x=>(y=>(x+y))), z)");
  CHECK(parsed("1, 2, 3;") == "(1, (2, 3))");
}

TEST_CASE("application", "[parser]") {
  CHECK(parsed("not not t;") == "not<not><T>");
  CHECK(parsed("g -1;") == "(g-1)");
  CHECK(parsed("g #x + 1;") == "(g<#x>+1)");
  CHECK(parsed("g \"a\" {x in s};") == "g<\"a\"><{:x=s;}>");
  CHECK(parsed("sum [1];") == "sum[1]");
  CHECK(parsed("g(a, b)(c)[1];") == "g<(a, b)><c>[1]");
  CHECK(parsed("g(x, k := 1, m := 2);") == "g<(x, (k:=1, m:=2))>");
  CHECK(parsed("f();") == "STATIC ERROR: syntax");
  CHECK(parsed("time(a, b);") == "time<(a, b)>");
}

TEST_CASE("forms that take everything to the right", "[parser]") {
  CHECK(parsed("if c then 1 else 2, 3;") == "if c?1:(2, 3)");
  CHECK(parsed("let a = 1 in a, 2;") == "let a=1;(a, 2)");
  CHECK(parsed("let a, b = 1, 2; in a;") == "let (a, b)=(1, 2);a");
  CHECK(parsed("[if c then 1 else 2, 3];") == "[if c?1:(2, 3)]");
  CHECK(parsed("1 + if c then 2 else 3 + 4;") == "(1+if c?2:(3+4))");
}

TEST_CASE("apply-to-each, sequences and ranges", "[parser]") {
  CHECK(parsed("{a, b : a in s; b in u | p};") == "{(a, b):a=s;b=u;|p}");
  CHECK(parsed("{a + 1 : a};") == "{(a+1):a=a;}");
  CHECK(parsed("{a | a > 1};") == "{:a=a;|(a>1)}");
  CHECK(parsed("{* x : point(x, y) in s};") == "((point(x, y)=>x){* }s)");
  CHECK(parsed("{* x in s; y in u | y};") == "pack(((x, y)=>(x, y)){* }(szipu))");
  CHECK(parsed("[1:2:3];") == "[1:2:3]");
  CHECK(parsed("[] cell(int, [char]) ++ [] (a, b);") == "([]++[])");
  CHECK(parsed("[(1, 2), g(3)];") == "[(1, 2) g<3>]");
}

TEST_CASE("top-level forms", "[parser]") {
  CHECK(parsed("function f x = x;") == "function f x x");
  CHECK(parsed("function f(x, k := 1) : (int, int) -> int \"doc\" = x $") ==
        "function f (x, k) typed x");
  CHECK(parsed("function f(x) : a -> a :: a in any; b in number;") == "function f x typed");
  CHECK(parsed("function f(x) : int, int -> int = x;") == "STATIC ERROR: syntax");
  CHECK(parsed("function f(x);") == "STATIC ERROR: syntax");
  CHECK(parsed("function pair(x) = x;") == "STATIC ERROR: syntax");
  CHECK(parsed("datatype p(a) :: (a in any);") == "datatype p");
  CHECK(parsed("datatype p(x: a, y: [int]) :: (a in any);") == "datatype p");
  CHECK(parsed("#a.b[0].c;") == parsed("#(((a.b)[0]).c);"));
  CHECK(parsed("((p, q), r) = x;") == "((p, q), r) = x");
  CHECK(parsed("a = 1") == "a = 1");
  CHECK(parsed("load \"x\", print := t;") == "command load \"x\"");
  CHECK(parsed("dump vcode \"f\" 1 + 2;") == "command dump vcode f (1+2)");
  CHECK(parsed("set arg_check off;") == "command set arg_check off");
  CHECK(parsed("get(a, i);") == "STATIC ERROR: syntax");
  CHECK(parsed("(get(a, i));") == "get<(a, i)>");
  CHECK(parsed("?;") == "command help");
}

// One letter for each form: e an error, f a form.
std::string outline(const std::string& text) {
  std::string result;
  for (const ParsedForm& form : parse_program(make_source(text)).forms) {
    result += form.error ? 'e' : 'f';
  }
  return result;
}

TEST_CASE("an error spoils only its own form", "[parser]") {
  CHECK(outline("1 +; 2; (3; 4;") == "efef");
  CHECK(outline("let a 1; b = 2; c = 3 in a; 4;") == "ef");
  CHECK(outline("{x : x [1]; y in s}; 4;") == "ef");
  CHECK(outline("{x : x in s; 4; 5;") == "ef");
  CHECK(outline("let a = 1; 4; 5;") == "ef");
  CHECK(outline("1 + $ 2 $") == "ef");
  CHECK(outline("x = 3 function f(x) = x; 4;") == "eff");
  CHECK(outline("let a = ; function f(x) = x;") == "ef");
  CHECK(outline(";;$") == "");
  CHECK(outline("1; % open") == "fe");
  CHECK(outline("") == "");
}

TEST_CASE("the prompt asks for more when a form is not complete", "[parser]") {
  const auto incomplete = [](const char* text) {
    return parse_program(make_source(text), {.interactive = true}).incomplete;
  };
  CHECK(incomplete("1 + "));
  CHECK(incomplete("1; let a = 1"));
  CHECK(incomplete("1"));
  CHECK(incomplete("\"abc"));
  CHECK(incomplete("1; % abc"));
  CHECK_FALSE(incomplete("1;"));
  CHECK_FALSE(incomplete("1 + ;"));
  CHECK_FALSE(incomplete(""));
}

TEST_CASE("deep nesting is an error, not a crash", "[parser]") {
  const auto repeated = [](int count, const std::string& what) {
    std::string text;
    for (int i = 0; i < count; ++i) text += what;
    return text;
  };
  for (const char* part : {"(", "[", "{", "-", "f(", "if ", "let a = ", "x => ", "1 -> ", "1, ",
                           "f ", "[] (", "a = "}) {
    INFO(part);
    CHECK(outline(repeated(100'000, part) + "1; 2;").ends_with("ef"));
  }
  // A chain of operators is not deep.
  CHECK(outline(repeated(100'000, "1 + ") + "1; 2;") == "ff");
  CHECK(outline("function f(x) : " + repeated(50'000, "int -> ") + "int;") == "e");
  CHECK(outline(repeated(200, "(") + "1" + repeated(200, ")") + ";") == "f");
}

}  // namespace
}  // namespace neslc::testing
