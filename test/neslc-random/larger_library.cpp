// Sorting, grouping, sets, functions as arguments (reference, 6.11).
#include <algorithm>
#include <numeric>

#include "interpreter.hpp"

namespace neslc::direct {
namespace {

using C = const LibraryCall&;
using V = const Value&;

bool less(const Value& a, const Value& b) {
  return a.is<double>() ? a.as_float() < b.as_float() : a.data < b.data;
}

std::vector<std::size_t> sorted_positions(const Sequence& s, bool descending) {
  std::vector<std::size_t> positions(s.size());
  std::iota(positions.begin(), positions.end(), 0);
  std::stable_sort(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) {
    return descending ? less(s[b], s[a]) : less(s[a], s[b]);
  });
  return positions;
}

Value sorted(C, V v) {
  Sequence result;
  for (const std::size_t i : sorted_positions(v.as_sequence(), false)) {
    result.push_back(v.as_sequence()[i]);
  }
  return make_sequence(std::move(result));
}

Value ranks(V v, bool descending) {
  Sequence result(v.as_sequence().size(), make_int(0));
  std::int64_t rank = 0;
  for (const std::size_t i : sorted_positions(v.as_sequence(), descending)) {
    result[i] = make_int(rank++);
  }
  return make_sequence(std::move(result));
}

Value nth_smallest(const Sequence& s, std::int64_t k) {
  if (k < 0 || k >= static_cast<std::int64_t>(s.size())) {
    throw RuntimeError("Sequence reference (a[i]) out of bounds.");
  }
  return s[sorted_positions(s, false)[static_cast<std::size_t>(k)]];
}

Value collected_by_int(C, V v) {
  Sequence result;
  Sequence keys;
  for (const Value& pair : v.as_sequence()) keys.push_back(pair.first());
  for (const std::size_t i : sorted_positions(keys, false)) {
    const Value& value = v.as_sequence()[i].second();
    if (result.empty() || !equal(result.back().first(), keys[i])) {
      result.push_back(make_pair(keys[i], make_sequence({value})));
      continue;
    }
    Sequence values = result.back().second().as_sequence();
    values.push_back(value);
    result.back() = make_pair(keys[i], make_sequence(std::move(values)));
  }
  return make_sequence(std::move(result));
}

bool contains(const Sequence& s, const Value& x) {
  return std::any_of(s.begin(), s.end(), [&](const Value& y) { return equal(x, y); });
}

Sequence without_duplicates(const Sequence& s) {
  Sequence result;
  for (const Value& x : s) {
    if (!contains(result, x)) result.push_back(x);
  }
  return result;
}

Value chosen(const Sequence& s, const Sequence& others, bool common) {
  Sequence result;
  for (const Value& x : s) {
    if (contains(others, x) == common) result.push_back(x);
  }
  return make_sequence(std::move(result));
}

Value found(C, V v) {
  const Sequence& s = v.second().as_sequence();
  const auto at =
      std::find_if(s.begin(), s.end(), [&](const Value& y) { return equal(v.first(), y); });
  return make_int(at == s.end() ? -1 : at - s.begin());
}

Value all_matches(C, V v) {
  const Sequence& word = v.first().as_sequence();
  const Sequence& text = v.second().as_sequence();
  Sequence result;
  for (std::size_t i = 0; i + word.size() <= text.size(); ++i) {
    if (std::equal(word.begin(), word.end(), text.begin() + static_cast<std::ptrdiff_t>(i),
                   equal)) {
      result.push_back(make_int(static_cast<std::int64_t>(i)));
    }
  }
  return make_sequence(std::move(result));
}

/// (function, identity, sequence)
Value scan(C call, V v) {
  const TypePtr function = call.argument_type->first();
  Value total = v.second().first();
  Sequence result;
  for (const Value& x : v.second().second().as_sequence()) {
    result.push_back(total);
    total = call.interpreter.call(function, v.first(), make_pair(total, x));
  }
  return make_pair(make_sequence(std::move(result)), total);
}

Value map(C call, V v) {
  Sequence result;
  for (const Value& x : v.second().as_sequence()) {
    result.push_back(call.interpreter.call(call.argument_type->first(), v.first(), x));
  }
  return make_sequence(std::move(result));
}

}  // namespace

LibraryTable larger_functions() {
  return {
      {"sort", sorted},
      {"rank", [](C, V v) { return ranks(v, false); }},
      {"rank_down", [](C, V v) { return ranks(v, true); }},
      {"kth_smallest",
       [](C, V v) { return nth_smallest(v.first().as_sequence(), v.second().as_int()); }},
      {"median",
       [](C, V v) {
         return nth_smallest(v.as_sequence(),
                             static_cast<std::int64_t>(v.as_sequence().size() / 2));
       }},
      {"int_collect", collected_by_int},
      {"find", found},
      {"search_for_subseqs", all_matches},
      {"remove_duplicates",
       [](C, V v) { return make_sequence(without_duplicates(v.as_sequence())); }},
      {"union",
       [](C, V v) {
         Sequence both = v.first().as_sequence();
         const Sequence& more = v.second().as_sequence();
         both.insert(both.end(), more.begin(), more.end());
         return make_sequence(without_duplicates(both));
       }},
      {"intersection",
       [](C, V v) { return chosen(v.first().as_sequence(), v.second().as_sequence(), true); }},
      {"set_difference",
       [](C, V v) { return chosen(v.first().as_sequence(), v.second().as_sequence(), false); }},
      {"scan", scan},
      {"map", map},
      {"{* }", map},
  };
}

}  // namespace neslc::direct
