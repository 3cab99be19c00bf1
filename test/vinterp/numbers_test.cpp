#include "machine/numbers.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "host_backend.hpp"
#include "machine/file_descriptor.hpp"
#include "machine/streams.hpp"
#include "temporary_file.hpp"

namespace {

using vcode::Type;
using vinterp::NumberForm;
using vinterp::NumbersRead;

constexpr cvl::Widths kWide{.int_bytes = 8, .float_bytes = 8};

/// A file whose numbers are read a few at a time.
class Reader {
 public:
  Reader(std::string_view content, const char* form, cvl::Widths widths = kWide)
      : backend(widths),
        form_(*NumberForm::named(form)),
        fd_(vinterp_test::file_with(content)),
        input_(fd_.get()) {}

  NumbersRead read(Type type, std::int64_t most) {
    input_.begin();
    return vinterp::read_numbers(backend, type, form_, most, input_, place_);
  }
  std::vector<std::int64_t> ints(std::int64_t most) {
    const NumbersRead found = read(Type::Int, most);
    CHECK(found.error.empty());
    ended = found.ended;
    return backend.elements(found.values);
  }
  std::string error(Type type) {
    const NumbersRead found = read(type, 100);
    CHECK(found.values.length == 0);
    return found.error;
  }

  vinterp_test::HostBackend backend;
  bool ended = false;

