#include "machine/numbers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

#include "machine/character_block.hpp"
#include "machine/element_types.hpp"
#include "machine/streams.hpp"
#include "vcode/diagnostics.hpp"

namespace vinterp {
namespace {

using vcode::Type;
using Kind = NumberForm::Kind;

/// Calls `use` with a number of the type that it has in the file, and whether its bytes stand there
/// the other way round than here. REQUIRES: not text
template <class Use>
auto with_number(const NumberForm& form, Use use) {
  const bool reversed = form.big_endian != (std::endian::native == std::endian::big);
  const auto of_type = [&](auto number) {
    return reversed ? use(number, std::true_type()) : use(number, std::false_type());
  };
  const bool is_signed = form.kind == Kind::Signed;
  if (form.kind == Kind::Float) return form.bytes == 8 ? of_type(double{}) : of_type(float{});
  switch (form.bytes) {
    case 1:
      return is_signed ? of_type(std::int8_t{}) : of_type(std::uint8_t{});
    case 2:
      return is_signed ? of_type(std::int16_t{}) : of_type(std::uint16_t{});
    case 4:
      return is_signed ? of_type(std::int32_t{}) : of_type(std::uint32_t{});
    default:
      return is_signed ? of_type(std::int64_t{}) : of_type(std::uint64_t{});
  }
}

/// Numbers that become a vector, in memory of the library.
template <class Element>
class NumberBlock {
 public:
  NumberBlock(cvl::Backend& backend, std::int64_t expected) : bytes_(backend) {
    bytes_.grow(static_cast<std::size_t>(expected) * sizeof(Element));
  }

  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size() / sizeof(Element)); }
  /// How many more fit without growing.
  std::size_t free() const { return bytes_.room() / sizeof(Element); }
  /// Where so many more go, to be added when they are there. Throws Failure (OutOfMemory).
  Element* room(std::size_t count) {
    const std::size_t bytes = count * sizeof(Element);
    if (bytes > bytes_.room()) bytes_.grow(std::max(bytes_.size() + bytes, 2 * bytes_.size()));
    return reinterpret_cast<Element*>(bytes_.end());
  }
  void add(std::size_t count) { bytes_.add(count * sizeof(Element)); }
  /// Throws Failure (OutOfMemory).
  void append(std::span<const Element> numbers) {
    std::copy(numbers.begin(), numbers.end(), room(numbers.size()));
    add(numbers.size());
  }
  /// The first of them as a vector; there are no more numbers here then.
  cvl::Vector first(Type type, std::int64_t count) { return bytes_.take(type, count); }

 private:
  CharacterBlock bytes_;
};

// ---- Text

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}

struct Digits {
  std::uint64_t value;
  int count;  // 0 ... 8
};

/// The digits that eight characters begin with, all of them at once: neighbours are put together to
/// numbers of two, four and eight digits (D. Lemire, "Parsing numbers in eight bytes").
Digits leading_digits(const char* at) {
  std::uint64_t digits = 0;
  for (int i = 0; i < 8; ++i) digits |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
  digits ^= 0x3030303030303030;
  // The high bit of a byte that is more than 9. A carry only gets into later ones.
  const std::uint64_t others = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
  const int count = others == 0 ? 8 : std::countr_zero(others) / 8;
  if (count == 0) return {0, 0};
  digits <<= 8 * (8 - count);
  constexpr std::uint64_t kPairs = 0x000000ff000000ff;
  digits = digits * 10 + (digits >> 8);
  digits =
      ((digits & kPairs) * 0x000f424000000064 + ((digits >> 16) & kPairs) * 0x0000271000000001);
  return {digits >> 32, count};
}

