// Symbolic sizes and what is known of them.
#include <catch2/catch.hpp>

#include "fcode-opt/shapes/analysis.hpp"
#include "fcode-opt/shapes/unify.hpp"
#include "fcode-opt/support.hpp"

namespace fcode::testing {
namespace {

TEST_CASE("equations are solved, and forgotten at the end of a scope") {
  Equations equations;
  const Linear a = equations.unknown(), b = equations.unknown(), c = equations.unknown();
  CHECK_FALSE(equations.equal(a, b));
  const Equations::Mark mark = equations.mark();
  CHECK(equations.unite(c, a + b));
  CHECK(equations.unite(b, Linear::number(3)));
  CHECK(equations.equal(c, a + Linear::number(3)));
  CHECK(equations.difference(c, a) == 3);
  CHECK_FALSE(equations.unite(c, a));
  const Equations::Learned learned = equations.leave(mark);
  CHECK_FALSE(equations.equal(c, a + b));
  equations.replay(learned);
  CHECK(equations.difference(c, a) == 3);
}

TEST_CASE("products of unknowns are equal when their factors are") {
  Equations equations;
  const Linear a = equations.unknown(), b = equations.unknown();
  CHECK(equations.equal(equations.product(a, b), equations.product(b, a)));
  CHECK(equations.equal(equations.product(a, Linear::number(2)), a + a));
}

/// Whether the second parameter is known to be so much longer than the first one describes in every
/// region of a function.
class Longer : public ShapeVisitor {
 public:
  Longer(const Function& function, std::int64_t by) : function_(function), by_(by) {}
  void region(Shapes& shapes, Block&, std::size_t, std::size_t&) override {
    ++regions;
    const ValueId segdes = function_.parameters[0], data = function_.parameters[1];
    all &= shapes.equations.difference(shapes.of(data).length, shapes.of(segdes).sum) == by_;
  }
  int regions = 0;
  bool all = true;

 private:
  const Function& function_;
  std::int64_t by_;
};

bool argument_is_longer(const std::string& main, std::int64_t by) {
  Module module = module_of(main +
                            " FUNC REC COPY 1 0 LENGTH INT CONST INT 100 > INT "
                            "IF COPY 2 0 CALL REC POP 2 0 ELSE ENDIF RET");
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].name != "REC") continue;
    if (module.functions[i].opaque || module.functions[i].parameters.size() != 2) return false;
    KnownWalks walks;
    ShapeAnalysis analysis(module, ShapeAnalysis::Trust::Never, walks);
    Longer visitor(module.functions[i], by);
    analysis.walk(i, visitor);
    return visitor.regions > 0 && visitor.all;
  }
  return false;
}

TEST_CASE("conditions on lengths that are known to be equal disappear") {
  const std::string text =
      after(alone<unify_shapes>,
            "FUNC MAIN CONST INT 9 RAND MAKE_SEGDES CONST INT 1 COPY 1 1 DIST INT "
            "COPY 1 0 LENGTH INT COPY 1 2 LENGTHS != INT "
            "IF CONST CHAR \"no\" WRITE CHAR EXIT ELSE ENDIF RET");
  CHECK(text.find("CONST BOOL F IF") != std::string::npos);
}

TEST_CASE("a check of the lengths of segments makes descriptors equal behind it") {
  // A descriptor of two segments of any lengths, and one of two of equal lengths.
  const std::string descriptors =
      "FUNC MAIN CONST INT 2 MAKE_SEGDES CONST INT 9 COPY 1 1 DIST INT RAND MAKE_SEGDES "
      "CONST INT 7 COPY 1 2 DIST INT MAKE_SEGDES COPY 1 1 LENGTHS COPY 1 1 LENGTHS != INT "
      "COPY 1 3 OR_REDUCE BOOL ";
  const auto decisions = [&](const std::string& text) {
    Module module = module_of(descriptors + text);
    class Decisions : public ShapeVisitor {
     public:
      void decided(Shapes&, Statement&, bool) override { ++count; }
      int count = 0;
    } visitor;
    KnownWalks walks;
    ShapeAnalysis(module, ShapeAnalysis::Trust::Never, walks).walk(module.entry, visitor);
    return visitor.count;
  };
  const std::string differ =
      "COPY 1 1 LENGTHS COPY 1 1 LENGTHS != INT COPY 1 3 OR_REDUCE BOOL "
      "IF CONST INT 1 ELSE CONST INT 2 ENDIF POP 1 0 ";
  CHECK(decisions("IF EXIT ELSE ENDIF " + differ + "RET") == 1);
  CHECK(decisions("IF ELSE " + differ + "ENDIF RET") == 1);
  CHECK(decisions("IF " + differ + "ELSE ENDIF RET") == 0);
  // A vector that may be longer is not equal because its first elements are.
  CHECK(decisions("POP 1 0 COPY 1 1 LENGTHS CONST INT 7 CONST INT 9 RAND MAKE_SEGDES DIST INT "
                  "!= INT COPY 1 3 OR_REDUCE BOOL IF EXIT ELSE ENDIF " +
                  differ + "RET") == 0);
  // Behind a conditional, one arm of which has made no difference.
  CHECK(decisions("IF ELSE ENDIF " + differ + "RET") == 0);
}

