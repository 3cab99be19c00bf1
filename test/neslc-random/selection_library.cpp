// Selection of parts, nesting (reference, 6.9, 6.10).
#include <algorithm>

#include "interpreter.hpp"

namespace neslc::direct {
namespace {

using C = const LibraryCall&;
using V = const Value&;

std::int64_t size_of(const Sequence& s) {
  return static_cast<std::int64_t>(s.size());
}

/// Of a function that stops with `message` if there is no such part.
Value part(const Sequence& s, std::int64_t begin, std::int64_t end, const char* message) {
  if (begin < 0 || end < begin || end > size_of(s)) throw RuntimeError(message);
  return make_sequence(Sequence(s.begin() + begin, s.begin() + end));
}

Value strided(const Sequence& s, std::size_t first) {
  Sequence result;
  for (std::size_t i = first; i < s.size(); i += 2) result.push_back(s[i]);
  return make_sequence(std::move(result));
}

Value concatenation(const Sequence& a, const Sequence& b) {
  Sequence result = a;
  result.insert(result.end(), b.begin(), b.end());
  return make_sequence(std::move(result));
}

Value interleaved(C, V v) {
  const Sequence& a = v.first().as_sequence();
  const Sequence& b = v.second().as_sequence();
  if (a.size() < b.size() || a.size() > b.size() + 1)
    throw RuntimeError("Length mismatch for function INTERLEAVE.");
  Sequence result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    result.push_back(a[i]);
    if (i < b.size()) result.push_back(b[i]);
  }
  return make_sequence(std::move(result));
}

constexpr const char* kBadPartition = "Length mismatch in function PARTITION.";

/// In pieces of the given lengths.
Value pieces(const Sequence& s, const std::vector<std::int64_t>& lengths) {
  Sequence result;
  std::int64_t at = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0) throw Unspecified("a negative length");
    result.push_back(part(s, at, at + length, kBadPartition));
    at += length;
  }
  if (at != size_of(s)) throw RuntimeError(kBadPartition);
  return make_sequence(std::move(result));
}

Value partitioned(C, V v) {
  std::vector<std::int64_t> lengths;
  for (const Value& length : v.second().as_sequence()) lengths.push_back(length.as_int());
  return pieces(v.first().as_sequence(), lengths);
}

Value run_lengths(C, V v) {
  const Sequence& flags = v.as_sequence();
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (i == 0 || flags[i].as_bool()) lengths.push_back(0);
    ++lengths.back();
  }
  Sequence result;
  for (const std::int64_t length : lengths) result.push_back(make_int(length));
  return make_sequence(std::move(result));
}

Value split(C, V v) {
  const Sequence& s = v.first().as_sequence();
  const Sequence& flags = v.second().as_sequence();
  if (s.size() != flags.size()) throw RuntimeError("Bad arguments to function PERMUTE.");
  Sequence sides[2];
  for (std::size_t i = 0; i < s.size(); ++i) sides[flags[i].as_bool() ? 1 : 0].push_back(s[i]);
  return make_sequence({make_sequence(std::move(sides[0])), make_sequence(std::move(sides[1]))});
}

Value transposed(C, V v) {
  const Sequence& rows = v.as_sequence();
  if (rows.empty()) return v;
  const std::size_t width = rows[0].as_sequence().size();
  for (const Value& row : rows) {
    if (row.as_sequence().size() != width) {
      throw RuntimeError("Lengths of subsequences are not equal in function TRANSPOSE.");
    }
  }
  Sequence result;
  for (std::size_t column = 0; column < width; ++column) {
    Sequence elements;
    for (const Value& row : rows) elements.push_back(row.as_sequence()[column]);
    result.push_back(make_sequence(std::move(elements)));
  }
  return make_sequence(std::move(result));
}

Value packed(C, V v) {
  Sequence result;
  for (const Value& pair : v.as_sequence()) {
    if (pair.second().as_bool()) result.push_back(pair.first());
  }
  return make_sequence(std::move(result));
}

