#include "cvl/tuning.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "cvl/random.hpp"

namespace cvl {
namespace {

/// The allowed value nearest to one, below it if there is one.
std::int64_t allowed(const Tunable& tunable, std::int64_t value) {
  const std::int64_t rounded = value / tunable.multiple * tunable.multiple;
  const std::int64_t least =
      (tunable.least + tunable.multiple - 1) / tunable.multiple * tunable.multiple;
  return std::clamp(rounded, least, tunable.most / tunable.multiple * tunable.multiple);
}

/// Three, five or seven units, or so many above the least.
std::int64_t odd(const Tunable& tunable, std::size_t number) {
  const std::int64_t units = static_cast<std::int64_t>(3 + 2 * (number % 3)) * tunable.multiple;
  return allowed(tunable, units < tunable.least ? tunable.least + units : units);
}

/// Small, usual, or somewhere between, where each power of two is as likely as another.
std::int64_t any(const Tunable& tunable, std::uint64_t seed, std::size_t number) {
  std::uint64_t counter = 4 * number;
  const std::uint64_t key = seeded(seed).key;
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(draw(key, counter++, static_cast<std::uint64_t>(bound)));
  };
  switch (below(4)) {
    case 0:
      return allowed(tunable, tunable.least);
    case 1:
      return tunable.usual;
    default:
      break;
  }
  const std::int64_t range = tunable.most - tunable.least;
  int bits = 0;
  while (bits < 62 && (std::int64_t{1} << bits) <= range) ++bits;
  const std::int64_t scale = std::int64_t{1} << below(bits + 1);
  return allowed(tunable, tunable.least + below(std::min(scale, range) + 1));
}

[[noreturn]] void refuse(std::string_view what, std::string_view why) {
  throw std::invalid_argument("'" + std::string(what) + "' " + std::string(why));
}

template <class Number>
Number number(std::string_view text) {
  Number result{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (error != std::errc() || end != text.data() + text.size()) refuse(text, "is no number");
  return result;
}

void set_one(std::string_view assignment, std::initializer_list<Tunables> tables) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) refuse(assignment, "is not NAME=VALUE");
  const std::string_view name = assignment.substr(0, equals);
  const auto value = number<std::int64_t>(assignment.substr(equals + 1));
  for (const Tunables table : tables) {
    for (const Tunable& tunable : table) {
      if (tunable.name != name) continue;
      if (allowed(tunable, value) != value && value != tunable.usual) {
        refuse(assignment, "is not allowed");
      }
      *tunable.value = value;
      return;
    }
  }
  refuse(name, "is in no table");
}

}  // namespace

void tune(std::string_view setting, std::initializer_list<Tunables> tables) {
  constexpr std::string_view kRandom = "random:";
  const auto set_all = [&](const auto& value_of) {
    std::size_t count = 0;
    for (const Tunables table : tables) {
      for (const Tunable& tunable : table) *tunable.value = value_of(tunable, count++);
    }
  };
  const auto set = [&](std::string_view part) {
    if (part == "usual") {
      set_all([](const Tunable& each, std::size_t) { return each.usual; });
    } else if (part == "smallest") {
      set_all([](const Tunable& each, std::size_t) { return allowed(each, each.least); });
    } else if (part == "odd") {
      set_all(odd);
    } else if (part.starts_with(kRandom)) {
      const auto seed = number<std::uint64_t>(part.substr(kRandom.size()));
      set_all([&](const Tunable& each, std::size_t count) { return any(each, seed, count); });
    } else {
      set_one(part, tables);
    }
  };
  set("usual");
  for (std::string_view rest = setting; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    set(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
}

void tune_from_environment(std::initializer_list<Tunables> tables) {
  const char* setting = std::getenv("NESL_TUNING");
  if (setting == nullptr) return;
  try {
    tune(setting, tables);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "NESL_TUNING: %s\n", error.what());
    std::exit(2);
  }
}

Tunables heap_tunables() {
  static const Tunable table[] = {
#define TUNABLE(name, usual, least, most, multiple) \
  {#name, &heap_tuning.name, usual, least, most, multiple},
#include "cvl/tuning.def"
  };
  return table;
}

}  // namespace cvl