/// Puts `at` behind the digits there. Their number, modulo 2^64.
std::uint64_t scan_digits(const char*& at, const char* end) {
  constexpr std::uint64_t kPowers[] = {1,       10,        100,        1'000,      10'000,
                                       100'000, 1'000'000, 10'000'000, 100'000'000};
  std::uint64_t value = 0;
  while (end - at >= 8) {
    const Digits digits = leading_digits(at);
    value = value * kPowers[digits.count] + digits.value;
    at += digits.count;
    if (digits.count < 8) return value;
  }
  for (; at != end && is_digit(*at); ++at) value = value * 10 + static_cast<unsigned>(*at - '0');
  return value;
}

/// The number that begins at `at`, behind which this puts `at`: the end of its word, if it is one.
template <class Element>
requires std::is_integral_v<Element>
bool scan(const char*& at, const char* end, Element& number) {
  const bool negative = *at == '-';
  if (negative || *at == '+') ++at;
  const char* const digits = at;
  const std::uint64_t value = scan_digits(at, end);
  number = static_cast<Element>(negative ? 0 - value : value);
  return at != digits;
}

template <class Element>
requires std::is_floating_point_v<Element>
bool scan(const char*& at, const char* end, Element& number) {
  const bool negative = *at == '-';
  if (negative || *at == '+') ++at;
  const char* const begin = at;
  while (at != end && !is_space(*at)) ++at;
  const std::string_view word(begin, static_cast<std::size_t>(at - begin));
  double value = 0;
  if (word == "inf") {
    value = std::numeric_limits<double>::infinity();
  } else if (word == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (word.empty() || !(is_digit(word[0]) || word[0] == '.')) return false;
    const auto [stop, error] = std::from_chars(begin, at, value);
    if (stop != at || error == std::errc::invalid_argument) return false;
    // Out of range: 0 or infinity.
    if (error != std::errc()) value = std::strtod(std::string(word).c_str(), nullptr);
  }
  number = static_cast<Element>(negative ? -value : value);
  return true;
}

/// Reads words that are numbers.
template <class Element>
class WordReader {
 public:
  WordReader(cvl::Backend& backend, InputBuffer& input, NumberPlace& place,
             NumberBlock<Element>& numbers)
      : backend_(backend), input_(input), place_(place), numbers_(numbers) {}

  /// Sets `ended` at the end of the input; returns what is wrong, or nothing.
  std::string read(std::int64_t most, bool& ended) {
    while (numbers_.size() < most) {
      const std::string_view text = input_.ahead();
      if (text.empty()) {
        ended = true;
        return input_.error() == 0 ? std::string() : system_message(input_.error());
      }
      const std::size_t taken = take_words(text, most);
      input_.skip(taken);
      if (taken == text.size() || numbers_.size() == most) continue;
      // A word that is none, or one that the text ahead ends in.
      if (std::string error = take_last_word(); !error.empty()) return error;
    }
    return {};
  }

 private:
  /// As long as there are whole words that are numbers. Returns how many characters they are.
  std::size_t take_words(std::string_view text, std::int64_t most) {
    constexpr std::size_t kBlock = 512;
    std::array<Element, kBlock> found{};
    const char* at = text.data();
    const char* const end = at + text.size();
    std::size_t count = 0;
    while (true) {
      for (; at != end && is_space(*at); ++at) place_.line += *at == '\n' ? 1 : 0;
      if (at == end) break;
      const std::int64_t room = most - numbers_.size() - static_cast<std::int64_t>(count);
      const char* const word = at;
      if (room == 0 || !scan(at, end, found[count]) || at == end || !is_space(*at)) {
        at = word;
        break;
      }
      if (++count == kBlock) keep(found, std::exchange(count, 0));
    }
    keep(found, count);
    return static_cast<std::size_t>(at - text.data());
  }

  template <std::size_t size>
  void keep(const std::array<Element, size>& found, std::size_t count) {
    numbers_.append({found.data(), count});
    place_.number += static_cast<std::int64_t>(count);
  }

  std::string take_last_word() {
    CharacterBlock characters(backend_);
    bool whole = false;
    while (!whole) {
      const std::string_view text = input_.ahead();
      const auto end = std::find_if(text.begin(), text.end(), is_space);
      const auto length = static_cast<std::size_t>(end - text.begin());
      characters.append(text.substr(0, length));
      input_.skip(length);
      whole = text.empty() || length < text.size();
    }
    const std::string_view word(characters.end() - characters.size(), characters.size());
    const char* at = word.data();
    const char* const end = at + word.size();
    Element number{};
    if (scan(at, end, number) && at == end) {
      numbers_.append({&number, 1});
      ++place_.number;
      return {};
    }
    constexpr std::size_t kShown = 60;
    std::string shown = vcode::escaped(word.substr(0, kShown));
    if (word.size() > kShown) shown += "...";
    return fmt::format("line {}: `{}` is no {}", place_.line, shown,
                       std::is_integral_v<Element> ? "integer" : "number");
  }

  cvl::Backend& backend_;
  InputBuffer& input_;
  NumberPlace& place_;
  NumberBlock<Element>& numbers_;
};

/// One on a line, so that reading it gives the same number.
template <class Element>
std::size_t put_line(char* to, std::size_t room, Element number) {
  if constexpr (std::is_floating_point_v<Element>) {
    if (std::isnan(number)) number = std::numeric_limits<Element>::quiet_NaN();  // without a sign
  }
  char* end = std::to_chars(to, to + room, number).ptr;
  if constexpr (std::is_floating_point_v<Element>) {
    const auto is_of_int = [](char c) { return is_digit(c) || c == '-'; };
    if (std::all_of(to, end, is_of_int)) end = std::copy_n(".0", 2, end);
  }
  *end++ = '\n';
  return static_cast<std::size_t>(end - to);
}

// ---- Bytes

template <class Bytes>
Bytes in_order(Bytes bytes, bool reversed) {
  if (reversed) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

/// The number whose bytes are there.
template <class Number, bool kReversed>
Number number_at(const char* bytes) {
  std::array<char, sizeof(Number)> own;
  std::memcpy(own.data(), bytes, sizeof(Number));
  return std::bit_cast<Number>(in_order(own, kReversed));
}

/// Does the number keep its value, or a float its nearest one?
template <class To, class From>
bool is_kept(From number) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return std::in_range<To>(number);
  } else {
    return true;
  }
}

