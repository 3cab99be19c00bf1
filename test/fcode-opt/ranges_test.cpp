// Between which numbers the elements of vectors are known to be, by the checks that go.
#include "fcode-opt/passes/ranges.hpp"

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/support.hpp"
#include "occurrences.hpp"

namespace fcode::testing {
namespace {

TEST_CASE("positions in a vector are never outside") {
  const auto check = [](const std::string& start, const std::string& low, const std::string& high) {
    return "FUNC P CONST INT 5 RAND COPY 1 0 MAKE_SEGDES CONST INT " + start +
           " CONST INT 1 COPY 1 2 INDEX COPY 1 0 CONST INT " + low +
           " COPY 1 3 DIST INT < INT CPOP 1 1 " + high +
           " COPY 1 3 DIST INT >= INT OR BOOL CPOP 1 1 OR_REDUCE BOOL CPOP 1 1 POP 1 0 RET";
  };
  const auto decided = [](const std::string& text) {
    return after(and_remove_dead<alone<recognize_idioms>>, text).find("OR_REDUCE") ==
           std::string::npos;
  };
  CHECK(decided(check("0", "0", "COPY 1 3")));
  CHECK(decided(check("0", "-3", "COPY 1 3")));
  CHECK_FALSE(decided(check("1", "0", "COPY 1 3")));
  CHECK_FALSE(decided(check("0", "1", "COPY 1 3")));
  CHECK_FALSE(decided(check("0", "0", "COPY 1 3 CONST INT 1 - INT")));
  // The sum may have wrapped around.
  CHECK_FALSE(decided(check("0", "0", "COPY 1 3 CONST INT 2147483647 + INT")));
}

TEST_CASE("what has been a length did not wrap around") {
  // `length` is l; is some i + `added` not below it, for i below l - 1?
  const auto decided = [](const std::string& length, const std::string& made, int added) {
    const std::string text = fmt::format(
        "FUNC P {} {} COPY 1 1 CONST INT 1 - INT MAKE_SEGDES CONST INT 0 CONST INT 1 COPY 1 2 "
        "INDEX "
        "CONST INT {} COPY 1 2 DIST INT + INT COPY 1 3 COPY 1 2 DIST INT >= INT CPOP 1 1 "
        "OR_REDUCE BOOL POP 2 1 RET",
        length, made, added);
    return after(and_remove_dead<alone<recognize_idioms>>, text).find("OR_REDUCE") ==
           std::string::npos;
  };
  const std::string any = "CONST INT 9 RAND I_TO_F TRUNC ", more = any + "CONST INT 2 + INT ";
  const std::string described = "COPY 1 0 MAKE_SEGDES", not_described = "CONST SEGDES 1";
  CHECK(decided(more, described, 1));
  CHECK_FALSE(decided(more, described, 2));
  CHECK_FALSE(decided(more, not_described, 1));
  CHECK_FALSE(decided(more,
                      "COPY 1 0 CONST INT 3 = INT IF CONST SEGDES 1 ELSE COPY 1 0 MAKE_SEGDES "
                      "ENDIF",
                      1));
  CHECK_FALSE(decided(any + "COPY 1 0 + INT", described, 1));
}

TEST_CASE("the greatest position within segments is found by their lengths") {
  // In four segments of n + 3 elements, or of others, whether it is `limit` or more.
  const auto left = [](const std::string& lengths, const std::string& limit) {
    return after(and_remove_dead<alone<recognize_idioms>>,
                 "FUNC P CONST INT 5 RAND CONST INT 3 + INT " + lengths +
                     " MAKE_SEGDES CONST INT 0 CONST SEGDES 4 DIST INT CONST INT 1 CONST SEGDES 4 "
                     "DIST INT COPY 1 2 INDEX COPY 1 0 LENGTH INT MAKE_SEGDES MAX_REDUCE INT " +
                     limit + " >= INT POP 2 1 RET");
  };
  const std::string alike = "COPY 1 0 CONST SEGDES 4 DIST INT", others = "CONST INT (9 9 9 9) RAND";
  const std::string length = "COPY 1 2 MAKE_SEGDES CONST INT 0 CPOP 1 1 DIST INT LENGTH INT";
  CHECK(left(alike, "COPY 1 2").find("REDUCE") == std::string::npos);
  CHECK(left(alike, length).find("REDUCE") == std::string::npos);
  // Not known, and no positions are needed for it.
  for (const std::string& limit : {length, std::string("CONST INT 7")}) {
    const std::string result = left(others, limit);
    INFO(result);
    CHECK(result.find("INDEX") == std::string::npos);
    CHECK(result.find("MAX_REDUCE") != std::string::npos);
    CHECK(result.find("> INT") != std::string::npos);
  }
  // Where there are none, their greatest is less than any limit but the least number.
  CHECK(left(others, "CONST INT -7").find("INDEX") != std::string::npos);
  CHECK(left(others, "COPY 1 2 CONST INT 2147483647 + INT").find("INDEX") != std::string::npos);
  CHECK(left(alike, "COPY 1 2 CONST INT 1 - INT").find("INDEX") != std::string::npos);
}

TEST_CASE("sums of positions and numbers are known to be inside") {
  // Of a vector of n elements: the positions from `start` on of n - `less`, and `added` to them.
  const auto indices = [](const char* start, const char* less, const char* added) {
    return fmt::format(
        "FUNC P CONST INT 5 RAND COPY 1 0 CONST INT {} - INT MAKE_SEGDES CONST INT {} CONST INT 1 "
        "COPY 1 2 INDEX CONST INT {} COPY 1 2 DIST INT + INT ",
        less, start, added);
  };
  const auto checks_left = [](const std::string& text) {
    return ::testing::occurrences(
        after(and_remove_dead<alone<recognize_idioms>>,
              text + "COPY 1 0 COPY 1 2 MIN_REDUCE INT CONST INT 0 < INT CPOP 1 1 CPOP 1 2 "
                     "MAX_REDUCE INT COPY 1 2 >= INT RET"),
        "_REDUCE");
  };
  CHECK(checks_left(indices("0", "0", "0")) == 0);
  CHECK(checks_left(indices("0", "1", "1")) == 0);
  CHECK(checks_left(indices("0", "3", "2")) == 0);
  CHECK(checks_left(indices("1", "1", "0")) == 0);
  CHECK(checks_left(indices("1", "1", "-1")) == 0);
  CHECK(checks_left(indices("0", "0", "1")) == 1);
  CHECK(checks_left(indices("0", "0", "-1")) == 1);
  // These may have wrapped around.
  CHECK(checks_left(indices("0", "0", "2")) == 2);
  CHECK(checks_left(indices("2", "0", "0")) == 2);
  CHECK(checks_left(indices("0", "0", "2147483647")) == 2);

  // An index that is kept inside where it may lie outside.
  const auto bounds_left = [](const std::string& text) {
    const std::string result = after(
        and_remove_dead<alone<recognize_idioms>>,
        text +
            "COPY 1 0 CONST INT 0 COPY 1 3 DIST INT >= INT COPY 1 1 COPY 1 4 COPY 1 4 DIST INT "
            "< INT AND BOOL CPOP 1 1 CONST INT 0 COPY 1 3 DIST INT SELECT INT RET");
    return ::testing::occurrences(result, "SELECT") + ::testing::occurrences(result, "AND BOOL");
  };
  CHECK(bounds_left(indices("0", "1", "1")) == 0);
  CHECK(bounds_left(indices("0", "0", "-1")) == 1);
  CHECK(bounds_left(indices("0", "0", "1")) == 1);
  CHECK(bounds_left(indices("0", "0", "2")) == 2);
}

TEST_CASE("positions between two numbers of their segment are known to be between them") {
  // For each k below n the positions j from `start` up to `end`, in a segment as long as `length`:
  // how many checks are left that `number` is not below 0, and that it is below n. On the stack are
  // n, a descriptor, k, and start and end once they are made; then the segments and j.
  const auto checks_left = [](const std::string& start, const std::string& end,
                              const std::string& number,
                              const std::string& length = "COPY 1 0 COPY 1 2 - INT") {
    const std::string text = fmt::format(
        "FUNC P CONST INT 5 RAND COPY 1 0 MAKE_SEGDES CONST INT 0 CONST INT 1 COPY 1 2 INDEX {} {} "
        "{} MAKE_SEGDES COPY 1 2 CONST INT 1 COPY 1 6 DIST INT COPY 1 2 INDEX {} COPY 1 0 LENGTH "
        "INT MAKE_SEGDES COPY 1 1 COPY 1 1 MIN_REDUCE INT CONST INT 0 < INT COPY 1 2 COPY 1 2 "
        "MAX_REDUCE INT COPY 1 10 >= INT POP 9 2 RET",
        start, end, length, number);
    return ::testing::occurrences(after(and_remove_dead<alone<recognize_idioms>>, text), "_REDUCE");
  };
  const std::string zero = "CONST INT 0 COPY 1 2 DIST INT", k = "COPY 1 0";
  const std::string n = "COPY 1 3 COPY 1 3 DIST INT", any = zero + " RAND I_TO_F TRUNC";
  const auto k_and = [](int more) {
    return fmt::format("COPY 1 1 CONST INT {} COPY 1 4 DIST INT + INT", more);
  };
  const std::string j = "COPY 1 0", k_less_j = "COPY 1 4 COPY 1 2 DIST INT COPY 1 1 - INT";
  const std::string j_less_k = "COPY 1 0 COPY 1 5 COPY 1 3 DIST INT - INT";
  CHECK(checks_left(k, n, j) == 0);
  CHECK(checks_left(k, n, j_less_k) == 0);
  CHECK(checks_left(zero, k_and(1), j) == 0);
  CHECK(checks_left(zero, k_and(1), k_less_j) == 0);
  CHECK(checks_left(zero, k_and(2), j) == 1);
  CHECK(checks_left(zero, k_and(2), k_less_j) == 1);
  CHECK(checks_left(k, n, k_less_j) == 1);
  // Other lengths: n·n elements are counted by an INT, so 2n - 2 is none that has wrapped around.
  CHECK(checks_left(k, n, j, "COPY 1 0") == 1);
  // One that may have wrapped around.
  CHECK(checks_left(any, n, j) == 2);
  // n - k elements are inside when they are shifted by k, and not when k are.
  const std::string j_and_k = "COPY 1 0 COPY 1 5 COPY 1 3 DIST INT + INT";
  CHECK(checks_left(zero, k, j_and_k, "COPY 1 4 COPY 1 4 DIST INT COPY 1 3 - INT") == 0);
  CHECK(checks_left(zero, k, j_and_k, "COPY 1 2") == 2);
}

TEST_CASE("what is never taken still has to fit") {
  // No element is greater than itself; the arm for one may be too short.
  const auto left = [](const std::string& other) {
    return after(and_remove_dead<alone<recognize_idioms>>,
                 "FUNC P CONST INT 5 RAND MAKE_SEGDES CONST INT 9 COPY 1 1 DIST INT RAND " + other +
                     "COPY 1 1 COPY 1 0 > INT COPY 1 1 COPY 1 3 SELECT INT POP 3 1 RET");
  };
  CHECK(left("COPY 1 0 ").find("SELECT") == std::string::npos);
  const std::string shorter = "CONST INT 5 RAND MAKE_SEGDES CONST INT 9 CPOP 1 1 DIST INT RAND ";
  CHECK(left(shorter).find("SELECT") != std::string::npos);
}

TEST_CASE("what a guard excludes need not be checked") {
  // Of positions i in a vector of n elements, or of any numbers, whether some lies where it must
  // not while the guard holds.
  const auto decided = [](const std::string& numbers, const std::string& guard,
                          const std::string& bad) {
    const std::string result =
        after(and_remove_dead<alone<recognize_idioms>>,
              "FUNC P CONST INT 5 RAND COPY 1 0 MAKE_SEGDES " + numbers + guard + bad +
                  "AND BOOL COPY 1 2 OR_REDUCE BOOL CPOP 1 1 POP 1 0 RET");
    return result.find("OR_REDUCE") == std::string::npos;
  };
  const std::string positions = "CONST INT 0 CONST INT 1 COPY 1 2 INDEX ";
  const std::string any = "CONST INT 9 COPY 1 1 DIST INT RAND I_TO_F TRUNC ";
  // Compares the numbers, `depth` values below the top, after something is added.
  const auto compare = [](int depth, int added, const std::string& bound, const std::string& op) {
    const std::string add = fmt::format("CONST INT {} COPY 1 {} DIST INT + INT ", added, depth + 3);
    return fmt::format("COPY 1 {} {}{} COPY 1 {} DIST INT {} INT ", depth, added == 0 ? "" : add,
                       bound, depth + 3, op);
  };
  const auto guard = [&](int added, const std::string& bound, const std::string& op) {
    return compare(0, added, "CONST INT " + bound, op);
  };
  const auto below = [&](int added) { return compare(1, added, "CONST INT 0", "<"); };
  const auto above = [&](int added) { return compare(1, added, "COPY 1 4", ">="); };
  const auto left = [&](const std::string& op, int less) {  // n - less
    return compare(0, 0, fmt::format("COPY 1 3 CONST INT {} - INT", less), op);
  };
  const std::string negated = "NOT BOOL ";

  CHECK(decided(positions, guard(0, "0", "=") + negated, below(-1)));
  CHECK(decided(positions, guard(0, "0", "!="), below(-1)));
  CHECK(decided(positions, guard(0, "0", ">"), below(-1)));
  CHECK(decided(positions, guard(0, "3", ">="), below(-3)));
  CHECK_FALSE(decided(positions, guard(0, "0", "="), below(-1)));
  CHECK_FALSE(decided(positions, guard(0, "1", "!="), below(-1)));
  CHECK_FALSE(decided(positions, guard(0, "0", "!="), below(-2)));
  CHECK_FALSE(decided(positions, guard(0, "0", ">="), below(-1)));
  CHECK_FALSE(decided(positions, guard(0, "0", ">") + negated, below(-1)));

  CHECK(decided(positions, left("!=", 1), above(1)));
  CHECK(decided(positions, left("=", 1) + negated, above(1)));
  CHECK(decided(positions, left("<", 1), above(1)));
  CHECK_FALSE(decided(positions, left("!=", 2), above(1)));
  CHECK_FALSE(decided(positions, left("<=", 1), above(1)));
  CHECK_FALSE(decided(positions, left("!=", 1), above(2)));

  // The other way round, and with a guard of two parts.
  CHECK(decided(positions, guard(-1, "0", "<"), compare(1, 0, "CONST INT 0", "!=")));
  const auto both = [&](const std::string& first, const std::string& op) {
    return guard(0, "0", "!=") + compare(1, 0, "COPY 1 4 CONST INT 1 - INT", first) + op;
  };
  CHECK(decided(positions, both("!=", "AND BOOL "), above(1)));
  CHECK(decided(positions, both("!=", "AND BOOL "), below(-1)));
  CHECK_FALSE(decided(positions, both("!=", "OR BOOL "), below(-1)));

  // Numbers of which nothing else is known.
  CHECK(decided(any, guard(0, "0", ">="), below(0)));
  CHECK(decided(any, left("<", 0), above(0)));
  CHECK(decided(any, left("<", 3), above(3)));  // n is a length: n - 3 does not wrap around
  CHECK_FALSE(decided(any, guard(0, "-1", ">="), below(0)));
  CHECK_FALSE(decided(any, left("<=", 0), above(0)));
}

TEST_CASE("flags that a guard excludes are never T") {
  // Of FLOATs, which nothing is known of: those below 0 that are not, as compiled from
  // `if x < 0 then 0 else sqrt(x)`.
  const std::string floats =
      "FUNC P CONST INT 5 RAND COPY 1 0 MAKE_SEGDES CONST INT 9 COPY 1 1 DIST INT RAND I_TO_F "
      "COPY 1 0 CONST FLOAT 0.0 COPY 1 3 DIST FLOAT < FLOAT ";
  const auto decided = [&](const std::string& both) {
    const std::string result =
        after(and_remove_dead<alone<recognize_idioms>>,
              floats + both + "COPY 1 2 OR_REDUCE BOOL CPOP 1 1 POP 1 0 RET");
    return result.find("OR_REDUCE") == std::string::npos;
  };
  const std::string above_1 = "COPY 1 1 CONST FLOAT 1.0 COPY 1 4 DIST FLOAT > FLOAT ";
  CHECK(decided("COPY 1 0 NOT BOOL AND BOOL "));
  CHECK(decided(above_1 + "COPY 1 1 NOT BOOL AND BOOL AND BOOL "));
  CHECK_FALSE(decided(above_1 + "AND BOOL "));
  CHECK_FALSE(decided(above_1 + "COPY 1 1 NOT BOOL OR BOOL AND BOOL "));
}

TEST_CASE("that one vector has elements does not tell that another has") {
  // Is one of the first m positions below 0, or one of the first n not below n + m - 1? That is a
  // length less 1, and so the sum is exact.
  const auto checks_left = [](const std::string& m) {
    const auto positions = [](int depth) {
      return fmt::format("COPY 1 {} MAKE_SEGDES CONST INT 0 CONST INT 1 COPY 1 2 INDEX CPOP 1 1 ",
                         depth);
    };
    const std::string text =
        "FUNC P CONST INT 99 RAND " + m + "COPY 1 1 COPY 1 1 + INT COPY 1 0 MAKE_SEGDES " +
        positions(2) + "MIN_REDUCE INT CONST INT 0 < INT " + positions(4) +
        "MAX_REDUCE INT COPY 1 3 CONST INT 1 - INT >= INT OR BOOL CPOP 1 1 CPOP 2 2 POP 2 0 RET";
    return ::testing::occurrences(after(and_remove_dead<alone<recognize_idioms>>, text), "_REDUCE");
  };
  CHECK(checks_left("CONST INT 99 RAND ") == 1);
  CHECK(checks_left("CONST INT 1 ") == 0);
}

TEST_CASE("what a guard of segments excludes need not be checked in them") {
  const auto decided = [](const std::string& of_guard, const std::string& of_bad) {
    const auto compare = [](int depth, const std::string& added, const std::string& op) {
      return fmt::format("COPY 1 {} {} CONST INT 0 CONST SEGDES 4 DIST INT {} INT ", depth, added,
                         op);
    };
    const std::string flags =
        "FUNC P CONST INT 0 CONST INT 1 CONST SEGDES 4 INDEX " + compare(0, "", "!=") +
        " CONST INT (" + of_guard + ") MAKE_SEGDES DIST BOOL " +
        compare(1, "CONST INT -1 CONST SEGDES 4 DIST INT + INT", "<") + " CONST INT (" + of_bad +
        ") MAKE_SEGDES DIST BOOL AND BOOL CONST SEGDES 10 OR_REDUCE BOOL CPOP 1 1 POP 1 0 RET";
    const std::string result =
        after(and_remove_dead<alone<recognize_idioms>>, after(merge_common, flags));
    return result.find("OR_REDUCE") == std::string::npos;
  };
  CHECK(decided("1 2 3 4", "1 2 3 4"));
  CHECK_FALSE(decided("1 2 3 4", "4 3 2 1"));
}

TEST_CASE("ranges of products, remainders, starts of segments and choices") {
  // Whether all of some numbers, made for each position in a vector of n, are inside of it.
  const auto checked = [](const std::string& numbers, const std::string& more = "") {
    const std::string result = after(
        and_remove_dead<alone<recognize_idioms>>,
        "FUNC P CONST INT 5 RAND COPY 1 0 MAKE_SEGDES CONST INT 0 CONST INT 1 COPY 1 2 INDEX " +
            numbers + "COPY 1 0 CONST INT 0 COPY 1 4 DIST INT < INT COPY 1 1 COPY 1 5 " + more +
            "COPY 1 5 DIST INT >= INT OR BOOL COPY 1 3 OR_REDUCE BOOL CPOP 1 1 POP 1 0 RET");
    return result.find("OR_REDUCE") != std::string::npos;
  };
  const auto number = [](const std::string& number, int segdes) {
    return fmt::format("{} COPY 1 {} DIST INT ", number, segdes);
  };
  CHECK_FALSE(checked("COPY 1 0 "));
  CHECK_FALSE(checked("COPY 1 0 " + number("CONST INT 1", 3) + "* INT "));
  CHECK(checked("COPY 1 0 " + number("CONST INT 2", 3) + "* INT "));
  CHECK(checked("COPY 1 0 " + number("CONST INT -1", 3) + "* INT "));
  CHECK_FALSE(checked("COPY 1 0 " + number("COPY 1 3", 3) + "% "));
  CHECK(checked("COPY 1 0 " + number("CONST INT 2", 3) + "% "));
  CHECK(checked("COPY 1 0 " + number("CONST INT 1", 3) + "- INT " + number("COPY 1 3", 3) + "% "));
  CHECK_FALSE(checked(number("COPY 1 2", 2) + "RAND "));
  CHECK(checked(number("COPY 1 2 CONST INT 1 + INT", 2) + "RAND "));
  // An index that is kept inside.
  const std::string before = "COPY 1 0 " + number("CONST INT 1", 3) + "- INT ";
  const std::string kept = "COPY 1 0 " + number("CONST INT 0", 4) + "{} INT COPY 1 1 " +
                           number("CONST INT 0", 5) + "SELECT INT CPOP 1 1 POP 1 0 ";
  CHECK_FALSE(checked(before + fmt::format(fmt::runtime(kept), ">=")));
  CHECK(checked(before + fmt::format(fmt::runtime(kept), "<=")));
}

TEST_CASE("positions in segments, counted from their starts, are positions in all") {
  // Of three segments; `start` and `index` are made for each element.
  const auto result = [](const std::string& lengths, const std::string& index) {
    return after(and_remove_dead<alone<recognize_idioms>>,
                 "FUNC P CONST INT 3 CONST SEGDES 3 DIST INT RAND COPY 1 0 MAKE_SEGDES COPY 1 1 " +
                     lengths + " +_SCAN INT COPY 1 1 DIST INT " + index + "CPOP 2 1 POP 2 0 RET");
  };
  const auto found = [&](const std::string& text) {
    return text.find("_SCAN") == std::string::npos &&
           text.find("DIST INT + INT") == std::string::npos;
  };
  const std::string offset =
      "CONST INT 0 CONST SEGDES 3 DIST INT CONST INT 1 CONST SEGDES 3 DIST INT COPY 1 3 INDEX ";
  CHECK(found(result("CONST SEGDES 3", offset + "+ INT ")));
  CHECK(found(result("CONST SEGDES 3", offset + "CONST INT 1 COPY 1 3 DIST INT - INT + INT ")));
  CHECK_FALSE(found(result("CONST SEGDES 3", offset + "- INT ")));
  CHECK_FALSE(found(result("CONST SEGDES (1 2)", offset + "+ INT ")));
  CHECK_FALSE(found(result("CONST SEGDES 3", offset + "CONST INT 1 COPY 1 3 DIST INT CPOP 1 1 "
                                                      "- INT + INT ")));
}

/// Is the operation still there behind `idioms`?
bool keeps(const std::string& text, const char* operation) {
  return after(and_remove_dead<alone<recognize_idioms>>, text).find(operation) != std::string::npos;
}

TEST_CASE("what is fetched from equal numbers is one of them, if it is there") {
  // Element `place` of n equal numbers, for each of n - `fewer` instances.
  const auto fetches = [](int place, int fewer) {
    const std::string text = fmt::format(
        "FUNC P CONST INT 9 RAND CONST INT 9 RAND COPY 1 0 MAKE_SEGDES COPY 1 2 COPY 1 1 DIST INT "
        "CONST INT {} COPY 1 3 CONST INT {} - INT MAKE_SEGDES CPOP 1 1 COPY 1 1 DIST INT "
        "CPOP 1 1 CPOP 1 3 CPOP 1 1 BPERMUTE INT CPOP 2 1 POP 2 0 RET",
        place, fewer);
    return keeps(text, "BPERMUTE");
  };
  CHECK_FALSE(fetches(0, 0));
  CHECK_FALSE(fetches(4, 4));
  CHECK(fetches(5, 4));
  CHECK(fetches(-1, 4));
  CHECK(fetches(0, -1));
}

TEST_CASE("where segments of equal length begin is computed, if they are there") {
  // From `first` on, of `fewer` less than there are.
  const auto fetches = [](int first, int fewer) {
    const std::string text = fmt::format(
        "FUNC P CONST INT 9 RAND COPY 1 0 MAKE_SEGDES CONST INT 3 COPY 1 1 DIST INT COPY 1 1 "
        "+_SCAN INT CONST INT {} CONST INT 1 COPY 1 4 CONST INT {} - INT MAKE_SEGDES COPY 1 0 "
        "CPOP 1 3 CPOP 1 3 CPOP 1 2 INDEX CPOP 1 3 CPOP 1 2 BPERMUTE INT CPOP 1 1 POP 1 0 RET",
        first, fewer);
    return keeps(text, "BPERMUTE");
  };
  CHECK_FALSE(fetches(1, 1));
  CHECK_FALSE(fetches(2, 5));
  CHECK(fetches(2, 1));
  CHECK(fetches(-1, 1));
}

TEST_CASE("a number for each element is the one for any") {
  const auto chooses = [](const char* condition) {
    const std::string text = fmt::format(
        "FUNC P CONST INT 9 RAND COPY 1 0 MAKE_SEGDES COPY 1 1 {} CONST INT 3 CONST INT -1 "
        "SELECT INT CONST INT -1 - INT CPOP 1 1 DIST INT CPOP 1 1 POP 1 0 RET",
        condition);
    return keeps(text, "SELECT");
  };
  CHECK_FALSE(chooses("CONST INT 0 > INT"));
  CHECK(chooses("CONST INT 1 > INT"));
  CHECK(chooses("CONST INT 1 + INT CONST INT 0 > INT"));
}

// The number, or 0 if that is greater.
const std::string greater_than_zero =
    "CONST INT 0 COPY 1 1 COPY 1 1 > INT COPY 1 2 COPY 1 2 SELECT INT CPOP 2 1 POP 2 0 ";

TEST_CASE("a condition tells what its arms need not ask") {
  // Of a number n of which only `condition` is known: is `number`, or 0 if that is greater, found
  // to be `number` where the condition holds, or where it does not?
  const std::string any = "FUNC P CONST INT 9 RAND I_TO_F TRUNC ";
  const auto selects = [&](const std::string& condition, const std::string& number) {
    const std::string asked = "COPY 1 0 " + number + greater_than_zero;
    const auto left = [&](const std::string& yes, const std::string& no) {
      return keeps(
          any + "COPY 1 0 " + condition + "IF " + yes + "ELSE " + no + "ENDIF CPOP 1 1 POP 1 0 RET",
          "SELECT");
    };
    return std::pair(left(asked, "CONST INT 3 "), left("CONST INT 3 ", asked));
  };
  const std::pair found_if_true(false, true), found_if_false(true, false), never_found(true, true);
  const std::string before = "CONST INT 1 - INT ";
  CHECK(selects("CONST INT 0 > INT ", "") == found_if_true);
  CHECK(selects("CONST INT 0 > INT ", before) == found_if_true);
  CHECK(selects("CONST INT 0 >= INT ", "") == found_if_true);
  CHECK(selects("CONST INT 0 >= INT ", before) == never_found);
  CHECK(selects("CONST INT 1 < INT ", before) == found_if_false);
  CHECK(selects("CONST INT 0 <= INT ", before) == found_if_false);
  CHECK(selects("CONST INT 0 = INT ", before) == never_found);
  CHECK(selects("CONST INT 7 > INT ", "CONST INT 2 * INT ") == never_found);  // wraps around
  // The number that is compared may have wrapped around.
  CHECK(selects("CONST INT 2 + INT CONST INT 0 > INT ", "CONST INT 1 + INT ") == never_found);

  // Behind a conditional that does not end otherwise, and not behind any other.
  const auto behind = [&](const std::string& otherwise) {
    return keeps(any + "COPY 1 0 CONST INT 0 > INT IF CONST INT 3 ELSE " + otherwise +
                     " ENDIF COPY 1 1 CONST INT 1 - INT " + greater_than_zero +
                     "CPOP 2 1 POP 1 1 RET",
                 "SELECT");
  };
  CHECK_FALSE(behind("CONST INT 4 EXIT"));
  CHECK(behind("CONST INT 4"));
}

TEST_CASE("a length less one that is not below its negation is not negative") {
  // As `take` asks it.
  const auto selects = [](const std::string& number) {
    return keeps("FUNC P CONST INT (9 9 9) RAND " + number +
                     "COPY 1 0 CONST INT 1 - INT CONST INT 0 COPY 1 2 - INT < INT IF CONST INT 4 "
                     "ELSE COPY 1 0 CONST INT 1 - INT " +
                     greater_than_zero + "ENDIF RET",
                 "SELECT");
  };
  CHECK_FALSE(selects("CONST BOOL (T F T) CONST SEGDES 3 PACK INT CPOP 1 1 POP 1 0 LENGTHS "));
  CHECK(selects("CONST SEGDES 3 MAX_REDUCE INT "));
}

TEST_CASE("equal numbers are compared once, if there are any") {
  // One number for each of n elements.
  const auto result = [](const std::string& number, const std::string& check) {
    return after(and_remove_dead<alone<recognize_idioms>>,
                 "FUNC P CONST INT 5 RAND CONST INT 9 RAND CPOP 1 1 MAKE_SEGDES " + number + check +
                     " CPOP 2 1 POP 2 0 RET");
  };
  const std::string equal = "COPY 1 1 COPY 1 1 DIST INT ", each = "COPY 2 0 DIST INT RAND ";
  const std::string least = "COPY 1 1 MIN_REDUCE INT CONST INT 3 < INT";
  const std::string any = "CONST INT 7 COPY 1 2 DIST INT >= INT NOT BOOL COPY 1 1 OR_REDUCE BOOL";
  for (const std::string& check : {least, any}) {
    const std::string found = result(equal, check);
    INFO(found);
    CHECK(found.find("REDUCE") == std::string::npos);
    CHECK(found.find("LENGTHS CONST INT 0 > INT") != std::string::npos);
    CHECK(result(each, check).find("REDUCE") != std::string::npos);
  }
  // Of INTs OR gives bits.
  CHECK(result(equal, "COPY 1 1 OR_REDUCE INT").find("OR_REDUCE") != std::string::npos);
  // The least of none is greater than any number, and what fails must do so.
  CHECK(result(equal, "COPY 1 1 MIN_REDUCE INT CONST INT 3 > INT").find("MIN_REDUCE") !=
        std::string::npos);
  CHECK(result(equal,
               "CONST INT 2 COPY 1 2 DIST INT / INT CONST INT 1 COPY 1 2 DIST INT >= INT "
               "COPY 1 1 OR_REDUCE BOOL")
            .find("OR_REDUCE") != std::string::npos);
}

}  // namespace
}  // namespace fcode::testing
