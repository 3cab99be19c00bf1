// Elements, scans, reductions, movement (reference, 6.6 to 6.8).
#include <functional>
#include <limits>

#include "interpreter.hpp"

namespace neslc::direct {
namespace {

using C = const LibraryCall&;
using V = const Value&;

constexpr std::int64_t kLongest = 20000;

/// The library function of this name for a pair.
Value apply(C call, const char* name, const Value& a, const Value& b) {
  return find_library_function(name)(call, make_pair(a, b));
}

TypePtr element_type(C call) {
  return call.argument_type->element();
}

/// What a reduction starts from, by the type of the elements; extremes only of ints.
Value start_of(const char* name, TypePtr type) {
  const std::string operation(name);
  if (operation == "max" || operation == "min") {
    if (type->kind != TypeKind::Int) throw Unspecified("extreme of nothing");
    return make_int(operation == "max" ? std::numeric_limits<std::int32_t>::min()
                                       : std::numeric_limits<std::int32_t>::max());
  }
  const bool one = operation == "*";
  if (type->kind == TypeKind::Bool) return make_bool(operation == "and");
  if (type->kind == TypeKind::Float) return make_float(one ? 1 : 0);
  return make_int(operation == "and" ? -1 : one ? 1 : 0);
}

Value reduced(C call, const Value& v, const char* operation) {
  const Sequence& elements = v.as_sequence();
  call.interpreter.spend(static_cast<std::int64_t>(elements.size()));
  Value total = elements.empty() ? start_of(operation, element_type(call)) : elements[0];
  for (std::size_t i = 1; i < elements.size(); ++i) {
    total = apply(call, operation, total, elements[i]);
  }
  return total;
}

/// (pairs of index and value, length)
Value reduced_by_index(C call, const Value& v, const char* operation, const char* name) {
  const std::int64_t length = v.second().as_int();
  if (length < 0) throw Unspecified("a negative length");
  const TypePtr type = call.argument_type->first()->element()->second();
  std::vector<Sequence> sent(static_cast<std::size_t>(length));
  for (const Value& pair : v.first().as_sequence()) {
    const std::int64_t i = pair.first().as_int();
    if (i < 0 || i >= length) {
      throw RuntimeError("Index out of bounds for function " + std::string(name) + ".");
    }
    sent[static_cast<std::size_t>(i)].push_back(pair.second());
  }
  Sequence result;
  for (const Sequence& values : sent) {
    Value total = values.empty() ? start_of(operation, type) : values[0];
    for (std::size_t i = 1; i < values.size(); ++i) {
      total = apply(call, operation, total, values[i]);
    }
    result.push_back(std::move(total));
  }
  return make_sequence(std::move(result));
}

Value scanned(C call, const Value& v, const char* operation) {
  Sequence result;
  if (v.as_sequence().empty()) return v;
  Value total = start_of(operation, element_type(call));
  for (const Value& element : v.as_sequence()) {
    result.push_back(total);
    total = apply(call, operation, total, element);
  }
  return make_sequence(std::move(result));
}

std::size_t position(const Value& index, const Sequence& sequence,
                     const char* message = "Sequence reference (a[i]) out of bounds.") {
  if (index.as_int() < 0 || index.as_int() >= static_cast<std::int64_t>(sequence.size())) {
    throw RuntimeError(message);
  }
  return static_cast<std::size_t>(index.as_int());
}

Value zipped(C, V v) {
  const Sequence& a = v.first().as_sequence();
  const Sequence& b = v.second().as_sequence();
  if (a.size() != b.size()) throw RuntimeError("Length mismatch in function ZIP.");
  Sequence result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(make_pair(a[i], b[i]));
  return make_sequence(std::move(result));
}

Value unzipped(C, V v) {
  Sequence a;
  Sequence b;
  for (const Value& pair : v.as_sequence()) {
    a.push_back(pair.first());
    b.push_back(pair.second());
  }
  return make_pair(make_sequence(std::move(a)), make_sequence(std::move(b)));
}

Value distributed(C call, V v) {
  const std::int64_t count = v.second().as_int();
  if (count < 0) throw Unspecified("a negative length");
  if (count > kLongest) throw Unspecified("a long sequence");
  call.interpreter.spend(count);
  return make_sequence(Sequence(static_cast<std::size_t>(count), v.first()));
}

Value replaced(C, V v) {
  Sequence result = v.first().as_sequence();
  const std::size_t at = position(v.second().second(), result);
  result[at] = v.second().first();
  return make_sequence(std::move(result));
}

Value range(C call, std::int64_t start, std::int64_t step, std::int64_t end) {
  if (end < start || step < 1)
    throw RuntimeError("In [s:e:l], e must be >= to s, and l must be positive.");
  if (end - start > kLongest) throw Unspecified("a long sequence");
  Sequence result;
  for (std::int64_t i = start; i < end; i += step) result.push_back(make_int(i));
  call.interpreter.spend(static_cast<std::int64_t>(result.size()));
  return make_sequence(std::move(result));
}

Value read(C, V v) {
  const Sequence& from = v.first().as_sequence();
  Sequence result;
  for (const Value& index : v.second().as_sequence()) {
    result.push_back(from[position(index, from, "Index out of bounds for function ->.")]);
  }
  return make_sequence(std::move(result));
}

Value written(C, V v) {
  Sequence result = v.first().as_sequence();
  for (const Value& pair : v.second().as_sequence()) {
    const std::size_t at = position(pair.first(), result, "Index out of bounds for function <-.");
    result[at] = pair.second();
  }
  return make_sequence(std::move(result));
}

constexpr const char* kBadPermutation = "Bad arguments to function PERMUTE.";

Value permuted(C, V v) {
  const Sequence& from = v.first().as_sequence();
  const Sequence& indices = v.second().as_sequence();
  if (from.size() != indices.size()) throw RuntimeError(kBadPermutation);
  std::vector<bool> taken(from.size());
  Sequence result(from.size(), make_int(0));
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t at = position(indices[i], from, kBadPermutation);
    if (taken[at]) throw Unspecified("an index twice");
    taken[at] = true;
    result[at] = from[i];
  }
  return make_sequence(std::move(result));
}

Value rotated(C, V v) {
  const Sequence& from = v.first().as_sequence();
  const auto count = static_cast<std::int64_t>(from.size());
  Sequence result;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t source = (((i - v.second().as_int()) % count) + count) % count;
    result.push_back(from[static_cast<std::size_t>(source)]);
  }
  return make_sequence(std::move(result));
}

