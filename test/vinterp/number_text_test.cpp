// Texts of numbers that threads share: what is read, and what is wrong, is what one word after the
// other says.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "host_backend.hpp"
#include "machine/file_descriptor.hpp"
#include "machine/numbers.hpp"
#include "machine/tuning.hpp"
#include "temporary_file.hpp"
#include "tuned.hpp"

namespace {

using vcode::Type;

using Numbers = std::vector<std::int64_t>;

struct ReadText {
  Numbers numbers;
  std::string error;
};

bool is_blank(char c) {
  return std::string_view(" \t\r\n").find(c) != std::string_view::npos;
}

/// Word by word.
ReadText expected_of(const std::string& text) {
  ReadText outcome;
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    if (is_blank(text[at])) {
      line += text[at++] == '\n' ? 1 : 0;
      continue;
    }
    std::string word;
    while (at < text.size() && !is_blank(text[at])) word += text[at++];
    const bool is_signed = word[0] == '-' || word[0] == '+';
    const std::string digits = word.substr(is_signed ? 1 : 0);
    const bool is_number =
        !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) {
      std::string shown;
      for (const char c : word.substr(0, 60)) {
        shown += c == '\x7f'   ? "\\x7f"
                 : c == '\x05' ? "\\x05"
                 : c == '\x01' ? "\\x01"
                               : std::string(1, c);
      }
      if (word.size() > 60) shown += "...";
      outcome.error = "line " + std::to_string(line) + ": `" + shown + "` is no integer";
      return outcome;
    }
    std::uint64_t value = 0;
    for (const char c : digits) value = value * 10 + static_cast<std::uint64_t>(c - '0');
    outcome.numbers.push_back(static_cast<std::int64_t>(word[0] == '-' ? 0 - value : value));
  }
  return outcome;
}

/// In pieces of `most` numbers; those of a piece with an error are lost.
ReadText read_in_pieces(const std::string& text, std::int64_t most, int threads) {
  vinterp_test::HostBackend backend({.int_bytes = 8, .float_bytes = 8});
  backend.host_threads = threads;
  const vinterp::FileDescriptor fd = vinterp_test::file_with(text);
  vinterp::InputBuffer input(fd.get());
  vinterp::NumberPlace place;
  ReadText outcome;
  while (true) {
    input.begin();
    const vinterp::NumbersRead found =
        vinterp::read_numbers(backend, Type::Int, {}, most, input, place);
    outcome.error = found.error;
    if (!found.error.empty()) return outcome;
    const Numbers piece = backend.elements(found.values);
    outcome.numbers.insert(outcome.numbers.end(), piece.begin(), piece.end());
    CHECK(place.number == static_cast<std::int64_t>(outcome.numbers.size()));
    CHECK(place.line <= 1 + std::count(text.begin(), text.end(), '\n'));
    if (found.ended) return outcome;
    CHECK(static_cast<std::int64_t>(piece.size()) == most);
  }
}

void check_reading(const std::string& text) {
  const ReadText expected = expected_of(text);
  const std::size_t count = expected.numbers.size();
  for (const std::int64_t most : {1, 7, 40, 1000}) {
    for (const int threads : {1, 3}) {
      INFO("most " << most << ", threads " << threads << ", text\n" << text);
      const ReadText found = read_in_pieces(text, most, threads);
      CHECK(found.error == expected.error);
      REQUIRE(found.numbers.size() <= count);
      CHECK(std::equal(found.numbers.begin(), found.numbers.end(), expected.numbers.begin()));
      CHECK(count - found.numbers.size() <= (expected.error.empty() ? 0U : std::size_t(most)));
    }
  }
}

TEST_CASE("threads share texts of numbers") {
  const tuned::Scope scope("usual");
  vinterp::tuning.text_per_part = 16;
  check_reading("");
  check_reading(" \n\n ");
  check_reading(
      "12345678901234567890 1 -2 +3 00000000000000000000000000004\r\n5\t6 1234567890123456\n7");
  check_reading(std::string(300, '1') + " " + std::string(300, '2') + "\n");
  check_reading(
      "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21\n22\n23 x24 25 26 27 28 29\n30 ");
  check_reading(
      std::string("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n18 \x01x19 20 21 22 23 24 25 26"));
  check_reading("1111111 22222222 333333333 4444444444 55555555555 666666666666 7777777777777 -");
}

TEST_CASE("random texts of numbers are read by several threads as by one") {
  std::mt19937 random(1);
  const auto below = [&](unsigned limit) { return random() % limit; };
  for (int round = 0; round < 60; ++round) {
    const tuned::Scope scope("usual");
    vinterp::tuning.text_per_part = 1 + below(60);
    vinterp::tuning.input_bytes = 30 + below(2000);
    const unsigned longest = 1 + below(20);
    const bool has_error = below(3) == 0;
    std::string text;
    const unsigned words = below(200);
    for (unsigned k = 0; k < words; ++k) {
      if (below(4) == 0) text += below(2) == 0 ? '-' : '+';
      for (unsigned digits = 1 + below(longest); digits > 0; --digits) {
        text += static_cast<char>('0' + below(10));
      }
      if (has_error && below(100) == 0) text += "-x.\x7f\x05"[below(5)];
      for (unsigned spaces = 1 + (below(5) == 0 ? below(70) : 0); spaces > 0; --spaces) {
        text += " \t\r\n"[below(4)];
      }
    }
    if (below(2) == 0 && !text.empty()) text.pop_back();
    check_reading(text);
  }
}

TEST_CASE("threads share numbers that become a text") {
  const tuned::Scope scope("usual");
  vinterp::tuning.text_per_part = 16;
  vinterp_test::HostBackend backend({.int_bytes = 8, .float_bytes = 8});
  backend.host_threads = 3;
  Numbers numbers;
  std::string expected;
  for (std::int64_t k = 0; k < 100'000; ++k) {
    numbers.push_back(k * k * k * (k % 3 - 1));
    expected += std::to_string(numbers.back()) + '\n';
  }
  const cvl::Vector vector = backend.ints(numbers);
  std::string text;
  CHECK(vinterp::write_numbers(backend, vector, {}, [&](std::string_view some) {
          text += some;
          return true;
        }).empty());
  CHECK(text == expected);
  // Nothing follows what the sink refuses.
  int calls = 0;
  CHECK(vinterp::write_numbers(backend, vector, {}, [&](std::string_view) {
          return ++calls < 5;
        }).empty());
  CHECK(calls == 5);
}

}  // namespace
