#include "machine/number_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include <fmt/core.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "machine/character_block.hpp"
#include "machine/streams.hpp"
#include "machine/tuning.hpp"
#include "vcode/diagnostics.hpp"

namespace vinterp {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}

// Words are found before they are read, many at a time: then the processor reads several at once,
// because none has to wait for the end of the one before (the two stages of simdjson: G. Langdale
// and D. Lemire, "Parsing gigabytes of JSON per second").

constexpr std::size_t kBlock = 64;  // characters

/// A bit for each of kBlock characters: is it a space, or one of few others?
std::uint64_t may_be_spaces(const char* at) {
#if defined(__SSE2__)
  std::uint64_t bits = 0;
  for (int k = 0; k < 4; ++k) {
    const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at) + k);
    const int others = _mm_movemask_epi8(_mm_cmpgt_epi8(some, _mm_set1_epi8(' ')));
    bits |= std::uint64_t{static_cast<std::uint16_t>(~others)} << (16 * k);
  }
  return bits;
#else
  std::uint64_t bits = 0;
  for (std::size_t k = 0; k < kBlock; ++k) bits |= std::uint64_t{at[k] <= ' '} << k;
  return bits;
#endif
}

constexpr std::ptrdiff_t kDigits = 16;

#if defined(__SSE2__)
/// The number that the last `count` characters before `end` are, all at once: neighbours are put
/// together to numbers of two, four and eight digits (W. Mula). False if one is no digit.
/// REQUIRES: 0 < count <= kDigits; as many characters before `end` may be read
inline bool read_digits(const char* end, std::ptrdiff_t count, std::uint64_t& value) {
  alignas(32) static constexpr std::uint8_t kKept[2 * kDigits] = {
      0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
      255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
  const auto load = [](const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  // What stands before the digits becomes zeros.
  const __m128i digits =
      _mm_and_si128(_mm_sub_epi8(load(end - kDigits), _mm_set1_epi8('0')), load(kKept + count));
  const __m128i more_than_9 = _mm_subs_epu8(digits, _mm_set1_epi8(9));
  if (_mm_movemask_epi8(_mm_cmpeq_epi8(more_than_9, _mm_setzero_si128())) != 0xffff) return false;
  const __m128i tens =
      _mm_mullo_epi16(_mm_and_si128(digits, _mm_set1_epi16(255)), _mm_set1_epi16(10));
  const __m128i twos = _mm_add_epi16(tens, _mm_srli_epi16(digits, 8));
  const __m128i fours = _mm_madd_epi16(twos, _mm_set1_epi32(1 << 16 | 100));
  const __m128i eights =
      _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10'000));
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  value = (both & 0xffffffff) * 100'000'000 + (both >> 32);
  return true;
}
#endif

/// Reads the word [at, end), modulo 2^64 in effect. False if it is no number.
/// `begin`: characters from here on may be looked at. REQUIRES: at < end
template <class Element>
requires std::is_integral_v<Element>
inline bool read_word(const char* begin, const char* at, const char* end, Element& number) {
  const bool negative = *at == '-';
  if (negative || *at == '+') ++at;
  if (at == end) return false;
  std::uint64_t value = 0;
#if defined(__SSE2__)
  if (end - at <= kDigits && end - begin >= kDigits) {
    if (!read_digits(end, end - at, value)) return false;
    at = end;
  }
#endif
  for (; at != end; ++at) {
    if (!is_digit(*at)) return false;
    value = value * 10 + static_cast<unsigned>(*at - '0');
  }
  number = static_cast<Element>(negative ? 0 - value : value);
  return true;
}

template <class Element>
requires std::is_floating_point_v<Element>
bool read_word(const char* /*begin*/, const char* at, const char* end, Element& number) {
  const bool negative = *at == '-';
  if (negative || *at == '+') ++at;
  const std::string_view word(at, static_cast<std::size_t>(end - at));
  double value = 0;
  if (word == "inf") {
    value = std::numeric_limits<double>::infinity();
  } else if (word == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (word.empty() || !(is_digit(word[0]) || word[0] == '.')) return false;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (stop != end || error == std::errc::invalid_argument) return false;
    // Out of range: 0 or infinity.
    if (error != std::errc()) value = std::strtod(std::string(word).c_str(), nullptr);
  }
  number = static_cast<Element>(negative ? -value : value);
  return true;
}

/// How far words have been read.
struct WordsTaken {
  const char* end = nullptr;  // of the last of them, or the begin of one that is left
  std::int64_t words = 0;     // that are numbers
  std::int64_t lines = 0;     // that end before `end`
};

/// Takes words that are numbers, `most` at most, from a text that begins with a word or a space.
/// A word that the text ends in is left: it may go on.
template <class Element>
WordsTaken take_words(std::string_view text, std::int64_t most, Element* numbers) {
  const char* const begin = text.data();
  const char* word = begin;
  std::int64_t words = 0, lines = 0;
  for (std::size_t block = 0; block < text.size() && words < most; block += kBlock) {
    const char* characters = begin + block;
    char last[kBlock];
    if (text.size() - block < kBlock) {
      std::fill_n(last, kBlock, '0');
      std::copy(characters, begin + text.size(), last);
      characters = last;
    }
    for (std::uint64_t spaces = may_be_spaces(characters); spaces != 0; spaces &= spaces - 1) {
      const char* const space = begin + block + std::countr_zero(spaces);
      if (!is_space(*space)) return {word, words, lines};  // a character that no number has
      if (word != space) {
        if (words == most || !read_word(begin, word, space, numbers[words])) {
          return {word, words, lines};
        }
        ++words;
      }
      lines += *space == '\n' ? 1 : 0;
      word = space + 1;
    }
  }
  return {word, words, lines};
}

/// Into how many parts so many bytes of work on texts are cut; more than there are threads, because
/// these are not equally fast.
int parts_of(const cvl::Backend& backend, std::int64_t bytes) {
  constexpr std::int64_t kPartsOfThread = 4;
  const std::int64_t threads = backend.threads();
  if (threads == 1) return 1;
  return static_cast<int>(
      std::clamp<std::int64_t>(bytes / tuning.text_per_part, 1, kPartsOfThread * threads));
}

/// What one thread reads of a text.
struct TextPart {
  std::string_view text;  // ends behind a space, or where the whole text ends
  std::size_t place = 0;  // of its numbers
  WordsTaken taken{};
};

/// The text in parts, of which some may be empty. Each has a place for as many numbers as it has
/// words at most: every other character may be one.
std::vector<TextPart> cut(std::string_view text, std::size_t count) {
  std::vector<TextPart> parts(count);
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const char* border = end;
    if (k + 1 < parts.size()) {
      border = std::max(at, text.data() + text.size() / parts.size() * (k + 1));
      border = std::find_if(border, end, is_space);
      if (border != end) ++border;
    }
    parts[k].text = {at, static_cast<std::size_t>(border - at)};
    parts[k].place = static_cast<std::size_t>(at - text.data()) / 2 + k;
    at = border;
  }
  return parts;
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
      const auto taken = static_cast<std::size_t>(take(text, most) - text.data());
      input_.skip(taken);
      if (taken == text.size() || is_space(text[taken]) || numbers_.size() == most) continue;
      // A word that is none, or one that the text ahead ends in.
      if (std::string error = take_last_word(); !error.empty()) return error;
    }
    return {};
  }

 private:
  /// Behind what has been taken of the text.
  const char* take(std::string_view text, std::int64_t most) {
    const std::string_view wanted = text.substr(0, likely_bytes(most, text.size()));
    const int parts = parts_of(backend_, static_cast<std::int64_t>(wanted.size()));
    const char* const end = parts > 1 ? take_jointly(wanted, most, parts) : take_alone(text, most);
    bytes_ += static_cast<std::size_t>(end - text.data());
    return end;
  }

  /// How many of the next `bytes` characters are numbers that are wanted, if they have as many
  /// digits as those before.
  std::size_t likely_bytes(std::int64_t most, std::size_t bytes) const {
    constexpr std::size_t kLeast = 2;  // that a word and a space have
    const auto found = static_cast<std::size_t>(numbers_.size());
    const std::size_t words = std::min(static_cast<std::size_t>(most) - found, bytes);
    return found == 0 ? words * kLeast : words * bytes_ / found;
  }

  const char* take_alone(std::string_view text, std::int64_t most) {
    // Room for some at a time: there may be few words in a long text.
    constexpr std::int64_t kSome = 512;
    const char* const end = text.data() + text.size();
    const char* at = text.data();
    while (true) {
      const std::int64_t wanted = std::min(kSome, most - numbers_.size());
      Element* const to = numbers_.room(static_cast<std::size_t>(wanted));
      const WordsTaken taken = take_words({at, static_cast<std::size_t>(end - at)}, wanted, to);
      add(taken);
      at = taken.end;
      if (taken.words < wanted || numbers_.size() == most) return at;
    }
  }

  /// The same by the threads of the library, each of which takes whole words. Their numbers lie
  /// apart at first: nobody knows how many the others have.
  const char* take_jointly(std::string_view text, std::int64_t most, int count) {
    std::vector<TextPart> parts = cut(text, static_cast<std::size_t>(count));
    Element* const to = numbers_.room(text.size() / 2 + parts.size());
    const auto take_part = [&](TextPart& part, std::int64_t words) {
      part.taken = take_words(part.text, words, to + part.place);
    };
    backend_.for_parts(count, [&](int k) {
      TextPart& part = parts[static_cast<std::size_t>(k)];
      take_part(part, static_cast<std::int64_t>(part.text.size()));
    });
    Element* next = to;
    for (TextPart& part : parts) {
      const std::int64_t wanted = most - numbers_.size();
      if (part.taken.words > wanted) take_part(part, wanted);
      next = std::copy_n(to + part.place, part.taken.words, next);
      add(part.taken);
      if (part.taken.end != part.text.data() + part.text.size()) return part.taken.end;
    }
    return text.data() + text.size();
  }

  void add(const WordsTaken& taken) {
    numbers_.add(static_cast<std::size_t>(taken.words));
    place_.number += taken.words;
    place_.line += taken.lines;
  }

  /// REQUIRES: a word comes next
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
    Element number{};
    if (read_word(word.data(), word.data(), word.data() + word.size(), number)) {
      *numbers_.room(1) = number;
      numbers_.add(1);
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
  std::size_t bytes_ = 0;  // that the numbers so far have, nearly all of them
};