/// Reads numbers that stand in the file as their bytes.
template <class Element, class Number, bool kReversed>
class BytesReader {
 public:
  BytesReader(InputBuffer& input, NumberPlace& place, NumberBlock<Element>& numbers)
      : input_(input), place_(place), numbers_(numbers) {}

  /// Sets `ended` at the end of the input; returns what is wrong, or nothing.
  std::string read(std::int64_t most, bool& ended) {
    constexpr bool kAsTheyAre = std::is_same_v<Element, Number> && !kReversed;
    constexpr std::size_t kBlock = (std::size_t{1} << (kAsTheyAre ? 20 : 16)) / sizeof(Number);
    constexpr std::size_t kFew = 64;
    std::array<char, kAsTheyAre ? 1 : kBlock * sizeof(Number)> block;
    while (numbers_.size() < most && !ended) {
      // So that few numbers from a pipe take little memory, too.
      const std::size_t wanted = std::min({static_cast<std::size_t>(most - numbers_.size()), kBlock,
                                           std::max(numbers_.free(), kFew)});
      Element* const to = numbers_.room(wanted);
      char* const bytes = kAsTheyAre ? reinterpret_cast<char*>(to) : block.data();
      const std::size_t found = take(bytes, wanted * sizeof(Number));
      const std::size_t whole = found / sizeof(Number);
      if constexpr (!kAsTheyAre) {
        if (!convert(bytes, whole, to)) return lost(bytes);
      }
      numbers_.add(whole);
      place_.number += static_cast<std::int64_t>(whole);
      ended = whole < wanted;
      if (!ended) continue;
      if (input_.error() != 0) return system_message(input_.error());
      if (found % sizeof(Number) != 0) {
        return fmt::format("the end is in the middle of number {}", place_.number + 1);
      }
    }
    return {};
  }

 private:
  /// Takes so many bytes, fewer only at the end.
  std::size_t take(char* to, std::size_t wanted) {
    std::size_t found = 0;
    while (found < wanted) {
      const std::size_t count = input_.take(to + found, wanted - found);
      if (count == 0) break;
      found += count;
    }
    return found;
  }

  /// False if a number does not fit an element.
  static bool convert(const char* bytes, std::size_t count, Element* to) {
    bool all_kept = true;
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = number_at<Number, kReversed>(bytes + i * sizeof(Number));
      all_kept &= is_kept<Element>(number);
      to[i] = static_cast<Element>(number);
    }
    return all_kept;
  }

  std::string lost(const char* bytes) const {
    std::int64_t place = place_.number + 1;
    while (true) {
      const auto number = number_at<Number, kReversed>(bytes);
      if (!is_kept<Element>(number)) {
        return fmt::format("number {} is {}, which does not fit an integer of {} bits", place,
                           number, 8 * sizeof(Element));
      }
      bytes += sizeof(Number);
      ++place;
    }
  }

  InputBuffer& input_;
  NumberPlace& place_;
  NumberBlock<Element>& numbers_;
};

}  // namespace

