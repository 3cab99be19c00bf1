// Seals of kernel definitions: what is read later, and what is read at once.
#include <algorithm>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "forged_seal.hpp"
#include "support.hpp"
#include "vcode/printer.hpp"

namespace vcode::testing {
namespace {

const std::string kTwice =
    "FCODE 2\n"
    "NEEDS SCATTER\n"
    "KERNEL twice\n"
    "IN a : VEC INT n, k : VEC INT 1\n"
    "OUT y : VEC INT n, z : VEC INT m\n"
    "DO SIZE m = (* INT 3 k[0])\n"
    "  y = MAP n ( i => (+ INT a[i] a[i]) )\n"
    "  z = SCATTER n ( i => a[i] ) ( i => i ) INTO m\n"
    "SPEC CPOP 1 1 COPY 1 0 + INT CPOP 1 1\n"
    "END\n"
    "FUNC MAIN CONST INT (1 2) CONST INT 4 RUN twice RET\n";

std::string sealed(const std::string& text) {
  const Outcome outcome = parse_text(text);
  INFO(outcome.messages());
  REQUIRE(outcome.program);
  return print_sealed(*outcome.program);
}

Outcome parse_later(const std::string& text) {
  Outcome outcome;
  outcome.source = std::make_shared<Source>("p.fcode", text);
  outcome.program = parse(outcome.source, outcome.diagnostics, true);
  return outcome;
}

std::string replaced(std::string text, std::string_view part, std::string_view by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

TEST_CASE("sealed programs read back, at once and later", "[kernel]") {
  int unread = 0;
  std::vector<std::string> programs = {kTwice};
  for (const auto& path : fcode_programs()) programs.push_back(read_file(path));
  for (const std::string& program : programs) {
    const Outcome whole = parse_text(program);
    REQUIRE(whole.program);
    const std::string text = print_sealed(*whole.program);
    INFO(text);
    const Outcome at_once = parse_text(text);
    REQUIRE(at_once.program);
    CHECK(same_program(*whole.program, *at_once.program));
    CHECK(print_sealed(*at_once.program) == text);

    const Outcome later = parse_later(text);
    INFO(later.messages());
    REQUIRE(later.program);
    REQUIRE(later.program->kernels.size() == whole.program->kernels.size());
    for (std::size_t k = 0; k < whole.program->kernels.size(); ++k) {
      const Kernel& expected = at_once.program->kernels[k];
      const Kernel& kernel = later.program->kernels[k];
      CHECK(kernel.unread.has_value() == expected.has_spec);
      CHECK(kernel.spec.size() == expected.spec.size());
      if (!kernel.unread) continue;
      CHECK(kernel.bindings.empty());
      Diagnostics diagnostics;
      const auto read = read_kernel(*later.source, *later.program->fcode, kernel, diagnostics);
      REQUIRE(read);
      CHECK(same_kernel(*read, expected));
      CHECK(read->name_span == expected.name_span);
      CHECK(read->bindings.front().span == expected.bindings.front().span);
      ++unread;
    }
  }
  CHECK(unread >= 5);
}

TEST_CASE("only kernels that break no rule are sealed", "[kernel]") {
  Program program = *parse_text(kTwice).program;
  CHECK(print_sealed(program).find("SEAL") != std::string::npos);
  program.fcode->needs = 0;  // but one of its kernels scatters
  CHECK(print_sealed(program) == print(program));
  program = *parse_text(kTwice).program;
  program.kernels[0].bindings[0].elements.nodes.back().type = Type::Float;
  CHECK(print_sealed(program) == print(program));
}

TEST_CASE("the places behind an unread kernel are right", "[kernel]") {
  const std::string text = sealed(kTwice);
  const Outcome later = parse_later(text + "FUNC f NONSENSE RET\n");
  REQUIRE(later.diagnostics.all().size() == 1);
  const auto lines = static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
  CHECK(later.diagnostics.all()[0].span == Span{lines + 1, 8, 8});
}

TEST_CASE("how far a kernel reaches is told by its head", "[kernel]") {
  const std::string text = sealed(kTwice);
  CHECK(text.find("\nREACH 0 3 1 MAX k\nSEAL ") != std::string::npos);
  const Outcome whole = parse_text(text);
  const Outcome later = parse_later(text);
  REQUIRE((whole.program && later.program));
  CHECK(later.program->kernels[0].unread->reach == reach_of(whole.program->kernels[0]));
  CHECK(sealed("FCODE 2 KERNEL k IN a : VEC INT n OUT y : VEC INT n DO y = MAP n ( i => a[i] ) "
               "SPEC END FUNC MAIN RET")
            .find("REACH") == std::string::npos);
}

TEST_CASE("the power of a reach is that of its longest space", "[kernel]") {
  const auto reach = [](const std::string& bindings) {
    const std::string text =
        "FCODE 2 KERNEL k IN a : VEC INT n, b : VEC INT n, d : SEG n m, c : VEC INT m, s : VEC INT "
        "1 OUT DO " +
        bindings + " END FUNC MAIN RET";
    const Outcome outcome = parse_text(text);
    INFO(text << outcome.messages());
    REQUIRE(outcome.program);
    return reach_of(outcome.program->kernels[0]);
  };
  using Measured = std::vector<KernelReach::Measured>;
  const auto expect = [&](const std::string& bindings, std::int64_t growth, std::int64_t power,
                          const Measured& measured) {
    CAPTURE(bindings);
    CHECK(reach(bindings) == KernelReach{0, growth, power, measured});
  };
  const std::string over = " x = MAP t ( i => i ) ";
  expect("x = MAP n ( i => (* INT a[i] b[i]) )", 1, 1, {});
  expect("SIZE t = (+ INT n m)" + over, 1, 1, {});
  expect("SIZE t = (* INT n m)" + over, 1, 2, {});
  expect("SIZE t = (* INT n (* INT n m))" + over, 1, 3, {});
  expect("SIZE t = s[0]" + over, 1, 1, {{4, false}});
  expect("SIZE t = (* INT s[0] n)" + over, 1, 2, {{4, false}});
  expect("SIZE q = s[0] SIZE t = (* INT q q)" + over, 1, 2, {{4, false}});
  const std::string segments = " x = MAP e ( i => i ) ";
  expect("e = SEGMENTS n ( j => a[j] )" + segments, 1, 1, {{0, true}});
  expect("e = SEGMENTS n ( j => (SEGLEN d j) )" + segments, 1, 1, {});
  expect("e = SEGMENTS n ( j => (SEGLEN d 0) )" + segments, 1, 2, {});
  expect("e = SEGMENTS n ( j => s[0] )" + segments, 1, 2, {{4, true}});
  expect("e = SEGMENTS n ( j => n )" + segments, 1, 2, {});
  expect("e = SEGMENTS n ( j => 9 )" + segments, 9, 1, {});
  const std::string sums = " e = SEGMENTS n ( j => r[j] )" + segments;
  expect("r = REDUCE d ( i => c[i] ) + INT" + sums, 1, 1, {{3, true}});
  expect("r = REDUCE d ( i => (* INT 7 c[i]) ) + INT" + sums, 7, 1, {{3, true}});
  expect("r = REDUCE d ( i => (* INT c[i] c[i]) ) + INT" + sums, 1, 2, {{3, true}});
  expect("r = REDUCE d ( i => (* INT c[i] m) ) + INT" + sums, 1, 2, {{3, true}});
  expect("r = REDUCE d ( i => a[(SEGNO d i)] ) + INT" + sums, 1, 2, {{0, true}});
  expect("r = REDUCE d ( i => c[i] ) * INT" + sums, KernelReach::kUnbounded, 1, {{3, true}});
}

TEST_CASE("what was edited is read at once", "[kernel]") {
  const std::string text = sealed(kTwice);
  REQUIRE(parse_later(text).program->kernels[0].unread);
  for (const auto& [part, by] : {
           std::pair{"(+ INT a[i]", "(* INT a[i]"},  // a binding
           std::pair{"a[i] a[i]", "a[i]  a[i]"},     // a blank
           std::pair{"KERNEL twice\nIN  a :", "KERNEL twice\nIN  a  :"},
           std::pair{"REACH 0 3", "REACH 0 2"},
           std::pair{"SEAL 1", "SEAL 2"},
           std::pair{"SEAL 1", "SEAL 9223372036854775"},
           std::pair{"SPEC\n", "{ } SPEC\n"},
       }) {
    CAPTURE(part, by);
    const Outcome outcome = parse_later(replaced(text, part, by));
    CAPTURE(outcome.messages());
    REQUIRE(outcome.program);
    CHECK(!outcome.program->kernels[0].unread);
    CHECK(outcome.program->kernels[0].bindings.size() == 3);
  }
  const Outcome wrong = parse_later(replaced(text, "a[i] a[i]", "a[i] b[i]"));
  CHECK(!wrong.program);
  CHECK(wrong.has(ErrorCode::KernelName));
}

TEST_CASE("files that demand sums from left to right are read at once", "[kernel]") {
  const std::string text = replaced(sealed(kTwice), "FP REASSOC", "FP STRICT");
  CHECK(!parse_later(text).program->kernels[0].unread);
}

TEST_CASE("seals and reaches that make no sense", "[kernel]") {
  const std::string text = sealed(kTwice);
  for (const auto& [part, by] : {
           std::pair{"SEAL 1", "SEAL -1"},
           std::pair{"SEAL ", "SEAL ("},
           std::pair{"SEAL ", "SEAL 12 ( "},
           std::pair{"SEAL ", "SEAL 12 XYZ "},
           std::pair{"REACH 0", "REACH n"},
           std::pair{"REACH 0", "REACH -1"},
           std::pair{"REACH 0 3", "REACH 0 99999999999"},
           std::pair{"REACH 0 3 1", "REACH 0 3"},
           std::pair{"MAX k", "MAX y"},
           std::pair{"MAX k", "MAX n"},
           std::pair{"MAX k", "MAX 1"},
       }) {
    CAPTURE(part, by);
    for (const bool later : {false, true}) {
      const std::string edited = replaced(text, part, by);
      const Outcome outcome = later ? parse_later(edited) : parse_text(edited);
      CHECK(!outcome.program);
      CHECK(outcome.diagnostics.error_count() >= 1);
    }
  }
}

TEST_CASE("a seal on bindings that break a rule is found out when they are read", "[kernel]") {
  const std::string text = sealed(kTwice);
  const std::string edited = forged(text, "a[i] a[i]", "a[i] 1.0");
  const Outcome outcome = parse_later(edited);
  REQUIRE(outcome.program);
  REQUIRE(outcome.program->kernels[0].unread);
  Diagnostics diagnostics;
  CHECK(!read_kernel(*outcome.source, *outcome.program->fcode, outcome.program->kernels[0],
                     diagnostics));
  REQUIRE(diagnostics.all().size() == 1);
  CHECK(diagnostics.all()[0].code == ErrorCode::KernelType);
  CHECK(
      diagnostics.all()[0].span.line ==
      1 + std::count(edited.begin(), edited.begin() + static_cast<long>(edited.find("1.0")), '\n'));
}

}  // namespace
}  // namespace vcode::testing