Value extreme_index(C call, V v, const char* comparison) {
  const Sequence& s = v.as_sequence();
  if (s.empty()) throw Unspecified("extreme of nothing");
  std::size_t best = 0;
  for (std::size_t i = 1; i < s.size(); ++i) {
    if (apply(call, comparison, s[i], s[best]).as_bool()) best = i;
  }
  return make_int(static_cast<std::int64_t>(best));
}

}  // namespace

LibraryTable sequence_functions() {
  return {
      {"length",
       [](C, V v) { return make_int(static_cast<std::int64_t>(v.as_sequence().size())); }},
      {"dist", distributed},
      {"elt",
       [](C, V v) {
         const Sequence& s = v.first().as_sequence();
         return s[position(v.second(), s)];
       }},
      {"rep", replaced},
      {"zip", zipped},
      {"unzip", unzipped},
      {"plus_scan", [](C c, V v) { return scanned(c, v, "+"); }},
      {"mult_scan", [](C c, V v) { return scanned(c, v, "*"); }},
      {"max_scan", [](C c, V v) { return scanned(c, v, "max"); }},
      {"min_scan", [](C c, V v) { return scanned(c, v, "min"); }},
      {"or_scan", [](C c, V v) { return scanned(c, v, "or"); }},
      {"and_scan", [](C c, V v) { return scanned(c, v, "and"); }},
      {"xor_scan", [](C c, V v) { return scanned(c, v, "xor"); }},
      {"sum", [](C c, V v) { return reduced(c, v, "+"); }},
      {"product", [](C c, V v) { return reduced(c, v, "*"); }},
      {"max_val", [](C c, V v) { return reduced(c, v, "max"); }},
      {"min_val", [](C c, V v) { return reduced(c, v, "min"); }},
      {"any", [](C c, V v) { return reduced(c, v, "or"); }},
      {"all", [](C c, V v) { return reduced(c, v, "and"); }},
      {"parity", [](C c, V v) { return reduced(c, v, "xor"); }},
      {"sum_by_index", [](C c, V v) { return reduced_by_index(c, v, "+", "sum_by_index"); }},
      {"max_by_index", [](C c, V v) { return reduced_by_index(c, v, "max", "max_by_index"); }},
      {"count",
       [](C, V v) {
         std::int64_t total = 0;
         for (const Value& flag : v.as_sequence()) total += flag.as_bool() ? 1 : 0;
         return make_int(total);
       }},
      {"max_index", [](C c, V v) { return extreme_index(c, v, ">"); }},
      {"min_index", [](C c, V v) { return extreme_index(c, v, "<"); }},
      {"iseq",
       [](C c, V v) {
         return range(c, v.first().as_int(), v.second().first().as_int(),
                      v.second().second().as_int());
       }},
      {"index",
       [](C c, V v) {
         if (v.as_int() < 0) throw Unspecified("a negative length");
         return range(c, 0, 1, v.as_int());
       }},
      {"enumerate",
       [](C, V v) {
         std::int64_t total = 0;
         Sequence result;
         for (const Value& flag : v.as_sequence()) {
           result.push_back(make_int(total));
           total += flag.as_bool() ? 1 : 0;
         }
         return make_sequence(std::move(result));
       }},
      {"read", read},
      {"get", read},
      {"write", written},
      {"permute", permuted},
      {"rotate", rotated},
      {"reverse",
       [](C, V v) {
         const Sequence& s = v.as_sequence();
         return make_sequence(Sequence(s.rbegin(), s.rend()));
       }},
  };
}

}  // namespace neslc::direct