 private:
  NumberForm form_;
  vinterp::FileDescriptor fd_;
  vinterp::InputBuffer input_;
  vinterp::NumberPlace place_;
};

std::vector<double> floats_of(vinterp_test::HostBackend& backend, const cvl::Vector& vector) {
  std::vector<double> numbers(static_cast<std::size_t>(vector.length));
  backend.download(vector, 0, vector.length, numbers.data());
  return numbers;
}

struct Written {
  std::string text, error;
};

Written written(vinterp_test::HostBackend& backend, const cvl::Vector& vector, const char* form) {
  Written result;
  result.error =
      vinterp::write_numbers(backend, vector, *NumberForm::named(form), [&](std::string_view text) {
        result.text += text;
        return true;
      });
  return result;
}

using Ints = std::vector<std::int64_t>;

TEST_CASE("numbers are read from texts, as many as are asked for") {
  Reader reader(" 1 -2\n\n+3\t004\r\n5", "text");
  CHECK(reader.ints(2) == Ints{1, -2});
  CHECK_FALSE(reader.ended);
  CHECK(reader.ints(0).empty());
  CHECK(reader.ints(3) == Ints{3, 4, 5});
  CHECK(reader.ints(3).empty());
  CHECK(reader.ended);
  CHECK(Reader("", "text").ints(1).empty());
  CHECK(Reader("7 ", "text").ints(5) == Ints{7});
}

TEST_CASE("words of a text go over the border of what is read at a time") {
  std::string text;
  Ints expected;
  for (std::int64_t i = 0; i < 50'000; ++i) {
    expected.push_back(i * i * (i % 2 == 0 ? 1 : -1));
    text += std::to_string(expected.back()) + (i % 7 == 0 ? "\n" : " ");
  }
  Reader reader(text, "text");
  Ints found;
  while (!reader.ended) {
    const Ints piece = reader.ints(997);
    found.insert(found.end(), piece.begin(), piece.end());
  }
  CHECK(found == expected);
}

TEST_CASE("integers in texts are taken modulo the width of INT") {
  CHECK(Reader("18446744073709551617 -9223372036854775808", "text").ints(9) ==
        Ints{1, std::numeric_limits<std::int64_t>::min()});
  CHECK(Reader("4294967297 -2147483648", "text", {4, 8}).ints(9) == Ints{1, -2147483648});
}

TEST_CASE("a word that is no number is told with its line") {
  CHECK(Reader("1 2\n3 x4 5", "text").error(Type::Int) == "line 2: `x4` is no integer");
  CHECK(Reader("1\n\n3x 5", "text").error(Type::Int) == "line 3: `3x` is no integer");
  for (const char* word : {"-", "+", "1.5", "--1", "1-", "0x1"}) {
    CHECK(Reader(word, "text").error(Type::Int) ==
          "line 1: `" + std::string(word) + "` is no integer");
  }
  for (const char* word :
       {"-", ".", "e5", "1e", "1.5.2", "0x1", "Inf", "-nan1", "infinity", "1,5"}) {
    CHECK(Reader(word, "text").error(Type::Float) ==
          "line 1: `" + std::string(word) + "` is no number");
  }
  CHECK(Reader("\x01", "text").error(Type::Int) == "line 1: `\\x01` is no integer");
  CHECK(Reader(std::string(200'000, 'a'), "text").error(Type::Int) ==
        "line 1: `" + std::string(60, 'a') + "...` is no integer");
}

TEST_CASE("floats in texts are rounded to the nearest") {
  Reader reader("0.1 -1.5e3 +2. .5 1E-400 -0 1e400 inf -inf nan 9007199254740993 5e-324", "text");
  const std::vector<double> found = floats_of(reader.backend, reader.read(Type::Float, 20).values);
  REQUIRE(found.size() == 12);
  CHECK(found[0] == 0.1);
  CHECK(found[1] == -1500.0);
  CHECK(found[2] == 2.0);
  CHECK(found[3] == 0.5);
  CHECK(found[4] == 0.0);
  CHECK(std::signbit(found[5]));
  CHECK(found[6] == std::numeric_limits<double>::infinity());
  CHECK(found[7] == std::numeric_limits<double>::infinity());
  CHECK(found[8] == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(found[9]));
  CHECK(found[10] == 9007199254740992.0);
  CHECK(found[11] == std::numeric_limits<double>::denorm_min());
}

TEST_CASE("floats that were written are read with the same bits") {
  std::mt19937_64 random(1);
  std::vector<double> numbers = {0.0, -0.0, 1.0, 100.0, 1e22, 0.1, -1e-310};
  while (numbers.size() < 20'000) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isnan(number)) numbers.push_back(number);
  }
  numbers.push_back(std::numeric_limits<double>::infinity());
  vinterp_test::HostBackend backend(kWide);
  const cvl::Vector vector = backend.floats(numbers);
  for (const char* form : {"text", "<f8", ">f8"}) {
    const Written file = written(backend, vector, form);
    CHECK(file.error.empty());
    Reader reader(file.text, form);
    const NumbersRead found = reader.read(Type::Float, 100'000);
    const std::vector<double> again = floats_of(reader.backend, found.values);
    REQUIRE(again.size() == numbers.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      different +=
          std::bit_cast<std::uint64_t>(numbers[i]) == std::bit_cast<std::uint64_t>(again[i]) ? 0
                                                                                             : 1;
    }
    INFO(form);
    CHECK(different == 0);
  }
  CHECK(written(backend, backend.floats({2.0, -0.5, 1e300}), "text").text == "2.0\n-0.5\n1e+300\n");
  CHECK(written(backend, backend.floats({-std::nan("")}), "text").text == "nan\n");
  CHECK(written(backend, backend.floats({0.5, -2.0}), ">f4").text ==
        std::string("\x3f\0\0\0\xc0\0\0\0", 8));
}

TEST_CASE("integers are written and read as their bytes") {
  using namespace std::string_literals;
  vinterp_test::HostBackend backend(kWide);
  CHECK(written(backend, backend.ints({1, -2}), "<i2").text == "\1\0\xfe\xff"s);
  CHECK(written(backend, backend.ints({1, 258}), ">u4").text == "\0\0\0\1\0\0\1\2"s);
  CHECK(written(backend, backend.ints({-7, 100}), "text").text == "-7\n100\n");
  for (const char* form : {"<i1", ">i2", "<i4", ">i4", "<i8", ">i8", "|i1"}) {
    Ints numbers = {0, 1, -1, 127, -128};
    while (numbers.size() < 10'000)
      numbers.push_back(static_cast<std::int8_t>(numbers.size() * 37));
    const Written file = written(backend, backend.ints(numbers), form);
    CHECK(file.error.empty());
    CHECK(Reader(file.text, form).ints(20'000) == numbers);
  }
  CHECK(Reader("\xff\xff"s, "<u2").ints(9) == Ints{65535});
  CHECK(Reader("\xff\0\1"s, "|b1").ints(9) == Ints{255, 0, 1});
  CHECK(written(backend, backend.ints({200}), "<i1").error == "200 does not fit 8 bits");
  CHECK(written(backend, backend.ints({-1}), "<u8").error ==
        "-1 does not fit 64 bits without a sign");
}

TEST_CASE("bytes that are no numbers, or too large ones, are errors") {
  using namespace std::string_literals;
  CHECK(Reader("\1\0\2"s, "<i2").error(Type::Int) == "the end is in the middle of number 2");
  CHECK(Reader("\1\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0"s, "<i8", {4, 8}).error(Type::Int) ==
        "number 2 is 4294967296, which does not fit an integer of 32 bits");
  CHECK(Reader(std::string(8, '\xff'), "<u8").error(Type::Int) ==
        "number 1 is 18446744073709551615, which does not fit an integer of 64 bits");
  vinterp_test::HostBackend backend(kWide);
  const vinterp::FileDescriptor directory = vinterp::open_file("/", vinterp::FileMode::Read);
  for (const char* form : {"text", "<i4"}) {
    vinterp::InputBuffer input(directory.get());
    vinterp::NumberPlace place;
    CHECK(vinterp::read_numbers(backend, Type::Int, *NumberForm::named(form), 5, input, place)
              .error == "Is a directory");
  }
}

TEST_CASE("names of forms") {
  for (const char* name : {"text", "<i1", ">u8", "=f4", "|b1", "<f8"}) {
    CHECK(NumberForm::named(name).has_value());
  }
  for (const char* name : {"", "i4", "<i3", "<f2", "<c8", "<b4", "i4<", "<i44", "Text"}) {
    CHECK_FALSE(NumberForm::named(name).has_value());
  }
  CHECK(NumberForm::named("text")->fits(Type::Int));
  CHECK(NumberForm::named("text")->fits(Type::Float));
  CHECK_FALSE(NumberForm::named("<f8")->fits(Type::Int));
  CHECK_FALSE(NumberForm::named("<i8")->fits(Type::Float));
}

}  // namespace
