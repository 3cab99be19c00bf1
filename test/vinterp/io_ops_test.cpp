#include "machine/io_ops.hpp"

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl/failure.hpp"
#include "host_backend.hpp"
#include "machine/format.hpp"
#include "machine/tuning.hpp"
#include "temporary_file.hpp"

namespace {

using vcode::ErrorCode;
using vcode::Op;
using vcode::Type;
using vinterp::FileDescriptor;
using vinterp_test::content_of;
using vinterp_test::file_with;
using Values = std::vector<cvl::Value>;

/// Operations on files in place of the standard streams.
class Fixture {
 public:
  explicit Fixture(std::string_view input = "", vinterp::IoOptions options = {},
                   cvl::Widths widths = {})
      : backend(widths),
        out_(file_with("")),
        err_(file_with("")),
        io(backend, options,
           vinterp::StreamTable(file_with(input).release(), ::dup(out_.get()), ::dup(err_.get()))) {
  }

  /// Runs an operation and checks that the results have the types of the table.
  Values run(Op op, Type type, Values operands) {
    const std::string_view letters = vcode::info(op).results;
    Values results(letters.size());
    io.execute(op, type, operands.data(), results.data());
    for (std::size_t i = 0; i < letters.size(); ++i) {
      CHECK(results[i].type() == vcode::value_type(*vcode::operand_type(letters[i], type)));
    }
    const cvl::Vector& error = results[results.size() - 2].vector();
    CHECK((error.length == 0) == cvl::read_bool(backend, results.back().vector()));
    return results;
  }
  Values run(Op op, Values operands) { return run(op, Type::Int, std::move(operands)); }

  /// The results as text, the error text replaced by a dash.
  std::string text(const Values& results) {
    std::string all;
    for (std::size_t i = 0; i < results.size(); ++i) {
      all += i + 2 == results.size() ? "-" : vinterp::shortened(backend, results[i], 100);
      if (i + 1 < results.size()) all += ' ';
    }
    return all;
  }
  std::string error_of(const Values& results) {
    return backend.text(results[results.size() - 2].vector());
  }
  /// The code of the failure that an operation throws.
  ErrorCode failure(Op op, Type type, Values operands) {
    try {
      run(op, type, std::move(operands));
    } catch (const cvl::Failure& failure) {
      return failure.code();
    }
    FAIL("no failure");
    return {};
  }

  cvl::Vector number(std::int64_t n) { return backend.integer(n); }
  std::string written() { return content_of(out_.get()); }
  std::string errors() { return content_of(err_.get()); }

  vinterp_test::HostBackend backend;

 private:
  FileDescriptor out_, err_;

 public:
  vinterp::IoOperations io;
  vinterp_test::TemporaryDirectory directory;

