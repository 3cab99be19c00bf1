#include "machine/numbers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

#include "machine/element_types.hpp"
#include "machine/number_block.hpp"
#include "machine/number_text.hpp"
#include "machine/streams.hpp"

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

/// Returns which number does not fit, or nothing.
template <class Element, class Number, bool kReversed>
std::string write_bytes(cvl::Backend& backend, const cvl::Vector& vector, const TextSink& sink) {
  constexpr std::int64_t kPiece = 1024;
  std::array<Element, kPiece> elements;
  std::array<std::array<char, sizeof(Number)>, kPiece> bytes;
  for (std::int64_t begin = 0; begin < vector.length; begin += kPiece) {
    const auto count = static_cast<std::size_t>(std::min(kPiece, vector.length - begin));
    backend.download(vector, begin, static_cast<std::int64_t>(count), elements.data());
    for (std::size_t k = 0; k < count; ++k) {
      if (!is_kept<Number>(elements[k])) {
        return fmt::format("{} does not fit {} bits{}", elements[k], 8 * sizeof(Number),
                           std::is_unsigned_v<Number> ? " without a sign" : "");
      }
      bytes[k] = in_order(
          std::bit_cast<std::array<char, sizeof(Number)>>(static_cast<Number>(elements[k])),
          kReversed);
    }
    if (!sink({bytes[0].data(), count * sizeof(Number)})) return {};
  }
  return {};
}

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
      result.error = read_words(backend, most, input, place, numbers, result.ended);
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
  return with_element(backend.widths(), vector.type, [&](auto zero) -> std::string {
    using Element = decltype(zero);
    if (form.kind == Kind::Text) {
      write_lines<Element>(backend, vector, sink);
      return {};
    }
    return with_number(form, [&](auto number, auto reversed) {
      return write_bytes<Element, decltype(number), reversed>(backend, vector, sink);
    });
  });
}

}  // namespace vinterp
