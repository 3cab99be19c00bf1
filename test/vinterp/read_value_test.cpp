#include "machine/read_value.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <catch2/catch.hpp>

#include "cvl/failure.hpp"
#include "host_backend.hpp"
#include "machine/format.hpp"
#include "machine/streams.hpp"
#include "temporary_file.hpp"

namespace {

using vcode::Type;
using vinterp_test::HostBackend;

/// An input with a given text, and what reading gives.
struct Input {
  explicit Input(std::string_view text, cvl::Widths widths = {})
      : backend(widths), file(vinterp_test::file_with(text)), buffer(file.get()) {}

  /// The text of the value read; failures are marked with a !.
  std::string read(Type type) {
    const vinterp::ReadResult result = vinterp::read_value(backend, type, buffer);
    CHECK(result.value.type() == vcode::value_type(type));
    error = result.error;
    const std::string text = vinterp::shortened(backend, result.value, 100);
    return result.error.empty() ? text : '!' + text;
  }
  std::string rest() {
    std::string text;
    buffer.begin();
    for (int c = buffer.get(); c != vinterp::InputBuffer::kEnd; c = buffer.get()) {
      text += static_cast<char>(c);
    }
    return text;
  }

  HostBackend backend;
  vinterp::FileDescriptor file;
  vinterp::InputBuffer buffer;
  std::string error;
};

std::string read_one(Type type, std::string_view text, cvl::Widths widths = {}) {
  return Input(text, widths).read(type);
}

TEST_CASE("integer vectors") {
  CHECK(read_one(Type::Int, "( 1 -2 +3 )") == "( 1 -2 3 )");
  CHECK(read_one(Type::Int, "(1 2 3)") == "( 1 2 3 )");
  CHECK(read_one(Type::Int, " \t\n\v\f\r(1\v2\f3\r)") == "( 1 2 3 )");
  CHECK(read_one(Type::Int, "()") == "( )");
  CHECK(read_one(Type::Int, "(  )") == "( )");
  CHECK(read_one(Type::Int, "(007 -0)") == "( 7 0 )");
}

TEST_CASE("integers wrap to the width of the run") {
  CHECK(read_one(Type::Int, "(2147483648 4294967297 -2147483649)") ==
        "( -2147483648 1 2147483647 )");
  CHECK(read_one(Type::Int, "(2147483648 9223372036854775808 18446744073709551617)", {8, 8}) ==
        "( 2147483648 -9223372036854775808 1 )");
}

TEST_CASE("only a blank or the closing bracket may follow an integer") {
  for (const char* text : {"(1,2 )", "( 1.5 )", "(1 2x)", "(1-2)", "( - )", "( + 1)", "(x)", "(1(",
                           "[1]", "1 2", "(1 2", "", "(", "(1"}) {
    INFO(text);
    CHECK(read_one(Type::Int, text) == "!( )");
  }
}

TEST_CASE("reading stops right behind the closing character") {
  Input input("(1 2)(3)\n rest");
  CHECK(input.read(Type::Int) == "( 1 2 )");
  CHECK(input.read(Type::Int) == "( 3 )");
  CHECK(input.rest() == "\n rest");
}

TEST_CASE("a failure uses up the offending character") {
  const auto rest_after = [](Type type, std::string_view text) {
    Input input(text);
    CHECK(input.read(type).front() == '!');
    return input.rest();
  };
  CHECK(rest_after(Type::Int, "  7 (1)") == " (1)");
  CHECK(rest_after(Type::Int, "(1,2)") == "2)");
  CHECK(rest_after(Type::Int, "(-x)") == ")");
  CHECK(rest_after(Type::Float, "( 1.5 xyz)") == "yz)");
  CHECK(rest_after(Type::Float, "( infin )") == ")");
  CHECK(rest_after(Type::Float, "( 1e+) 2") == " 2");
  CHECK(rest_after(Type::Bool, "(TxF)") == "F)");
  CHECK(rest_after(Type::Segdes, "(1)") == "1)");
  CHECK(rest_after(Type::Char, "abc") == "bc");
}

TEST_CASE("messages say what was expected and found") {
  Input input("7");
  input.read(Type::Int);
  CHECK(input.error == "input error: vector must start with (, found '7'");
  input.read(Type::Segdes);
  CHECK(input.error == "input error: vector must start with [, found the end of the input");
  Input control("(1 \x01");
  control.read(Type::Int);
  CHECK(control.error == "input error: vector must end with ), found character 1");
}

TEST_CASE("float vectors take what scanf takes") {
  CHECK(read_one(Type::Float, "( 1.5 -2 3e4 .5 5. +1E-2)") ==
        "( 1.50000000000000e+00 -2.00000000000000e+00 3.00000000000000e+04 5.00000000000000e-01 "
        "5.00000000000000e+00 1.00000000000000e-02 )");
  CHECK(read_one(Type::Float, "(inf -INF Infinity -infinity nan NaN -nan)") ==
        "( inf -inf inf -inf nan nan nan )");
  CHECK(read_one(Type::Float, "(0x10 0X.8p1 -0x1p-1 0)") ==
        "( 1.60000000000000e+01 1.00000000000000e+00 -5.00000000000000e-01 "
        "0.00000000000000e+00 )");
  CHECK(read_one(Type::Float, "(1e400 -1e400 1e-400)") == "( inf -inf 0.00000000000000e+00 )");
  CHECK(read_one(Type::Float, "()") == "( )");
  CHECK(read_one(Type::Float, "(0.5)", {4, 4}) == "( 5.00000000000000e-01 )");
}

TEST_CASE("incomplete floats are failures") {
  for (const char* text : {"(.)", "(1e)", "(1e+)", "(0x)", "(0x1p)", "(- )", "(i)", "(infi)",
                           "(na)", "(1.5.2)", "(1,2)", "(1.5", "(1f)", "(--1)"}) {
    INFO(text);
    CHECK(read_one(Type::Float, text) == "!( )");
  }
}

TEST_CASE("a number of any length is read") {
  std::string text = "(" + std::string(100'000, '0') + "1." + std::string(100'000, '0') + "e0)";
  CHECK(read_one(Type::Float, text) == "( 1.00000000000000e+00 )");
  CHECK(read_one(Type::Int, "(" + std::string(100'000, '0') + "5)") == "( 5 )");
}

TEST_CASE("boolean vectors") {
  CHECK(read_one(Type::Bool, "( T F\tT )") == "( T F T )");
  CHECK(read_one(Type::Bool, "(TF\v\r\fT)") == "( T F T )");
  CHECK(read_one(Type::Bool, "()") == "( )");
  CHECK(read_one(Type::Bool, "(t)") == "!( )");
  CHECK(read_one(Type::Bool, "(T") == "!( )");
}

TEST_CASE("segment descriptors") {
  CHECK(read_one(Type::Segdes, " [ 2 0 3 ]") == "[ 2 0 3 ]");
  CHECK(read_one(Type::Segdes, "[]") == "[ ]");
  CHECK(read_one(Type::Segdes, "[2 0 3]") == "[ 2 0 3 ]");
  CHECK(read_one(Type::Segdes, "[ 2 a") == "![ ]");
  CHECK(read_one(Type::Segdes, "[2)") == "![ ]");
  CHECK(read_one(Type::Segdes, "") == "![ ]");
}

TEST_CASE("negative or huge segment lengths are failures, and the input stays in step") {
  Input input("[2 -1 3] [4]");
  CHECK(input.read(Type::Segdes) == "![ ]");
  CHECK(input.error == "input error: a segment length is negative");
  CHECK(input.read(Type::Segdes) == "[ 4 ]");
  CHECK(read_one(Type::Segdes, "[9223372036854775807 1]", {8, 8}) == "![ ]");
}

TEST_CASE("strings reach up to the next quote") {
  CHECK(read_one(Type::Char, "\"\"") == "( )");
  CHECK(read_one(Type::Char, " \"a\n\\\"") == "( 97 10 92 )");
  CHECK(read_one(Type::Char, "\"\xc3\xa4\"") == "( 195 164 )");
  Input open("\"abc");
  CHECK(open.read(Type::Char) == "!( )");
  CHECK(open.error == "input error: vector must end with \", found the end of the input");
}

TEST_CASE("vectors longer than every buffer") {
  std::string text = "(";
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i) + ' ';
  Input input(text + ") (7)");
  const vinterp::ReadResult result = vinterp::read_value(input.backend, Type::Int, input.buffer);
  REQUIRE(result.error.empty());
  const std::vector<std::int64_t> numbers = input.backend.elements(result.value.vector());
  REQUIRE(numbers.size() == 200'000);
  CHECK(numbers.front() == 0);
  CHECK(numbers.back() == 199'999);
  CHECK(input.read(Type::Int) == "( 7 )");
  CHECK(input.backend.heap().statistics().charged_bytes == 0);
}

TEST_CASE("input beyond the memory limit is an error") {
  HostBackend backend({}, std::size_t{1} << 20);
  const vinterp::FileDescriptor file =
      vinterp_test::file_with('"' + std::string(1'000'000, 'x') + '"');
  vinterp::InputBuffer input(file.get());
  CHECK_THROWS_AS(vinterp::read_value(backend, Type::Char, input), cvl::Failure);
  CHECK(backend.heap().statistics().charged_bytes == 0);
}

TEST_CASE("what the operating system refuses is reported with its text") {
  const vinterp::FileDescriptor directory = vinterp::open_file("/", vinterp::FileMode::Read);
  vinterp::InputBuffer input(directory.get());
  HostBackend backend;
  CHECK(vinterp::read_value(backend, Type::Int, input).error == "Is a directory");
}

}  // namespace