  std::int64_t open(const std::string& name, int mode) {
    const Values results =
        run(Op::FOpen, {backend.string(directory.file(name)), backend.integer(mode)});
    return cvl::read_int(backend, results[0].vector());
  }
};

TEST_CASE("READ reads standard input") {
  Fixture f("(1 2 3) [2 0] \"ab\" (T) x");
  CHECK(f.text(f.run(Op::Read, Type::Int, {})) == "( 1 2 3 ) - ( T )");
  CHECK(f.text(f.run(Op::Read, Type::Segdes, {})) == "[ 2 0 ] - ( T )");
  CHECK(f.text(f.run(Op::Read, Type::Char, {})) == "( 97 98 ) - ( T )");
  CHECK(f.text(f.run(Op::Read, Type::Bool, {})) == "( T ) - ( T )");
  CHECK(f.text(f.run(Op::Read, Type::Float, {})) == "( ) - ( F )");
  CHECK(f.text(f.run(Op::Read, Type::Segdes, {})) == "[ ] - ( F )");
  CHECK(f.errors().empty());  // prompts are for terminals only
}

TEST_CASE("WRITE goes to standard error, by the type of the value") {
  Fixture f;
  CHECK(f.text(f.run(Op::Write, Type::Int, {f.backend.floats({1.5})})) == "- ( T )");
  f.run(Op::Write, Type::Float, {f.backend.segdes({2, 0})});
  f.run(Op::Write, Type::Char, {f.backend.string("text")});
  CHECK(f.errors() == "( 1.50000000000000e+00 )\n[ 2 0 ]\ntext");
  CHECK(f.written().empty());
}

TEST_CASE("what cannot be written is a run-time error") {
  Fixture f;
  const cvl::Value pair = cvl::make_pair(f.number(1), f.number(2));
  CHECK(f.failure(Op::Write, Type::Int, {pair}) == ErrorCode::TypeMismatch);
  CHECK(f.failure(Op::FWrite, Type::Int, {pair, f.number(77)}) == ErrorCode::TypeMismatch);
  CHECK(f.failure(Op::Write, Type::Char, {f.backend.floats({1})}) == ErrorCode::TypeMismatch);
  CHECK(f.failure(Op::Write, Type::Char, {f.backend.segdes({1})}) == ErrorCode::TypeMismatch);
}

TEST_CASE("files: write, append, read") {
  Fixture f;
  REQUIRE(f.open("file", 2) == 3);
  CHECK(f.text(f.run(Op::FWrite, {f.backend.ints({1, -2, 3}), f.number(3)})) == "- ( T )");
  CHECK(f.text(f.run(Op::FClose, {f.number(3)})) == "- ( T )");
  REQUIRE(f.open("file", 3) == 3);
  f.run(Op::FWrite, Type::Bool, {f.backend.bools({1, 0}), f.number(3)});
  f.run(Op::FClose, {f.number(3)});
  REQUIRE(f.open("file", 1) == 3);
  CHECK(f.text(f.run(Op::FRead, Type::Int, {f.number(3)})) == "( 1 -2 3 ) - ( T )");
  CHECK(f.text(f.run(Op::FRead, Type::Bool, {f.number(3)})) == "( T F ) - ( T )");
  CHECK(f.text(f.run(Op::FRead, Type::Int, {f.number(3)})) == "( ) - ( F )");
}

TEST_CASE("what is inserted stands before the last line, which stays") {
  Fixture f;
  const auto write = [&](int mode, const std::vector<std::string>& texts) {
    const std::int64_t file = f.open("file", mode);
    for (const std::string& text : texts) {
      f.run(Op::FWrite, Type::Char, {f.backend.string(text), f.number(file)});
    }
    f.run(Op::FClose, {f.number(file)});
  };
  const auto content = [&] {
    std::ifstream file(f.directory.file("file"));
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  CHECK(f.open("file", 4) == -1);  // nothing is created
  write(2, {""});
  write(4, {"1\n", "2\n"});
  CHECK(content() == "1\n2\n");
  write(4, {"a\n"});
  CHECK(content() == "1\na\n2\n");
  write(4, {"b\n", "", "c\n"});
  CHECK(content() == "1\na\nb\nc\n2\n");
  write(2, {"only"});
  write(4, {"x\n", "y\n"});
  CHECK(content() == "x\ny\nonly");
  write(2, {std::string(100000, 'x') + "\nlast\n"});
  write(4, {std::string(100000, 'y') + "\n", "z\n"});
  CHECK(content() == std::string(100000, 'x') + "\n" + std::string(100000, 'y') + "\nz\nlast\n");
  write(2, {"begin\n" + std::string(100000, 'x')});
  CHECK(f.open("file", 4) == -1);  // the last line is too long to be kept
}

TEST_CASE("what is inserted is in the file at once") {
  Fixture f;
  const std::int64_t file = f.open("file", 2);
  f.run(Op::FWrite, Type::Char, {f.backend.string("begin\nend\n"), f.number(file)});
  const std::int64_t same = f.open("file", 4);
  for (const std::string text : {"1\n", "2\n"}) {
    f.run(Op::FWrite, Type::Char, {f.backend.string(text), f.number(same)});
    std::ifstream read(f.directory.file("file"));
    const std::string content(std::istreambuf_iterator<char>(read), {});
    CHECK(content.starts_with("begin\n1\n"));
    CHECK(content.ends_with(text + "end\n"));
  }
}

TEST_CASE("streams that do not fit the operation fail with F") {
  Fixture f;
  CHECK(f.open("missing/file", 1) == -1);
  const std::int64_t file = f.open("file", 2);
  CHECK(f.text(f.run(Op::FRead, Type::Int, {f.number(file)})) == "( ) - ( F )");
  CHECK(f.text(f.run(Op::FRead, Type::Int, {f.number(1)})) == "( ) - ( F )");
  CHECK(f.text(f.run(Op::FWrite, {f.number(5), f.number(0)})) == "- ( F )");
  for (const std::int64_t number : {77, -2, INT32_MAX, INT32_MIN}) {
    CHECK(f.text(f.run(Op::FRead, Type::Float, {f.number(number)})) == "( ) - ( F )");
    CHECK(f.text(f.run(Op::FRead, Type::Segdes, {f.number(number)})) == "[ ] - ( F )");
    CHECK(f.text(f.run(Op::FRead, Type::Char, {f.number(number)})) == "( ) - ( F )");
    CHECK(f.text(f.run(Op::FWrite, {f.number(5), f.number(number)})) == "- ( F )");
    CHECK(f.text(f.run(Op::FClose, {f.number(number)})) == "- ( F )");
    CHECK(f.text(f.run(Op::FReadChar, {f.backend.string(""), f.number(4), f.number(number)})) ==
          "( ) ( ) - ( F )");
  }
}

TEST_CASE("FREAD_NUMBERS and FWRITE_NUMBERS") {
  Fixture f;
  const std::int64_t out = f.open("file", 2);
  const auto form = [&](const char* name) { return f.backend.string(name); };
  CHECK(f.text(f.run(Op::FWriteNumbers, Type::Int,
                     {f.backend.ints({5, -6, 7}), form("text"), f.number(out)})) == "- ( T )");
  CHECK(f.error_of(f.run(Op::FWriteNumbers, Type::Int,
                         {f.backend.ints({300}), form("<i1"), f.number(out)})) ==
        "300 does not fit 8 bits");
  f.run(Op::FClose, {f.number(out)});
  const std::int64_t in = f.open("file", 1);
  const auto read = [&](const char* name, std::int64_t most, std::int64_t stream) {
    return f.run(Op::FReadNumbers, Type::Int, {form(name), f.number(most), f.number(stream)});
  };
  CHECK(f.text(read("text", 2, in)) == "( 5 -6 ) ( -2 ) - ( T )");
  CHECK(f.text(read("text", 2, in)) == "( 7 ) ( -1 ) - ( T )");
  CHECK(f.error_of(read("<f8", 2, in)) == "`<f8` is no form of integers, as `text` and `<i4` are");
  CHECK(f.text(read("text", 2, 77)) == "( ) ( -1 ) - ( F )");
  CHECK(f.error_of(read("text", 2, 1)) == "stream 1 is not open for reading");
  CHECK(f.error_of(f.run(Op::FWriteNumbers, Type::Float,
                         {f.backend.floats({1.0}), form("text"), f.number(in)})) ==
        "stream " + std::to_string(in) + " is not open for writing");
  CHECK(f.error_of(f.run(Op::FWriteNumbers, Type::Float,
                         {f.backend.floats({1.0}), form("<i8"), f.number(1)})) ==
        "`<i8` is no form of floats, as `text` and `<f8` are");
  CHECK(f.io.can_be_repeated() == false);  // a file has been written in its place
}

TEST_CASE("error texts are those of the operating system") {
  Fixture f;
  const Values missing = f.run(Op::FOpen, {f.backend.string("no-such-dir/x"), f.number(1)});
  CHECK(f.text(missing) == "( -1 ) - ( F )");
  CHECK(f.error_of(missing) == "No such file or directory");
  const Values directory = f.run(Op::FOpen, {f.backend.string("/"), f.number(1)});
  CHECK(f.error_of(f.run(Op::FRead, Type::Int, {directory[0]})) == "Is a directory");
  CHECK(f.error_of(f.run(Op::FReadChar, {f.backend.string(""), f.number(9), directory[0]})) ==
        "Is a directory");
  const Values full = f.run(Op::FOpen, {f.backend.string("/dev/full"), f.number(2)});
  CHECK(f.error_of(f.run(Op::FWrite, {f.number(1), full[0]})) == "No space left on device");
}

TEST_CASE("NULL_STREAM") {
  Fixture f;
  CHECK(f.text(f.run(Op::FRead, Type::Int, {f.number(-1)})) == "( ) - ( T )");
  CHECK(f.text(f.run(Op::FRead, Type::Char, {f.number(-1)})) == "( ) - ( T )");
  CHECK(f.text(f.run(Op::FRead, Type::Segdes, {f.number(-1)})) == "[ ] - ( T )");
  CHECK(f.text(f.run(Op::FClose, {f.number(-1)})) == "- ( T )");
  CHECK(f.text(f.run(Op::FWrite, {f.number(3), f.number(-1)})) == "- ( F )");
}

TEST_CASE("operands of the wrong form are run-time errors") {
  Fixture f;
  const cvl::Vector two = f.backend.ints({1, 2});
  const cvl::Vector none = f.backend.ints({});
  CHECK(f.failure(Op::FClose, Type::Int, {two}) == ErrorCode::NotAScalar);
  CHECK(f.failure(Op::FRead, Type::Int, {none}) == ErrorCode::NotAScalar);
  CHECK(f.failure(Op::FWrite, Type::Int, {two, two}) == ErrorCode::NotAScalar);
  CHECK(f.failure(Op::FOpen, Type::Int, {f.backend.string("x"), two}) == ErrorCode::NotAScalar);
  CHECK(f.failure(Op::FReadChar, Type::Int, {two, two, f.number(0)}) == ErrorCode::NotAScalar);
  CHECK(f.failure(Op::FReadChar, Type::Int, {two, f.number(0), none}) == ErrorCode::NotAScalar);
  CHECK(
      f.failure(Op::Spawn, Type::Int, {f.backend.string("true"), f.number(0), two, f.number(2)}) ==
      ErrorCode::NotAScalar);
  for (const std::int64_t mode : {0, 6, -1}) {
    CHECK(f.failure(Op::FOpen, Type::Int, {f.backend.string("x"), f.number(mode)}) ==
          ErrorCode::BadFileMode);
  }
}

TEST_CASE("FOPEN 5: a file appears when it is closed") {
  Fixture f;
  const std::string made = f.directory.file("made");
  const auto exists = [](const std::string& name) { return std::ifstream(name).good(); };
  const std::int64_t out = f.open("made", 5);
  f.run(Op::FWrite, Type::Int, {f.backend.ints({1, 2}), f.number(out)});
  CHECK_FALSE(exists(made));
  CHECK(f.io.can_be_repeated());
  f.run(Op::FClose, {f.number(out)});
  CHECK(exists(made));
  CHECK_FALSE(f.io.can_be_repeated());
  const std::int64_t again = f.open("made", 5);
  f.run(Op::FWrite, Type::Int, {f.backend.ints({3}), f.number(again)});
  CHECK(content_of(vinterp::open_file(made, vinterp::FileMode::Read).get()) == "( 1 2 )\n");
  CHECK(f.error_of(f.run(Op::FOpen, {f.backend.string("no-such-dir/x"), f.number(5)})) ==
        "No such file or directory");
}

TEST_CASE("what shows outside cannot be repeated") {
  const auto repeatable_after = [](Op op, const auto& operands) {
    Fixture f("text");
    f.run(op, operands(f));
    return f.io.can_be_repeated();
  };
  CHECK_FALSE(repeatable_after(Op::Read, [](Fixture&) { return Values{}; }));
  CHECK_FALSE(repeatable_after(Op::FReadChar, [](Fixture& f) {
    return Values{f.backend.string(""), f.number(2), f.number(0)};
  }));
  CHECK_FALSE(repeatable_after(Op::FWrite, [](Fixture& f) {
    return Values{f.number(7), f.number(1)};
  }));
  CHECK_FALSE(repeatable_after(Op::FOpen, [](Fixture& f) {
    return Values{f.backend.string(f.directory.file("x")), f.number(2)};
  }));
  CHECK_FALSE(repeatable_after(Op::FOpen, [](Fixture& f) {
    return Values{f.backend.string("/dev/null"), f.number(1)};
  }));
  CHECK(repeatable_after(Op::FOpen, [](Fixture& f) {
    return Values{f.backend.string("/etc/passwd"), f.number(1)};
  }));
}

TEST_CASE("FREAD_CHAR: maximum, end of file and delimiters, in this order") {
  Fixture f("hello world\nxy");
  const auto read = [&](std::string_view delimiters, std::int64_t maximum) {
    return f.run(Op::FReadChar, {f.backend.string(delimiters), f.number(maximum), f.number(0)});
  };
  const auto check = [&](const Values& results, std::string_view characters, std::int64_t status) {
    CHECK(f.backend.text(results[0].vector()) == characters);
    CHECK(cvl::read_int(f.backend, results[1].vector()) == status);
    CHECK(cvl::read_bool(f.backend, results[3].vector()));
  };
  check(read(" w", -1), "hello", ' ');
  check(read("", 0), "", -2);
  check(read("w", 10), "", 'w');
  check(read("x", 3), "orl", -2);
  check(read("", -1), "d\nxy", -1);
  check(read("", 5), "", -1);
  check(read("", 0), "", -2);

  Fixture exact("ab");
  const auto rest = [&] {
    return exact.text(
        exact.run(Op::FReadChar, {exact.backend.string(""), exact.number(2), exact.number(0)}));
  };
  CHECK(rest() == "( 97 98 ) ( -2 ) - ( T )");
  CHECK(rest() == "( ) ( -1 ) - ( T )");
}

TEST_CASE("texts longer than the buffer of a stream") {
  const auto room = static_cast<std::size_t>(vinterp::tuning.input_bytes);
  std::string text;
  while (text.size() < 3 * room + 7) text += static_cast<char>('a' + text.size() % 23);
  const auto rest_of = [](Fixture& f, std::int64_t maximum, std::string_view delimiters) {
    const Values results =
        f.run(Op::FReadChar, {f.backend.string(delimiters), f.number(maximum), f.number(0)});
    return std::pair(f.backend.text(results[0].vector()),
                     cvl::read_int(f.backend, results[1].vector()));
  };
  Fixture whole(text);
  CHECK(rest_of(whole, -1, "") == std::pair(text, std::int64_t{-1}));
  CHECK(rest_of(whole, -1, "") == std::pair(std::string(), std::int64_t{-1}));

  // Pieces that end within a buffer, at its end, and behind it.
  Fixture pieces(text);
  std::size_t begin = 0;
  for (const std::size_t length : {room - 1, std::size_t{1}, room, room + 2}) {
    CHECK(rest_of(pieces, static_cast<std::int64_t>(length), "") ==
          std::pair(text.substr(begin, length), std::int64_t{-2}));
    begin += length;
  }
  CHECK(rest_of(pieces, -1, "") == std::pair(text.substr(begin), std::int64_t{-1}));

  for (const std::size_t place : {room - 1, room, 2 * room + 3}) {
    std::string marked = text;
    marked[place] = '!';
    Fixture f(marked);
    CHECK(rest_of(f, -1, "!?") == std::pair(text.substr(0, place), std::int64_t{'!'}));
    CHECK(rest_of(f, -1, "!?") == std::pair(text.substr(place + 1), std::int64_t{-1}));
  }

  Fixture quoted('"' + text + "\" 5");
  const Values string = quoted.run(Op::FRead, Type::Char, {quoted.number(0)});
  CHECK(quoted.backend.text(string[0].vector()) == text);
}

TEST_CASE("FREAD_CHAR delivers bytes as 0 to 255, in both widths of INT") {
  for (const cvl::Widths widths : {cvl::Widths{4, 8}, cvl::Widths{8, 8}}) {
    Fixture f(std::string_view("\xc3\x00z", 3), {}, widths);
    CHECK(f.text(f.run(Op::FReadChar, {f.backend.string("z"), f.number(-1), f.number(0)})) ==
          "( 195 0 ) ( 122 ) - ( T )");
  }
}

TEST_CASE("FREAD_CHAR of a stream open for writing is at its end") {
  Fixture f;
  CHECK(f.text(f.run(Op::FReadChar, {f.backend.string(""), f.number(3), f.number(1)})) ==
        "( ) ( -1 ) - ( T )");
  CHECK(f.text(f.run(Op::FReadChar, {f.backend.string(""), f.number(0), f.number(1)})) ==
        "( ) ( -2 ) - ( T )");
}

TEST_CASE("delimiters that are no characters never match, or are errors under -c") {
  Fixture f("a");
  const cvl::Vector delimiters = f.backend.ints({256 + 'a', -159, 1000});
  CHECK(f.text(f.run(Op::FReadChar, {delimiters, f.number(-1), f.number(0)})) ==
        "( 97 ) ( -1 ) - ( T )");
  Fixture strict("a", {.sandbox = false, .strict = true});
  CHECK(
      strict.failure(Op::FReadChar, Type::Int, {delimiters, strict.number(-1), strict.number(0)}) ==
      ErrorCode::BadDelimiter);
  CHECK(strict.failure(Op::FReadChar, Type::Int,
                       {strict.backend.ints({-1}), strict.number(-1), strict.number(0)}) ==
        ErrorCode::BadDelimiter);
}

TEST_CASE("SPAWN with pipes") {
  Fixture f;
  const Values spawned =
      f.run(Op::Spawn, {f.backend.string("cat"), f.number(-1), f.number(-1), f.number(-1)});
  CHECK(f.text(spawned) == "( 5 ) ( 4 ) ( 3 ) - ( T )");
  CHECK(f.text(f.run(Op::FWrite, Type::Char, {f.backend.string("piped"), f.number(3)})) ==
        "- ( T )");
  f.run(Op::FClose, {f.number(3)});
  CHECK(f.text(f.run(Op::FReadChar, {f.backend.string(""), f.number(-1), f.number(4)})) ==
        "( 112 105 112 101 100 ) ( -1 ) - ( T )");
}

TEST_CASE("SPAWN on open streams returns their numbers") {
  Fixture f("input");
  const Values spawned =
      f.run(Op::Spawn, {f.backend.string("cat"), f.number(0), f.number(1), f.number(-1)});
  CHECK(f.text(spawned) == "( 3 ) ( 1 ) ( 0 ) - ( T )");
  // The end of the child's errors comes with the end of the child.
  f.run(Op::FReadChar, {f.backend.string(""), f.number(-1), f.number(3)});
  CHECK(f.written() == "input");
}

TEST_CASE("SPAWN of a program that cannot be executed succeeds and says so on its errors") {
  Fixture f;
  CHECK(f.text(f.run(Op::Spawn, {f.backend.string("no-such-program x"), f.number(0), f.number(1),
                                 f.number(-1)})) == "( 3 ) ( 1 ) ( 0 ) - ( T )");
  const Values said = f.run(Op::FReadChar, {f.backend.string("\n"), f.number(-1), f.number(3)});
  CHECK(f.backend.text(said[0].vector()) ==
        "vinterp: cannot execute no-such-program: No such file or directory");
}

TEST_CASE("SPAWN with invalid streams or without a command fails") {
  Fixture f;
  CHECK(f.text(f.run(Op::Spawn, {f.backend.string("echo"), f.number(0), f.number(77),
                                 f.number(-5)})) == "( -2 ) ( -2 ) ( 0 ) - ( F )");
  CHECK(f.text(f.run(Op::Spawn, {f.backend.string("echo"), f.number(77), f.number(-1),
                                 f.number(2)})) == "( 2 ) ( -1 ) ( -2 ) - ( F )");
  CHECK(f.text(f.run(Op::Spawn, {f.backend.string(" "), f.number(0), f.number(1), f.number(2)})) ==
        "( 2 ) ( 1 ) ( 0 ) - ( F )");
  CHECK(f.open("next", 2) == 3);  // no number was lost
}

TEST_CASE("writing to a child that is gone fails with F") {
  Fixture f;
  vinterp::prepare_standard_streams();
  f.run(Op::Spawn, {f.backend.string("true"), f.number(-1), f.number(-1), f.number(2)});
  std::string error;
  for (int i = 0; i < 1000 && error.empty(); ++i) {  // until the child has ended
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    error = f.error_of(f.run(Op::FWrite, {f.number(1), f.number(3)}));
  }
  CHECK(error == "Broken pipe");
}

TEST_CASE("a sandbox refuses files and processes, not the standard streams") {
  Fixture f("(1)", {.sandbox = true, .strict = false});
  CHECK(f.failure(Op::FOpen, Type::Int, {f.backend.string("x"), f.number(1)}) ==
        ErrorCode::Sandboxed);
  CHECK(f.failure(Op::Spawn, Type::Int,
                  {f.backend.string("true"), f.number(0), f.number(1), f.number(2)}) ==
        ErrorCode::Sandboxed);
  CHECK(f.text(f.run(Op::Read, Type::Int, {})) == "( 1 ) - ( T )");
  CHECK(f.text(f.run(Op::Write, Type::Int, {f.number(1)})) == "- ( T )");
}

TEST_CASE("results are printed behind what the program wrote") {
  Fixture f;
  f.run(Op::FWrite, {f.number(1), f.number(1)});
  f.io.print(f.number(2));
  f.io.print(f.backend.string(""));
  f.io.flush();
  CHECK(f.written() == "( 1 )\n( 2 )\n( )\n");
}

TEST_CASE("results are lost with standard output") {
  Fixture f;
  f.run(Op::FClose, {f.number(1)});
  CHECK_NOTHROW(f.io.print(f.number(2)));
  CHECK_NOTHROW(f.io.flush());
  CHECK(f.written().empty());
}

TEST_CASE("results that cannot be written are an error") {
  vinterp_test::HostBackend backend;
  FileDescriptor full = vinterp::open_file("/dev/full", vinterp::FileMode::Write);
  vinterp::IoOperations io(
      backend, {},
      vinterp::StreamTable(file_with("").release(), full.release(), file_with("").release()));
  io.print(backend.integer(1));
  try {
    io.flush();
    FAIL("no failure");
  } catch (const cvl::Failure& failure) {
    CHECK(failure.code() == ErrorCode::OutputFailed);
  }
}

}  // namespace