constexpr std::int64_t kLongestLine = 40;  // that a number is written on, in bytes

/// Writes a line, so that reading it gives the same number. Returns its end.
template <class Element>
char* put_line(char* to, Element number) {
  if constexpr (std::is_floating_point_v<Element>) {
    if (std::isnan(number)) number = std::numeric_limits<Element>::quiet_NaN();  // without a sign
  }
  char* end = std::to_chars(to, to + kLongestLine, number).ptr;
  if constexpr (std::is_floating_point_v<Element>) {
    const auto is_of_int = [](char c) { return is_digit(c) || c == '-'; };
    if (std::all_of(to, end, is_of_int)) end = std::copy_n(".0", 2, end);
  }
  *end++ = '\n';
  return end;
}

}  // namespace

template <class Element>
std::string read_words(cvl::Backend& backend, std::int64_t most, InputBuffer& input,
                       NumberPlace& place, NumberBlock<Element>& numbers, bool& ended) {
  return WordReader<Element>(backend, input, place, numbers).read(most, ended);
}

template <class Element>
void write_lines(cvl::Backend& backend, const cvl::Vector& vector, const TextSink& sink) {
  constexpr std::int64_t kPart = 1024;        // elements that a thread formats at a time
  constexpr std::int64_t kTypical = 8;        // bytes of a line
  constexpr std::int64_t kMostTogether = 64;  // parts
  const auto parts_for = [](std::int64_t count) { return (count + kPart - 1) / kPart; };
  const std::int64_t together = std::min({std::int64_t{parts_of(backend, vector.length * kTypical)},
                                          parts_for(vector.length), kMostTogether});
  const std::int64_t most = std::min(together * kPart, vector.length);
  std::vector<Element> elements(static_cast<std::size_t>(most));
  std::vector<char> text(static_cast<std::size_t>(most * kLongestLine));
  std::vector<std::string_view> lines(static_cast<std::size_t>(together));
  for (std::int64_t begin = 0; begin < vector.length; begin += most) {
    const std::int64_t count = std::min(most, vector.length - begin);
    const std::int64_t parts = parts_for(count);
    backend.download(vector, begin, count, elements.data());
    backend.for_parts(static_cast<int>(parts), [&](int part) {
      char* const first = text.data() + part * kPart * kLongestLine;
      char* at = first;
      for (std::int64_t k = part * kPart; k < std::min((part + 1) * kPart, count); ++k) {
        at = put_line(at, elements[static_cast<std::size_t>(k)]);
      }
      lines[static_cast<std::size_t>(part)] = {first, static_cast<std::size_t>(at - first)};
    });
    for (std::int64_t part = 0; part < parts; ++part) {
      if (!sink(lines[static_cast<std::size_t>(part)])) return;
    }
  }
}

#define INSTANTIATE(Element)                                                               \
  template std::string read_words(cvl::Backend&, std::int64_t, InputBuffer&, NumberPlace&, \
                                  NumberBlock<Element>&, bool&);                           \
  template void write_lines<Element>(cvl::Backend&, const cvl::Vector&, const TextSink&);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace vinterp