TEST_CASE("what one arm of a conditional shows does not hold in the other") {
  const std::string check =
      "FUNC MAIN CONST INT 9 RAND MAKE_SEGDES CONST INT 9 RAND MAKE_SEGDES "
      "COPY 1 1 LENGTHS COPY 1 1 LENGTHS = INT IF COPY 1 1 LENGTHS COPY 1 1 LENGTHS = INT "
      "ELSE COPY 1 1 LENGTHS COPY 1 1 LENGTHS = INT ENDIF IF CONST INT 1 ELSE CONST INT 2 ENDIF "
      "RET";
  Module module = module_of(check);
  class Decisions : public ShapeVisitor {
   public:
    void decided(Shapes&, Statement&, bool) override { ++count; }
    int count = 0;
  } visitor;
  KnownWalks walks;
  ShapeAnalysis(module, ShapeAnalysis::Trust::Never, walks).walk(module.entry, visitor);
  CHECK(visitor.count == 0);
}

TEST_CASE("longer operands prove nothing") {
  // The result has the length of the deepest operand, which may be shorter than the other one.
  Module module = module_of(
      "FUNC MAIN CONST INT 3 RAND MAKE_SEGDES CONST INT 4 RAND MAKE_SEGDES "
      "CONST INT 1 CPOP 1 2 DIST INT CONST INT 1 CPOP 1 2 DIST INT "
      "COPY 2 0 + INT RET");
  class Lengths : public ShapeVisitor {
   public:
    void region(Shapes& shapes, Block& block, std::size_t, std::size_t& end) override {
      const Statement& add = block.statements[end - 1];
      REQUIRE(add.op == Op::Add);
      as_first = shapes.same_length(add.results[0], add.operands[0]);
      as_second = shapes.same_length(add.results[0], add.operands[1]);
    }
    bool as_first = false, as_second = true;
  } visitor;
  KnownWalks walks;
  ShapeAnalysis(module, ShapeAnalysis::Trust::Always, walks).walk(module.entry, visitor);
  CHECK(visitor.as_first);
  CHECK_FALSE(visitor.as_second);
}

TEST_CASE("a descriptor that has been replaced everywhere is no change any more") {
  // The second PACK stays for its elements, and with it its descriptor.
  Module module = module_of(
      "FUNC MAIN CONST INT 9 RAND MAKE_SEGDES CONST INT 1 COPY 1 1 DIST INT COPY 1 0 COPY 1 0 > "
      "INT "
      "COPY 1 1 COPY 1 1 COPY 1 4 PACK INT COPY 1 3 COPY 1 3 COPY 1 6 PACK INT RET");
  CHECK(alone<unify_shapes>(module));
  CHECK_FALSE(alone<unify_shapes>(module));
}

TEST_CASE("what all callers guarantee is known in a recursive function") {
  CHECK(
      argument_is_longer("FUNC MAIN CONST INT 9 RAND MAKE_SEGDES CONST INT 1 COPY 1 1 "
                         "DIST INT CALL REC RET",
                         0));
}

