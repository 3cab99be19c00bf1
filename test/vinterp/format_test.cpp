#include "machine/format.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include <catch2/catch.hpp>

#include "host_backend.hpp"

namespace {

using vinterp_test::HostBackend;

std::string line(HostBackend& backend, const cvl::Value& value) {
  std::string result;
  CHECK(vinterp::write_value(backend, value, [&](std::string_view text) {
    result += text;
    return true;
  }));
  return result;
}

TEST_CASE("integers print in decimal between round brackets") {
  HostBackend backend;
  CHECK(line(backend, backend.ints({})) == "( )\n");
  CHECK(line(backend, backend.ints({1, -2, 3})) == "( 1 -2 3 )\n");
  CHECK(line(backend, backend.ints({INT32_MIN, INT32_MAX})) == "( -2147483648 2147483647 )\n");
  HostBackend wide({8, 8});
  CHECK(line(wide, wide.ints({INT64_MIN, INT64_MAX})) ==
        "( -9223372036854775808 9223372036854775807 )\n");
}

TEST_CASE("booleans print as T and F") {
  HostBackend backend;
  CHECK(line(backend, backend.bools({1, 0})) == "( T F )\n");
  CHECK(line(backend, backend.bools({})) == "( )\n");
}

TEST_CASE("floats print as %.14e, NaN without a sign") {
  HostBackend backend;
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(line(backend, backend.floats({1.5, -0.0, 1e300, 4.9e-324})) ==
        "( 1.50000000000000e+00 -0.00000000000000e+00 1.00000000000000e+300 "
        "4.94065645841247e-324 )\n");
  CHECK(line(backend, backend.floats({inf, -inf, nan, std::copysign(nan, -1.0)})) ==
        "( inf -inf nan nan )\n");
  CHECK(line(backend, backend.floats({})) == "( )\n");
}

TEST_CASE("floats print like printf over the whole range") {
  HostBackend backend;
  for (double number = 1e-320; number < 1e305; number *= 7.3) {
    for (const double signed_number : {number, -number, number * (1 + 1e-14)}) {
      char expected[64];
      std::snprintf(expected, sizeof expected, "( %.14e )\n", signed_number);
      REQUIRE(line(backend, backend.floats({signed_number})) == expected);
    }
  }
}

TEST_CASE("single precision prints the value that it holds") {
  HostBackend backend({4, 4});
  CHECK(line(backend, backend.floats({1.5})) == "( 1.50000000000000e+00 )\n");
  char expected[64];
  std::snprintf(expected, sizeof expected, "( %.14e )\n", static_cast<double>(0.1f));
  CHECK(line(backend, backend.floats({0.1})) == expected);
}

TEST_CASE("descriptors print their lengths between square brackets") {
  HostBackend backend;
  CHECK(line(backend, backend.segdes({})) == "[ ]\n");
  CHECK(line(backend, backend.segdes({0})) == "[ 0 ]\n");
  CHECK(line(backend, backend.segdes({2, 0, 3})) == "[ 2 0 3 ]\n");
  CHECK(line(backend, cvl::Segdes::regular(3, 7)) == "[ 7 7 7 ]\n");
}

TEST_CASE("a pair prints the types of its components and a blank at the end") {
  HostBackend backend;
  const cvl::Value inner = cvl::make_pair(backend.integer(1), backend.floats({2}));
  CHECK(line(backend, inner) == "pair(Int,Float) \n");
  CHECK(line(backend, cvl::make_pair(inner, backend.bools({1}))) == "pair(Pair,Bool) \n");
  CHECK(line(backend, cvl::make_pair(backend.segdes({1}), inner)) == "pair(Segdes,Pair) \n");
}

TEST_CASE("compact forms print like any other") {
  HostBackend backend;
  cvl::Vector progression;
  progression.form = cvl::Form::Progression;
  progression.length = 5;
  progression.inline_elements<std::int64_t>()[0] = 10;
  progression.inline_elements<std::int64_t>()[1] = -3;
  CHECK(line(backend, progression) == "( 10 7 4 1 -2 )\n");
  cvl::Vector constant = cvl::make_bool(true);
  constant.form = cvl::Form::Constant;
  constant.length = 3;
  CHECK(line(backend, constant) == "( T T T )\n");
}

TEST_CASE("long vectors go through a buffer of fixed size") {
  HostBackend backend;
  cvl::Vector numbers;
  numbers.form = cvl::Form::Progression;
  numbers.length = 1'000'000;
  numbers.inline_elements<std::int64_t>()[1] = 1;
  std::string expected = "(";
  for (int i = 0; i < 1'000'000; ++i) expected += ' ' + std::to_string(i);
  expected += " )\n";

  std::string printed;
  std::size_t longest = 0;
  vinterp::write_value(backend, numbers, [&](std::string_view text) {
    longest = std::max(longest, text.size());
    printed += text;
    return true;
  });
  CHECK((printed == expected));
  CHECK(longest <= 64 * 1024);
  CHECK(backend.greatest_download <= 64 * 1024);
}

TEST_CASE("a sink that refuses text ends the printing") {
  HostBackend backend;
  cvl::Vector numbers;
  numbers.form = cvl::Form::Progression;
  numbers.length = 1'000'000'000;
  int calls = 0;
  CHECK_FALSE(vinterp::write_value(backend, numbers, [&](std::string_view) {
    ++calls;
    return false;
  }));
  CHECK(calls == 1);
  CHECK_FALSE(vinterp::write_value(backend, cvl::Segdes::regular(1'000'000'000, 2),
                                   [](std::string_view) { return false; }));
}

TEST_CASE("characters are the low bytes of the codes") {
  HostBackend backend;
  std::string text;
  vinterp::write_characters(backend, backend.ints({72, 105, 256 + 33, -1}),
                            [&](std::string_view piece) {
                              text += piece;
                              return true;
                            });
  CHECK(text == "Hi!\xff");
}

TEST_CASE("values are shortened for traces") {
  HostBackend backend;
  const cvl::Vector numbers = backend.ints({1, 2, 3, 4, 5});
  CHECK(vinterp::shortened(backend, numbers, 3) == "( 1 2 3 ... 5 elements )");
  CHECK(vinterp::shortened(backend, numbers, 5) == "( 1 2 3 4 5 )");
  CHECK(vinterp::shortened(backend, numbers, 0) == "( ... 5 elements )");
  CHECK(vinterp::shortened(backend, backend.segdes({4, 5, 6}), 2) == "[ 4 5 ... 3 segments ]");
  CHECK(vinterp::shortened(backend, cvl::make_pair(numbers, numbers), 2) == "pair(Int,Int) ");
}

}  // namespace