Value flag_positions(C, V v) {
  Sequence result;
  for (std::size_t i = 0; i < v.as_sequence().size(); ++i) {
    if (v.as_sequence()[i].as_bool()) result.push_back(make_int(static_cast<std::int64_t>(i)));
  }
  return make_sequence(std::move(result));
}

Value in_groups(C, V v) {
  const std::int64_t width = v.second().as_int();
  if (width < 1) throw Unspecified("groups of no element");
  std::vector<std::int64_t> lengths;
  for (std::int64_t rest = size_of(v.first().as_sequence()); rest > 0; rest -= width) {
    lengths.push_back(std::min(rest, width));
  }
  return pieces(v.first().as_sequence(), lengths);
}

/// `count` elements from the beginning, or, if it is negative, from the end.
Value taken(const Sequence& s, std::int64_t count) {
  const char* message = "Bounds error for function TAKE.";
  return count >= 0 ? part(s, 0, count, message) : part(s, size_of(s) + count, size_of(s), message);
}

Value dropped(const Sequence& s, std::int64_t count) {
  const char* message = "Bounds error for function DROP.";
  return count >= 0 ? part(s, count, size_of(s), message) : part(s, 0, size_of(s) + count, message);
}

}  // namespace

LibraryTable selection_functions() {
  return {
      {"pack", packed},
      {"append",
       [](C c, V v) {
         c.interpreter.spend(size_of(v.first().as_sequence()));
         return concatenation(v.first().as_sequence(), v.second().as_sequence());
       }},
      {"subseq",
       [](C, V v) {
         return part(v.first().as_sequence(), v.second().first().as_int(),
                     v.second().second().as_int(), "Bounds error for function SUBSEQ.");
       }},
      {"take", [](C, V v) { return taken(v.first().as_sequence(), v.second().as_int()); }},
      {"drop", [](C, V v) { return dropped(v.first().as_sequence(), v.second().as_int()); }},
      {"odd_elts",
       [](C, V v) {
         if (v.as_sequence().empty()) {
           throw RuntimeError("In [s:e:l], e must be >= to s, and l must be positive.");
         }
         return strided(v.as_sequence(), 1);
       }},
      {"even_elts", [](C, V v) { return strided(v.as_sequence(), 0); }},
      {"interleave", interleaved},
      {"length_from_flags", run_lengths},
      {"cons", [](C, V v) { return concatenation({v.first()}, v.second().as_sequence()); }},
      {"snoc", [](C, V v) { return concatenation(v.first().as_sequence(), {v.second()}); }},
      {"vpair",
       [](C, V v) {
         return make_sequence({v.first(), v.second()});
       }},
      {"next",
       [](C, V v) {
         const Sequence& s = v.first().as_sequence();
         if (s.empty()) return v.first();
         return concatenation(dropped(s, 1).as_sequence(), {v.second()});
       }},
      {"previous",
       [](C, V v) {
         const Sequence& s = v.first().as_sequence();
         if (s.empty()) return v.first();
         return concatenation({v.second()}, dropped(s, -1).as_sequence());
       }},
      {"pack_index", flag_positions},
      {"head_rest",
       [](C, V v) {
         const Sequence& s = v.as_sequence();
         if (s.empty()) throw RuntimeError("Sequence reference (a[i]) out of bounds.");
         return make_pair(s[0], dropped(s, 1));
       }},
      {"rest_tail",
       [](C, V v) {
         const Value rest = taken(v.as_sequence(), size_of(v.as_sequence()) - 1);
         return make_pair(rest, v.as_sequence().back());
       }},
      {"partition", partitioned},
      {"flatten",
       [](C, V v) {
         Sequence result;
         for (const Value& inner : v.as_sequence()) {
           result.insert(result.end(), inner.as_sequence().begin(), inner.as_sequence().end());
         }
         return make_sequence(std::move(result));
       }},
      {"split", split},
      {"bottop",
       [](C, V v) {
         const std::int64_t n = size_of(v.as_sequence());
         return pieces(v.as_sequence(), {(n + 1) / 2, n / 2});
       }},
      {"group_by", in_groups},
      {"transpose", transposed},
  };
}

}  // namespace neslc::direct