TEST_CASE("so is by how many elements an argument is longer than another one") {
  const std::string longer =
      " COPY 1 0 MAKE_SEGDES CPOP 1 1 CONST INT 3 + INT MAKE_SEGDES CONST INT 1 CPOP 1 1 DIST INT "
      "CALL REC";
  const std::string drawn = " CONST INT 9 RAND" + longer;
  CHECK(argument_is_longer("FUNC MAIN" + drawn + " RET", 3));
  // Whoever else calls it: with a length that is known, or with other ones.
  CHECK(argument_is_longer("FUNC MAIN" + drawn + " CONST INT 5" + longer + " RET", 3));
  CHECK(argument_is_longer("FUNC MAIN CONST INT 4" + longer + drawn + " RET", 3));
  CHECK(argument_is_longer("FUNC MAIN CONST INT 4" + longer + " CONST INT 5" + longer + " RET", 3));
  const std::string by_one =
      " CONST INT 4 MAKE_SEGDES CONST INT 1 CONST INT 5 MAKE_SEGDES "
      "DIST INT CALL REC";
  CHECK_FALSE(argument_is_longer("FUNC MAIN" + drawn + by_one + " RET", 3));
  CHECK_FALSE(argument_is_longer("FUNC MAIN" + by_one + drawn + " RET", 1));
}

TEST_CASE("what is left of whole segments is as long as the lengths that are left") {
  const std::string drawn =
      "FUNC MAIN CONST INT (9 9) RAND MAKE_SEGDES CONST INT (9 9) RAND I_TO_B ";
  const std::string lengths =
      "COPY 1 1 LENGTHS COPY 1 1 CONST SEGDES 2 PACK INT POP 1 0 MAKE_SEGDES ";
  const std::string data = "CONST INT (1 2) COPY 1 3 DIST INT ";
  const std::string pack = "COPY 1 0 LENGTH BOOL MAKE_SEGDES PACK INT POP 1 0 CALL REC RET";
  CHECK(argument_is_longer(drawn + lengths + data + "COPY 1 2 COPY 1 4 DIST BOOL " + pack, 0));
  // By the opposite flags.
  CHECK_FALSE(argument_is_longer(
      drawn + lengths + data + "COPY 1 2 NOT BOOL COPY 1 4 DIST BOOL " + pack, 0));
}

TEST_CASE("what an arm knows of packed lengths is forgotten behind it") {
  // The stack: a descriptor of two, a number, segments of that length, flags, these for all
  // elements.
  const std::string code =
      "FUNC MAIN CONST SEGDES 2 CONST INT 9 RAND COPY 1 0 COPY 1 2 DIST INT MAKE_SEGDES "
      "CONST INT (9 9) RAND I_TO_B COPY 1 0 COPY 1 2 DIST BOOL "
      "COPY 1 3 CONST INT 3 = INT IF COPY 1 2 LENGTHS COPY 1 2 COPY 1 6 PACK INT POP 2 0 ELSE "
      "ENDIF CONST INT (1 2) COPY 1 3 DIST INT COPY 1 1 COPY 1 0 LENGTH BOOL MAKE_SEGDES PACK INT "
      "POP 1 0 COPY 1 3 LENGTHS COPY 1 3 COPY 1 7 PACK INT POP 1 0 ";
  CHECK(argument_is_longer(code + "MAKE_SEGDES CPOP 1 1 CALL REC RET", 0));
  // Three for each segment that is left.
  CHECK_FALSE(argument_is_longer(code + "LENGTH INT MAKE_SEGDES CONST INT 3 CPOP 1 1 DIST INT "
                                        "MAKE_SEGDES CPOP 1 1 CALL REC RET",
                                 0));
}

TEST_CASE("walks that are known already change nothing") {
  for (const std::filesystem::path& path : programs_and_examples()) {
    CAPTURE(path.string());
    Module module = module_of(read_file(path)), afresh = module_of(read_file(path));
    KnownWalks walks;
    for (const auto pass : {unify_shapes, recognize_idioms, unify_shapes, simplify_algebra,
                            copy_packed_runs, fetch_from_copied, select_elements, unify_shapes}) {
      KnownWalks none;
      CHECK(pass(module, walks) == pass(afresh, none));
      merge_common(module);
      merge_common(afresh);
      CHECK(print(module) == print(afresh));
    }
  }
}

TEST_CASE("one caller without the guarantee takes it from all") {
  CHECK_FALSE(argument_is_longer(
      "FUNC MAIN CONST INT 9 RAND MAKE_SEGDES CONST INT 1 COPY 1 1 DIST INT CALL REC "
      "CONST INT 9 RAND MAKE_SEGDES CONST INT ( 1 2 ) CALL REC RET",
      0));
}

}  // namespace
}  // namespace fcode::testing