std::optional<NumberForm> NumberForm::named(std::string_view name) {
  NumberForm form;
  if (name == "text") return form;
  if (name.size() != 3) return std::nullopt;
  form.bytes = name[2] - '0';
  form.big_endian = name[0] == '>';
  form.kind = name[1] == 'i' ? Kind::Signed : name[1] == 'f' ? Kind::Float : Kind::Unsigned;
  const std::string_view sizes = form.kind == Kind::Float ? "48" : "1248";
  const bool is_known = std::string_view("<>|=").find(name[0]) != std::string_view::npos &&
                        std::string_view("iufb").find(name[1]) != std::string_view::npos &&
                        sizes.find(name[2]) != std::string_view::npos &&
                        (name[1] != 'b' || form.bytes == 1);
  return is_known ? std::optional(form) : std::nullopt;
}

bool NumberForm::fits(Type type) const {
  return kind == Kind::Text || (kind == Kind::Float) == (type == Type::Float);
}

NumbersRead read_numbers(cvl::Backend& backend, Type type, const NumberForm& form,
                         std::int64_t most, InputBuffer& input, NumberPlace& place) {
  // So many at first, if the input seems to have them.
  constexpr std::int64_t kFirst = 1 << 18;
  const auto bytes = static_cast<std::int64_t>(input.expected());
  const std::int64_t least_bytes = form.kind == NumberForm::Kind::Text ? 2 : form.bytes;
  const std::int64_t first = std::min({most, kFirst, bytes / least_bytes + 1});
  return with_element(backend.widths(), type, [&](auto zero) {
    using Element = decltype(zero);
    NumbersRead result;
    NumberBlock<Element> numbers(backend, first);
    if (form.kind == Kind::Text) {
      result.error = WordReader<Element>(backend, input, place, numbers).read(most, result.ended);
    } else {
      result.error = with_number(form, [&](auto number, auto reversed) {
        return BytesReader<Element, decltype(number), reversed>(input, place, numbers)
            .read(most, result.ended);
      });
    }
    result.values = numbers.first(type, result.error.empty() ? numbers.size() : 0);
    return result;
  });
}

std::string write_numbers(cvl::Backend& backend, const cvl::Vector& vector, const NumberForm& form,
                          const TextSink& sink) {
  constexpr std::int64_t kPiece = 1024;
  constexpr std::size_t kLongest = 40;  // of a number, in bytes
  return with_element(backend.widths(), vector.type, [&](auto zero) -> std::string {
    using Element = decltype(zero);
    std::array<Element, kPiece> elements;
    std::array<char, kPiece * kLongest> text;
    for (std::int64_t begin = 0; begin < vector.length; begin += kPiece) {
      const std::int64_t count = std::min(kPiece, vector.length - begin);
      backend.download(vector, begin, count, elements.data());
      const std::span<const Element> piece(elements.data(), static_cast<std::size_t>(count));
      std::size_t size = 0;
      if (form.kind == Kind::Text) {
        for (const Element number : piece) {
          size += put_line(text.data() + size, kLongest, number);
        }
      } else {
        const std::string error = with_number(form, [&](auto number, auto reversed) -> std::string {
          using Number = decltype(number);
          for (const Element element : piece) {
            if (!is_kept<Number>(element)) {
              return fmt::format("{} does not fit {} bits{}", element, 8 * sizeof(Number),
                                 form.kind == Kind::Unsigned ? " without a sign" : "");
            }
            const auto bytes = in_order(
                std::bit_cast<std::array<char, sizeof(Number)>>(static_cast<Number>(element)),
                reversed);
            std::memcpy(text.data() + size, bytes.data(), bytes.size());
            size += bytes.size();
          }
          return {};
        });
        if (!error.empty()) return error;
      }
      if (!sink({text.data(), size})) return {};
    }
    return {};
  });
}

}  // namespace vinterp
