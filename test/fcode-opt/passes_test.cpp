// Each clean-up pass by itself.
#include "fcode-opt/passes/passes.hpp"

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "fcode-opt/support.hpp"
#include "occurrences.hpp"

namespace fcode::testing {
namespace {

// RAND gives values of which nothing is known, `LENGTH INT` scalars.
const std::string kX = "CONST INT (9 9) RAND ";

TEST_CASE("what is spread over segments of one element is left as it is") {
  CHECK(after(and_remove_dead<alone<recognize_idioms>>,
              "FUNC P " + kX + "CONST INT 1 CONST SEGDES 2 DIST INT MAKE_SEGDES DIST INT RET") ==
        "FUNC P " + kX + "RET");
  CHECK(
      after(and_remove_dead<alone<recognize_idioms>>,
            "FUNC P " + kX + "CONST INT 1 CONST SEGDES 2 DIST INT MAKE_SEGDES +_REDUCE INT RET") ==
      "FUNC P " + kX + "RET");
  // A sum of FLOAT turns -0.0 into 0.0.
  const std::string sums = "FUNC P " + kX +
                           "I_TO_F CONST INT 1 CONST SEGDES 2 DIST INT MAKE_SEGDES "
                           "+_REDUCE FLOAT RET";
  CHECK(after(and_remove_dead<alone<recognize_idioms>>, sums) == sums);
}

TEST_CASE("the greatest of equal numbers is each of them, where there is one") {
  const auto has_reduction = [](const std::string& code, const char* reduction) {
    return after(and_remove_dead<alone<recognize_idioms>>, "FUNC P " + code + "RET")
               .find(reduction) != std::string::npos;
  };
  // The lengths of the rows of a matrix.
  CHECK_FALSE(has_reduction("CONST SEGDES (7 7) LENGTHS CONST SEGDES 2 MAX_REDUCE INT ", "MAX"));
  CHECK_FALSE(has_reduction(
      "CONST INT 5 CONST SEGDES 6 DIST INT CONST SEGDES (3 3) MIN_REDUCE INT ", "MIN"));
  CHECK(has_reduction(kX + "CONST SEGDES 2 MAX_REDUCE INT ", "MAX"));
  // That of no number is another one.
  CHECK(has_reduction("CONST INT 5 CONST SEGDES 2 DIST INT CONST SEGDES (2 0) MAX_REDUCE INT ",
                      "MAX"));
  CHECK(has_reduction("CONST INT 5 CONST SEGDES 0 DIST INT CONST SEGDES 0 MAX_REDUCE INT ", "MAX"));
}

TEST_CASE("a permutation of nothing is none") {
  CHECK(after(and_remove_dead<alone<recognize_idioms>>,
              "FUNC P " + kX +
                  "CONST INT 0 CONST INT 1 CONST SEGDES 2 INDEX CONST SEGDES 2 "
                  "PERMUTE INT RET") == "FUNC P " + kX + "RET");
  const std::string turned = "FUNC P " + kX +
                             "CONST INT 1 CONST INT -1 CONST SEGDES 2 INDEX "
                             "CONST SEGDES 2 PERMUTE INT RET";
  CHECK(after(and_remove_dead<alone<recognize_idioms>>, turned) == turned);
}

TEST_CASE("a vector that is permuted by its own ranks is sorted") {
  const std::string ranked =
      "FUNC P " + kX + "COPY 1 0 CONST SEGDES 2 RANK_DOWN INT CONST SEGDES 2 PERMUTE INT RET";
  CHECK(after(and_remove_dead<alone<recognize_idioms>>, ranked) ==
        "FUNC P " + kX + "CONST SEGDES 2 SORT_DOWN INT RET");
  // Ranks that are read as well are made in any case, and permuting is less work than sorting.
  const std::string read_twice = "FUNC P " + kX +
                                 "COPY 1 0 CONST SEGDES 2 RANK_UP INT CPOP 1 1 COPY 1 1 "
                                 "CONST SEGDES 2 PERMUTE INT RET";
  CHECK(after(and_remove_dead<alone<recognize_idioms>>, read_twice).find("SORT") ==
        std::string::npos);
  const std::string other_keys = "FUNC P " + kX +
                                 "COPY 1 0 CONST INT 1 + INT CONST SEGDES 2 "
                                 "RANK_UP INT CONST SEGDES 2 PERMUTE INT RET";
  CHECK(after(and_remove_dead<alone<recognize_idioms>>, other_keys).find("SORT") ==
        std::string::npos);
}

// Positions of the flags T of a vector, and their descriptor; below lie the vector and the flags.
const std::string kPacked =
    "CONST INT 0 CONST INT 1 CONST SEGDES 2 INDEX COPY 1 1 CONST SEGDES 2 PACK INT ";
const std::string kFlags = "CONST BOOL (T F) ";

TEST_CASE("what is scattered from packed elements is selected") {
  const std::string fetched =
      "FUNC P " + kX + kFlags + kPacked + "COPY 1 3 COPY 1 2 CONST SEGDES 2 COPY 1 3 BPERMUTE INT ";
  const std::string scattered =
      "CPOP 1 2 CPOP 1 4 CPOP 1 3 CONST SEGDES 2 DPERMUTE INT CPOP 1 1 POP 1 0 RET";
  CHECK(after(and_remove_dead<alone<select_elements>>, fetched + "COPY 1 0 * INT " + scattered) ==
        "FUNC P " + kX + "CONST BOOL (T F) COPY 1 1 COPY 1 2 * INT CPOP 1 2 SELECT INT RET");
  // Divisors of other elements may be 0; permutations may move them.
  const std::string divided = fetched + "COPY 1 0 / INT " + scattered;
  CHECK(after(alone<select_elements>, divided).find("DPERMUTE") != std::string::npos);
  const std::string scanned = fetched + "COPY 1 2 +_SCAN INT " + scattered;
  CHECK(after(alone<select_elements>, scanned).find("DPERMUTE") != std::string::npos);
  // So much is not computed for nothing.
  std::string longer = fetched;
  for (int i = 0; i < 17; ++i) longer += "COPY 1 0 * INT ";
  CHECK(after(alone<select_elements>, longer + scattered).find("DPERMUTE") != std::string::npos);
}

TEST_CASE("arms that agree with the general case go") {
  const auto arms = [](const std::string& condition, const std::string& special) {
    return "FUNC P " + kX + "COPY 1 0 I_TO_B " + condition + "IF POP 1 0 " + special +
           "ELSE COPY 1 1 COPY 1 0 * INT CPOP 1 2 SELECT INT ENDIF RET";
  };
  const std::string segdes = "CONST SEGDES 2 ";
  const std::string all = "COPY 1 0 " + segdes + "AND_REDUCE BOOL ";
  const std::string none = "COPY 1 0 " + segdes + "OR_REDUCE BOOL NOT BOOL ";
  const std::string count = "COPY 1 0 B_TO_I " + segdes + "+_REDUCE INT ";
  const std::string square = "COPY 1 0 * INT ";
  const auto goes = [&](const std::string& condition, const std::string& special) {
    return after(alone<merge_agreeing_arms>, arms(condition, special)).find("IF") ==
           std::string::npos;
  };
  CHECK(goes(all, square));
  CHECK(goes(none, ""));
  CHECK(goes(count + "CONST INT 2 = INT ", square));
  CHECK(goes(count + "CONST INT 0 = INT ", ""));
  CHECK(
      goes("CONST INT 2 COPY 1 1 B_TO_I " + segdes + "+_REDUCE INT - INT CONST INT 2 = INT ", ""));
  CHECK_FALSE(goes(all, ""));
  CHECK_FALSE(goes(none, square));
  CHECK_FALSE(goes(count + "CONST INT 1 = INT ", square));
  CHECK_FALSE(goes(count + "CONST INT 2 < INT ", square));
  CHECK_FALSE(goes(all, "COPY 1 0 + INT "));
  // Only of half of the flags.
  CHECK_FALSE(
      goes("COPY 1 0 CONST SEGDES (1 1) AND_REDUCE BOOL CONST INT 0 CONST SEGDES 2 "
           "EXTRACT BOOL ",
           square));
}

TEST_CASE("of equal calls without effects one is left, whatever lies between them") {
  const auto calls = [](const std::string& body, const std::string& between) {
    const std::string text = "FUNC MAIN " + kX + "COPY 1 0 CALL ONE " + between +
                             " CPOP 1 1 CALL ONE RET FUNC ONE " + body +
                             " RET FUNC TWO COPY 1 0 * INT RET";
    return ::testing::occurrences(after(merge_common, text), "CALL ONE");
  };
  CHECK(calls("COPY 1 0 + INT", "") == 1);
  CHECK(calls("COPY 1 0 + INT", "CALL TWO") == 1);
  CHECK(calls("RAND", "") == 2);
  CHECK(calls("COPY 1 0 + INT START_TIMER STOP_TIMER POP 1 0", "") == 2);
}

TEST_CASE("packs of whole segments are copies of runs") {
  // The stack: flags of three segments, these, data.
  const auto copies = [](const std::string& data, const std::string& flags,
                         const std::string& then) {
    const std::string text = "FUNC P CONST BOOL (T F T) CONST INT (2 3 1) MAKE_SEGDES " + data +
                             " " + flags + " " + then + " RET";
    const std::string result = after(and_remove_dead<alone<copy_packed_runs>>, text);
    return result.find("BPERMUTE FLOAT") != std::string::npos &&
           result.find("PACK FLOAT") == std::string::npos;
  };
  const std::string data = "CONST FLOAT (5.0 6.0 7.0 8.0 9.0 4.0)";
  const std::string of_segments = "COPY 1 2 COPY 1 2 DIST BOOL";
  const std::string pack = "CONST SEGDES 6 PACK FLOAT";
  CHECK(copies(data, of_segments, pack + " POP 1 0"));
  CHECK(copies(data, of_segments, pack + " LENGTHS"));
  CHECK(copies(data, of_segments, "CONST SEGDES (2 4) PACK FLOAT POP 1 0"));
  // How much is left of each of two segments is asked for; flags of elements; data that are made
  // in passing.
  CHECK_FALSE(copies(data, of_segments, "CONST SEGDES (2 4) PACK FLOAT LENGTHS"));
  CHECK_FALSE(copies(data, "CONST BOOL (T T F F F T)", pack + " POP 1 0"));
  CHECK_FALSE(copies(data + " COPY 1 0 * FLOAT", of_segments, pack + " POP 1 0"));
  // The starts are packed as the lengths are.
  const std::string lengths = "COPY 1 2 COPY 1 2 LENGTHS CPOP 1 1 CONST SEGDES 3 PACK INT POP 1 0";
  const std::string both =
      after(and_remove_dead<alone<copy_packed_runs>>,
            "FUNC P CONST BOOL (T F T) CONST INT (2 3 1) MAKE_SEGDES " + data + " " + lengths +
                " CPOP 1 1 COPY 1 3 COPY 1 3 DIST BOOL " + pack + " RET");
  CHECK(::testing::occurrences(both, "PACK INT") == 2);
}

TEST_CASE("what is fetched from copied runs is fetched from what was copied") {
  // Below: the starts of three runs of a vector, their segments, the vector and its copied runs.
  const auto copied = [](const std::string& step, const std::string& then) {
    return "FUNC P CONST INT (2 0 1) CONST INT (2 3 1) MAKE_SEGDES CONST INT (5 6 7 8) START_TIMER "
           "COPY 1 2 CONST INT " +
           step +
           " COPY 1 3 INDEX COPY 1 1 COPY 1 1 CONST SEGDES 4 CONST SEGDES 6 BPERMUTE INT "
           "CPOP 1 1 POP 1 0 " +
           then + " RET";
  };
  const auto copies = [](const std::string& text) {
    const std::string result = after(and_remove_dead<alone<fetch_from_copied>>, text);
    return result.find("CONST SEGDES 6 BPERMUTE") != std::string::npos;
  };
  const std::string steps = "(1 1 1)";
  const std::string slices =
      "CONST INT (1 0 0) CONST INT (1 1 1) CONST INT (1 2 1) MAKE_SEGDES INDEX "
      "COPY 1 3 CONST INT (1 2 1) MAKE_SEGDES BPERMUTE INT";
  const std::string subscripts = "CONST INT (1 2 0) COPY 1 3 EXTRACT INT";
  const std::string first_subscripts = "COPY 1 0 CONST INT (1 2 0) COPY 1 4 EXTRACT INT CPOP 1 1 ";
  CHECK_FALSE(copies(copied(steps, slices)));
  CHECK_FALSE(copies(copied(steps, subscripts)));
  CHECK_FALSE(copies(copied(steps, first_subscripts + "CONST INT (0 1 0) COPY 1 4 EXTRACT INT")));
  // A slice of a slice: the copy and the first slice go.
  const std::string sliced_twice =
      slices + " CONST INT (0 1 0) CONST INT (1 2 1) MAKE_SEGDES EXTRACT INT";
  const auto fetches = [](const std::string& text) {
    return ::testing::occurrences(text, "BPERMUTE") + ::testing::occurrences(text, "EXTRACT");
  };
  const std::string once =
      after(and_remove_dead<alone<fetch_from_copied>>, copied(steps, sliced_twice));
  CHECK(fetches(once) == 2);
  CHECK(fetches(after(and_remove_dead<alone<fetch_from_copied>>, after(merge_common, once))) == 1);
  // The copy is read as a whole, it is no run, or it is cut into other segments.
  CHECK(copies(copied(steps, first_subscripts)));
  CHECK(copies(copied("(2 1 1)", subscripts)));
  CHECK(copies(copied(steps, "CONST INT (1 2 0) CONST INT (1 3 2) MAKE_SEGDES EXTRACT INT")));
}

TEST_CASE("reductions of short segments are operations on what is there for each segment") {
  // Elements x + k * step for k from 0 to length - 1, of each of some x, and their descriptor.
  const auto rows = [](const char* length, const char* step = "1") {
    return fmt::format(
        "FUNC P CONST INT (9 9) RAND COPY 1 0 I_TO_B CONST SEGDES 2 PACK INT POP 1 0 "
        "COPY 1 0 LENGTH INT MAKE_SEGDES CONST INT {} CPOP 1 1 DIST INT MAKE_SEGDES "
        "CONST INT {} COPY 1 2 LENGTH INT MAKE_SEGDES DIST INT CPOP 1 2 CPOP 1 1 COPY 1 2 INDEX "
        "CPOP 1 1 ",
        length, step);
  };
  const auto unrolled = [](const std::string& text) {
    return after(and_remove_dead<alone<unroll_reductions>>, text);
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const std::string sums = unrolled(rows("3") + "+_REDUCE INT RET");
  CHECK_FALSE(has(sums, "REDUCE"));
  CHECK(::testing::occurrences(sums, " + INT") == 4);
  CHECK(has(unrolled(rows("17") + "+_REDUCE INT RET"), "REDUCE"));
  // What wraps around where INTs have 32 bits is left to the run.
  CHECK_FALSE(has(unrolled(rows("3", "1000000000") + "+_REDUCE INT RET"), "REDUCE"));
  CHECK(has(unrolled(rows("3", "1500000000") + "+_REDUCE INT RET"), "REDUCE"));
  // What is made of one vector on many ways is looked at once.
  std::string doubled = kX;
  for (int k = 0; k < 60; ++k) doubled += "COPY 1 0 + INT ";
  CHECK(has(unrolled("FUNC P " + doubled + "CONST SEGDES 2 MAX_REDUCE INT RET"), "REDUCE"));
  // What is needed in another way as well is not computed twice.
  CHECK(has(unrolled(rows("3") + "COPY 1 1 COPY 1 0 * INT COPY 1 0 CPOP 1 2 +_REDUCE INT RET"),
            "REDUCE"));
}

TEST_CASE("prune drops what is never called") {
  CHECK(after(prune, "FUNC A CALL C RET FUNC B CALL B RET FUNC C CONST INT 1 RET") ==
        "FUNC A CALL C RET FUNC C CONST INT 1 RET");
}

TEST_CASE("constants are folded where all widths agree") {
  CHECK(after(fold_constants, "FUNC P CONST INT 2 CONST INT 3 + INT RET") ==
        "FUNC P CONST INT 5 RET");
  CHECK(after(fold_constants, "FUNC P CONST INT (7 -7) CONST INT (2 2) / INT RET") ==
        "FUNC P CONST INT (3 -3) RET");
  CHECK(after(fold_constants, "FUNC P CONST BOOL T CONST INT 1 CONST INT 2 SELECT INT RET") ==
        "FUNC P CONST INT 1 RET");
  CHECK(after(fold_constants, "FUNC P CONST FLOAT 0.5 CONST FLOAT 0.25 + FLOAT RET") ==
        "FUNC P CONST FLOAT 0.75 RET");
  CHECK(after(fold_constants, "FUNC P CONST FLOAT 0.0 CONST FLOAT 0.0 - FLOAT RET") ==
        "FUNC P CONST FLOAT 0.0 RET");
  CHECK(after(fold_constants, "FUNC P CONST INT (2 3) MAKE_SEGDES LENGTHS RET") ==
        "FUNC P CONST INT (2 3) RET");
  CHECK(after(fold_constants, "FUNC P CONST FLOAT (1.0 2.0) LENGTH FLOAT RET") ==
        "FUNC P CONST INT 2 RET");
  CHECK(after(fold_constants, "FUNC P CONST FLOAT 2.5 ROUND CONST FLOAT 4.0 SQRT RET") ==
        "FUNC P CONST INT 3 CONST FLOAT 2.0 RET");
  // The same number once each run has rounded it to its width, or once it is an INT again.
  CHECK(after(fold_constants, "FUNC P CONST FLOAT 0.1 CONST FLOAT 0.2 + FLOAT RET") ==
        "FUNC P CONST FLOAT 0.30000000000000004 RET");
  CHECK(after(and_remove_dead<fold_constants>,
              "FUNC P CONST FLOAT 100.0 CONST FLOAT 3.3 / FLOAT CONST FLOAT 0.1 CONST FLOAT 0.6 "
              "+ FLOAT + FLOAT ROUND RET") == "FUNC P CONST INT 31 RET");
}

TEST_CASE("what differs between widths, fails or is not exact is left to the run") {
  for (const std::string code : {
           "CONST INT 2147483647 CONST INT 1 + INT",   // wraps around at 32 bits
           "CONST INT 1 CONST INT 40 LSHIFT",          // the count is taken modulo the width
           "CONST INT 7 CONST INT 0 / INT",            // fails
           "CONST INT -1 MAKE_SEGDES",                 // fails
           "CONST FLOAT 0.1 CONST FLOAT 0.6 + FLOAT",  // rounds differently
           "CONST FLOAT 1.0e+300 CONST FLOAT 2.0 * FLOAT",
           "CONST FLOAT 0.0 CONST FLOAT 0.0 / FLOAT",  // no text for a NaN
           "CONST FLOAT 1.0 EXP",                      // depends on the library
           "CONST FLOAT 1.0e+10 FLOOR",                // does not fit INT of 32 bits
           "CONST INT (1 2) CONST INT (1 2 3) + INT",  // an error with -c
       }) {
    const std::string text = "FUNC P " + code + " RET";
    CHECK(after(fold_constants, text) == text);
  }
}

TEST_CASE("lengths are asked for where their vectors are made, on their side of effects") {
  const std::string squares = "I_TO_F COPY 1 0 * FLOAT ";
  CHECK(after(hoist_lengths,
              "FUNC P READ INT POP 2 0 COPY 1 0 " + squares + "CPOP 1 1 LENGTH INT RET") ==
        "FUNC P READ INT POP 2 0 COPY 1 0 LENGTH INT CPOP 1 1 " + squares + "CPOP 1 1 RET");
  const std::string timed = "FUNC P READ INT POP 2 0 COPY 1 0 " + squares +
                            "START_TIMER COPY 1 0 + FLOAT CPOP 1 1 LENGTH INT RET";
  CHECK(after(hoist_lengths, timed) == timed);
}

TEST_CASE("choices go up to where what they choose from is made") {
  // Below: a vector, of which `none` says whether it is empty.
  const std::string squares = "COPY 1 0 NOT INT ";
  const std::string none = "COPY 1 1 LENGTH INT CONST INT 0 = INT ";
  const std::string choice = "IF CPOP 1 1 POP 1 0 CONST INT 7 ELSE CPOP 1 1 ENDIF ";
  const auto place_of_choice = [](const std::string& text) {
    const std::string result = after(hoist_choices, text);
    return result.find("IF") < result.find("NOT INT");
  };
  CHECK(place_of_choice("FUNC P READ INT POP 2 0 " + squares + none + choice + "RET"));
  // Past a check, but not past another effect, nor where an arm computes something.
  const std::string check = "COPY 1 0 LENGTH INT CONST INT 9 < INT IF ELSE ", exit = "EXIT ENDIF ";
  CHECK(
      place_of_choice("FUNC P READ INT POP 2 0 " + squares + check + exit + none + choice + "RET"));
  CHECK_FALSE(place_of_choice("FUNC P READ INT POP 2 0 " + squares + check + "START_TIMER ENDIF " +
                              none + choice + "RET"));
  CHECK_FALSE(place_of_choice("FUNC P READ INT POP 2 0 " + squares + "START_TIMER " + none +
                              choice + "RET"));
  CHECK_FALSE(place_of_choice("FUNC P READ INT POP 2 0 " + squares + none +
                              "IF POP 1 0 CONST INT 7 ELSE COPY 1 1 + INT ENDIF RET"));
  // Nor what the condition depends on.
  CHECK_FALSE(place_of_choice("FUNC P READ INT POP 2 0 " + squares +
                              "COPY 1 0 CONST SEGDES 3 +_REDUCE INT CONST INT 0 = INT IF CPOP 1 1 "
                              "POP 1 0 CONST INT 7 ELSE CPOP 1 1 ENDIF RET"));
}

TEST_CASE("what is fetched where another vector is chosen for an empty one is fetched from it") {
  // Below: a vector of n elements, or 7 if there are none; and its positions from `start` on.
  const auto fetched = [](const char* number, const char* start) {
    return fmt::format(
        "FUNC P READ INT POP 2 0 COPY 1 0 LENGTH INT COPY 1 0 CONST INT {} = INT "
        "IF CONST INT (7) ELSE COPY 1 1 ENDIF CONST INT {} CONST INT 1 COPY 1 3 MAKE_SEGDES INDEX "
        "COPY 1 1 COPY 1 1 COPY 1 1 LENGTH INT MAKE_SEGDES COPY 1 5 MAKE_SEGDES BPERMUTE INT "
        "CPOP 1 1 POP 1 0 CPOP 1 1 POP 1 0 CPOP 1 1 POP 1 0 CPOP 1 1 POP 1 0 RET",
        number, start);
  };
  const auto has_choice = [](const std::string& text) {
    return after(and_remove_dead<alone<recognize_idioms>>, text).find("IF") != std::string::npos;
  };
  CHECK_FALSE(has_choice(fetched("0", "0")));
  CHECK(has_choice(fetched("1", "0")));
  CHECK(has_choice(fetched("0", "-1")));
}

TEST_CASE("LENGTHS of MAKE_SEGDES and back") {
  CHECK(after(and_remove_dead<simplify_descriptors>, "FUNC P " + kX + "MAKE_SEGDES LENGTHS RET") ==
        "FUNC P " + kX + "RET");
  CHECK(after(and_remove_dead<simplify_descriptors>,
              "FUNC P " + kX + "MAKE_SEGDES LENGTHS MAKE_SEGDES RET") ==
        "FUNC P " + kX + "MAKE_SEGDES RET");
}

TEST_CASE("equal operations are run once") {
  CHECK(after(merge_common, "FUNC P " + kX + "COPY 1 0 NOT INT CPOP 1 1 NOT INT RET") ==
        "FUNC P " + kX + "NOT INT COPY 1 0 RET");
  // Random numbers are not equal.
  const std::string random = "FUNC P CONST INT 9 RAND CONST INT 9 RAND RET";
  CHECK(after(merge_common, random) == random);
  // What an arm computes is not there behind it.
  const std::string arms =
      "FUNC P CONST INT 9 RAND COPY 1 0 CONST INT 4 < INT IF COPY 1 0 NOT INT ELSE CONST INT 0 "
      "ENDIF CPOP 1 1 NOT INT RET";
  CHECK(after(merge_common, arms) == arms);
}

TEST_CASE("conditionals") {
  CHECK(after(simplify_branches,
              "FUNC P CONST INT 9 RAND CONST INT 4 < INT COPY 1 0 IF IF CONST INT 1 ELSE "
              "CONST INT 2 ENDIF ELSE POP 1 0 CONST INT 3 ENDIF RET") ==
        "FUNC P CONST INT 9 RAND CONST INT 4 < INT IF CONST INT 1 ELSE CONST INT 3 ENDIF RET");
  CHECK(after(simplify_branches,
              "FUNC P CONST INT 9 RAND CONST INT 4 < INT NOT BOOL IF CONST INT 1 ELSE CONST INT 2 "
              "ENDIF RET") ==
        "FUNC P CONST INT 9 RAND CONST INT 4 < INT COPY 1 0 NOT BOOL POP 1 0 IF CONST INT 2 ELSE "
        "CONST INT 1 ENDIF RET");
  CHECK(
      after(and_remove_dead<simplify_branches>,
            "FUNC P CONST INT 9 RAND COPY 1 0 CONST INT 4 < INT IF CONST BOOL T ELSE CONST BOOL F "
            "ENDIF RET") == "FUNC P CONST INT 9 RAND COPY 1 0 CONST INT 4 < INT RET");
}

TEST_CASE("a program that comes to its end in both arms ends there") {
  CHECK(after(simplify_branches,
              "FUNC P CALL G CONST INT 1 RET "
              "FUNC G CONST INT 9 RAND CONST INT 4 < INT IF EXIT ELSE EXIT "
              "ENDIF RET") ==
        "FUNC P CALL G RET FUNC G CONST INT 9 RAND CONST INT 4 < INT IF EXIT ELSE EXIT ENDIF RET");
}

TEST_CASE("dead code goes, through calls and recursion") {
  CHECK(after(remove_dead, "FUNC P " + kX + "COPY 1 0 NOT INT POP 1 0 RET") ==
        "FUNC P " + kX + "RET");
  // Neither the second parameter nor the second result is of use to anybody.
  CHECK(after(remove_dead,
              "FUNC P CONST INT 9 RAND CONST INT 5 CALL DOWN POP 1 0 RET "
              "FUNC DOWN COPY 1 1 CONST INT 0 = INT IF ELSE CONST INT 1 + INT CPOP 1 1 CONST INT 1 "
              "- INT CPOP 1 1 CALL DOWN ENDIF RET") ==
        "FUNC P CONST INT 9 RAND CALL DOWN RET "
        "FUNC DOWN COPY 1 0 CONST INT 0 = INT IF ELSE CONST INT 1 - INT CALL DOWN ENDIF RET");
  // Effects stay, with what they need.
  const std::string effects =
      "FUNC P CONST INT 9 RAND COPY 1 0 CONST INT 4 < INT IF CONST CHAR \"x\" WRITE CHAR POP 2 0 "
      "ENDIF RET";
  CHECK(after(remove_dead, effects) == effects);
}

TEST_CASE("calls: constants and unchanged values") {
  CHECK(after(and_remove_dead<propagate_calls>,
              "FUNC P " + kX + "CONST INT 3 CALL G RET FUNC G CPOP 1 1 RET") ==
        "FUNC P " + kX + "CONST INT 3 CPOP 1 1 RET");
  CHECK(after(propagate_calls,
              "FUNC P CONST INT 9 RAND CONST INT 3 CALL G RET "
              "FUNC G COPY 1 1 CONST INT 0 = INT IF + INT ELSE CPOP 1 1 CONST INT 1 - INT CPOP 1 1 "
              "CALL G ENDIF RET") ==
        "FUNC P CONST INT 9 RAND CONST INT 3 CALL G RET "
        "FUNC G POP 1 0 COPY 1 0 CONST INT 0 = INT IF CONST INT 3 + INT ELSE CONST INT 1 - INT "
        "CONST INT 3 CALL G ENDIF RET");
}

bool inline_everything(Module& module) {
  return inline_calls(module, {4, 100});
}
bool inline_single(Module& module) {
  return inline_calls(module, {0, 0});
}

TEST_CASE("calls are replaced by bodies, recursive ones are not") {
  const std::string twice =
      "FUNC P " + kX + "CALL G " + kX + "CALL G RET FUNC G COPY 1 0 * INT RET";
  CHECK(after(inline_everything, twice) ==
        "FUNC P " + kX + "COPY 1 0 * INT " + kX + "COPY 1 0 * INT RET");
  CHECK(after(inline_single, twice) == twice);
  CHECK(after(inline_single, "FUNC P " + kX + "CALL G RET FUNC G COPY 1 0 * INT RET") ==
        "FUNC P " + kX + "COPY 1 0 * INT RET");
  const std::string recursive =
      "FUNC P CONST INT 5 CALL G RET FUNC G COPY 1 0 CONST INT 0 = INT IF ELSE CONST INT 1 - INT "
      "CALL G ENDIF RET";
  CHECK(after(inline_everything, recursive) == recursive);
}

TEST_CASE("algebra keeps lengths, bits and failures") {
  const auto scalar = [](const std::string& code) {
    return after(alone<simplify_algebra>, "FUNC P CONST INT 9 RAND " + code + " RET");
  };
  const auto same = [&](const std::string& code) {
    Module module = module_of("FUNC P CONST INT 9 RAND " + code + " RET");
    alone<simplify_algebra>(module);
    remove_dead(module);
    return flat(lower(module).program) == "FUNC P CONST INT 9 RAND RET";
  };
  CHECK(same("CONST INT 0 + INT"));
  CHECK(same("CONST INT 0 CPOP 1 1 + INT"));
  CHECK(same("CONST INT 1 * INT"));
  CHECK(same("CONST INT 1 / INT"));
  CHECK(same("NOT INT NOT INT"));
  CHECK(same("CONST INT -1 AND INT"));
  CHECK_FALSE(same("CONST INT 1 + INT"));
  CHECK_FALSE(same("CONST INT 0 CPOP 1 1 - INT"));
  // -0.0 + 0.0 is 0.0.
  CHECK(scalar("I_TO_F CONST FLOAT 0.0 + FLOAT") ==
        "FUNC P CONST INT 9 RAND I_TO_F CONST FLOAT 0.0 + FLOAT RET");
  // A shorter operand is an error.
  CHECK(after(alone<simplify_algebra>, "FUNC P " + kX + "CONST INT 0 + INT RET") ==
        "FUNC P " + kX + "CONST INT 0 + INT RET");
  CHECK(after(alone<simplify_algebra>, "FUNC P CONST INT 1 CONST INT 2 PAIR UNPAIR RET") ==
        "FUNC P CONST INT 1 CONST INT 2 PAIR UNPAIR POP 2 0 CONST INT 1 CONST INT 2 RET");
}

}  // namespace
}  // namespace fcode::testing
