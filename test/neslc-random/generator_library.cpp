// Uses of the library in random programs, by the type that is wanted.
#include "generator.hpp"

namespace neslc::random_test {
namespace {

/// A text with `$` for each operand, and their types.
struct Use {
  std::string format;
  std::vector<Type> operands;
};

}  // namespace

Node Generator::int_expression(const Type& wanted, int fuel) {
  static const std::vector<Use> kUses{
      {"($ + $)", {kInt, kInt}},
      {"($ - $)", {kInt, kInt}},
      {"($ * $)", {kInt, kInt}},
      {"($ + $)", {kInt, kInt}},
      {"(- $)", {kInt}},
      {"($ / 3)", {kInt}},
      {"rem($, 7)", {kInt}},
      {"mod($, -5)", {kInt}},
      {"(let d = $ in if d == 0 then 0 else $ / d)", {kInt, kInt}},
      {"max($, $)", {kInt, kInt}},
      {"min($, $)", {kInt, kInt}},
      {"abs($)", {kInt}},
      {"diff($, $)", {kInt, kInt}},
      {"($ and $)", {kInt, kInt}},
      {"($ or $)", {kInt, kInt}},
      {"($ xor $)", {kInt, kInt}},
      {"not($)", {kInt}},
      {"btoi($)", {kBool}},
      {"char_code($)", {kChar}},
      {"(mod($, 6) ^ mod($, 4))", {kInt, kInt}},
      {"gcd(mod($, 50), mod($, 50))", {kInt, kInt}},
      {"lshift($, 3)", {kInt}},
      {"rshift($, 2)", {kInt}},
      {"isqrt(mod($, 200))", {kInt}},
      {"fib(mod($, 5))", {kInt}},
      {"floor($)", {kFloat}},
      {"trunc($)", {kFloat}},
      {"ceil($)", {kFloat}},
      {"sum($)", {kInts}},
      {"sum($)", {kInts}},
      {"product($)", {kInts}},
      {"max_val($)", {kInts}},
      {"min_val($)", {kInts}},
      {"any($)", {kInts}},
      {"all($)", {kInts}},
      {"parity($)", {kInts}},
      {"count($)", {kFlags}},
      {"find($, $)", {kInt, kInts}},
      {"find($, $)", {kString, sequence_of(kString)}},
      {"first(parse_int($))", {kString}},
      {"(let s = $ in if #s == 0 then 0 else max_index(s))", {kInts}},
      {"(let s = $ in if #s == 0 then 0 else min_index(s))", {sequence_of(kFloat)}},
      {"(let s = $ in if #s == 0 then 0 else kth_smallest(s, mod($, #s)))", {kInts, kInt}},
      {"(let s = $ in if #s == 0 then 0 else median(s))", {kInts}},
      // Broadcasts of numbers and of whole sequences.
      {"sum({sum({x * y : x in index(mod($, 6))}) : y in $})", {kInt, kInts}},
      {"(let s = $ in sum({sum({max(x - y, 0) : x in s}) : y in s}))", {kInts}},
      {"(let s = $; r = $ in sum({count({x > y : x in r}) : y in s}))", {kInts, kInts}},
      {"(let (s, total) = scan(((a, b) => a + b), 0, $) in total)", {kInts}},
      {"(#remove_duplicates($))", {sequence_of(kInts)}},
      {"(let point(a, b) = $ in a - b)", {{Type::Kind::Point, {}}}},
      {"(let cell(a, b) = $ in if a then b else 0)", {{Type::Kind::Cell, {kBool}}}},
  };
  if (chance(3)) return operation(wanted, fuel, "($ / $)", {kInt, kInt});
  if (chance(8)) return operation(wanted, fuel, "(#$)", {sequence_of(type(2))});
  const Use& use = one_of(kUses);
  return operation(wanted, fuel, use.format, use.operands);
}

Node Generator::float_expression(const Type& wanted, int fuel) {
  // Only what is exact, so that the order of the operations does not matter.
  static const std::vector<Use> kUses{
      {"($ + $)", {kFloat, kFloat}},
      {"($ - $)", {kFloat, kFloat}},
      {"($ * 0.5)", {kFloat}},
      {"($ * -2.0)", {kFloat}},
      {"(-$)", {kFloat}},
      {"max($, $)", {kFloat, kFloat}},
      {"min($, $)", {kFloat, kFloat}},
      {"abs($)", {kFloat}},
      {"float(rem($, 1000))", {kInt}},
      {"sum($)", {sequence_of(kFloat)}},
      {"($ / 4.0)", {kFloat}},
  };
  const Use& use = one_of(kUses);
  return operation(wanted, fuel, use.format, use.operands);
}

Node Generator::bool_expression(const Type& wanted, int fuel) {
  static const std::vector<Use> kUses{
      {"($ == $)", {kInt, kInt}},
      {"($ < $)", {kInt, kInt}},
      {"($ >= $)", {kInt, kInt}},
      {"($ > $)", {kInt, kInt}},
      {"($ /= $)", {kInt, kInt}},
      {"($ <= $)", {kFloat, kFloat}},
      {"($ > $)", {kChar, kChar}},
      {"($ and $)", {kBool, kBool}},
      {"($ or $)", {kBool, kBool}},
      {"($ xor $)", {kBool, kBool}},
      {"($ nand $)", {kBool, kBool}},
      {"($ nor $)", {kBool, kBool}},
      {"not($)", {kBool}},
      {"any($)", {kFlags}},
      {"all($)", {kFlags}},
      {"parity($)", {kFlags}},
      {"plusp($)", {kInt}},
      {"minusp($)", {kFloat}},
      {"zerop($)", {kInt}},
      {"oddp($)", {kInt}},
      {"evenp($)", {kInt}},
      {"even(mod($, 4))", {kInt}},
      {"string_eql($, $)", {kString, kString}},
      {"digitp($)", {kChar}},
      {"rest(parse_int($))", {kString}},
  };
  if (chance(15)) {
    const Type compared = type(2);
    return operation(wanted, fuel, "eql($, $)", {compared, compared});
  }
  const Use& use = one_of(kUses);
  return operation(wanted, fuel, use.format, use.operands);
}

Node Generator::char_expression(const Type& wanted, int fuel) {
  static const std::vector<Use> kUses{
      {"lowercase($)", {kChar}},
      {"uppercase($)", {kChar}},
      {"code_char(97 + mod($, 26))", {kInt}},
      {"max($, $)", {kChar, kChar}},
      {"min($, $)", {kChar, kChar}},
  };
  const Use& use = one_of(kUses);
  return operation(wanted, fuel, use.format, use.operands);
}

Node Generator::sequence_expression(const Type& wanted, int fuel) {
  const Type& element = wanted.element();
  const Type indexed = sequence_of(pair_of(kInt, element));
  const std::vector<Use> uses{
      {"($ ++ $)", {wanted, wanted}},
      {"($ ++ $)", {wanted, wanted}},
      {"[$]", {element}},
      {"[$, $]", {element, element}},
      {"[$, $, $]", {element, element, element}},
      {"reverse($)", {wanted}},
      {"rotate($, $)", {wanted, kInt}},
      {"(let s = $ in take(s, mod($, #s + 1)))", {wanted, kInt}},
      {"(let s = $ in drop(s, mod($, #s + 1)))", {wanted, kInt}},
      {"(let s = $ in take(s, -mod($, #s + 1)))", {wanted, kInt}},
      {"(let s = $; b = mod($, #s + 1) in subseq(s, rshift(b, 1), b))", {wanted, kInt}},
      {"even_elts($)", {wanted}},
      {"(let s = $ in if #s == 0 then s else odd_elts(s))", {wanted}},
      {"(let s = $; i = {mod(n, #s + btoi(#s == 0)) : n in $ | #s > 0} in s -> i)",
       {wanted, kInts}},
      {"(let s = $ in s <- {(mod(n, #s), x) : (n, x) in $ | #s > 0})", {wanted, indexed}},
      {"(let s = $ in if #s == 0 then s else rep(s, $, mod($, #s)))", {wanted, element, kInt}},
      {"(let s = $ in permute(s, rank({mod(i * 7, 5) : i in index(#s)})))", {wanted}},
      {"next($, $)", {wanted, element}},
      {"previous($, $)", {wanted, element}},
      {"cons($, $)", {element, wanted}},
      {"snoc($, $)", {wanted, element}},
      {"vpair($, $)", {element, element}},
      {"flatten($)", {sequence_of(wanted)}},
      {"(let s = $ in interleave(s, reverse(s)))", {wanted}},
      {"(let s = $ in pack({(x, oddp(i)) : x in s; i in index(#s)}))", {wanted}},
      {"(let s = $ in if #s == 0 then s else (let (h, r) = head_rest(s) in r ++ [h]))", {wanted}},
      {"(let s = $ in if #s == 0 then s else (let (r, l) = rest_tail(s) in [l] ++ r))", {wanted}},
      {"set_difference($, $)", {wanted, wanted}},
      {"each((x => x), $)", {wanted}},
      {"map((x => x), $)", {wanted}},
      {"{* x : x in $}", {wanted}},
  };
  if (chance(15)) {
    return form(wanted, "dist($, $)", {expression(element, fuel - 3), small_number(4, fuel / 2)});
  }
  if (chance(2)) return operation(wanted, fuel, "take($, $)", {wanted, kInt});
  const Use& use = one_of(uses);
  return operation(wanted, fuel, use.format, use.operands);
}

Node Generator::int_sequence(const Type& wanted, int fuel) {
  static const std::vector<Use> kUses{
      {"plus_scan($)", {kInts}},
      {"max_scan($)", {kInts}},
      {"min_scan($)", {kInts}},
      {"or_scan($)", {kInts}},
      {"xor_scan($)", {kInts}},
      {"sort($)", {kInts}},
      {"rank($)", {kInts}},
      {"rank($)", {sequence_of(kFloat)}},
      {"rank_down($)", {kInts}},
      {"qsort($)", {kInts}},
      {"enumerate($)", {kFlags}},
      {"pack_index($)", {kFlags}},
      {"length_from_flags($)", {kFlags}},
      {"index(mod($, 6))", {kInt}},
      {"[0:mod($, 9)]", {kInt}},
      {"(let s = $; r = $ in {sum({x * y + 1 : x in s | x < y}) : y in r})", {kInts, kInts}},
      {"(let s = $ in {sum({x xor y : x in s; i in index(#s) | i < y}) : y in s})", {kInts}},
      {"{#{x in index(mod(n, 9)) | oddp(x)} : n in $}", {kInts}},
      {"(let a = mod($, 5) in [a : a + mod($, 6)])", {kInt, kInt}},
      {"(let a = mod($, 5) in [a : a + mod($, 9) : 1 + mod($, 3)])", {kInt, kInt, kInt}},
      {"sort(remove_duplicates($))", {kInts}},
      {"sort(union($, $))", {kInts, kInts}},
      {"sort(intersection(sort(remove_duplicates($)), $))", {kInts, kInts}},
      {"search_for_subseqs($, $)", {kString, kString}},
      {"first(scan(((a, b) => max(a, b)), min_int, $))", {kInts}},
      {"{#group : (key, group) in int_collect({(n, n) : n in $})}", {kInts}},
      {"sum_by_index({(mod(n, 7), n) : n in $}, 7)", {kInts}},
      {"max_by_index({(mod(n, 5), n) : n in $}, 4 + mod($, 3))", {kInts, kInt}},
      {"{n : (n, good) in {parse_int(w) : w in $} | good}", {sequence_of(kString)}},
  };
  const Use& use = one_of(kUses);
  return operation(wanted, fuel, use.format, use.operands);
}

Node Generator::nested_sequence(const Type& wanted, int fuel) {
  const Type& inner = wanted.element();
  if (inner == kInts && chance(20)) {  // all pairs
    return operation(wanted, fuel, "(let s = $ in {{x - y : x in s | x /= y} : y in s})", {kInts});
  }
  if (inner == kString && chance(30)) return operation(wanted, fuel, "wordify($)", {kString});
  if (inner == kString && chance(20)) return operation(wanted, fuel, "linify($)", {kString});
  const std::vector<Use> uses{
      {"bottop($)", {inner}},
      {"(let s = $ in split(s, {oddp(i) : i in index(#s)}))", {inner}},
      {"(let s = $ in partition(s, length_from_flags({oddp(i) : i in index(#s)})))", {inner}},
      {"(let s = $; k = mod($, #s + 1) in partition(s, [k, 0, #s - k]))", {inner, kInt}},
      {"group_by($, 1 + mod($, 3))", {inner, kInt}},
      {"(let s = $; n = mod($, 3) in transpose(dist(s, n)))", {inner, kInt}},
      {"transpose([$])", {inner}},
      {"{v : (k, v) in int_collect({(mod(i, 3), x) : x in $; i in index(1)})}", {inner}},
      {"(let s = $ in {v : (k, v) in int_collect({(mod(i, 3), x) : x in s; i in index(#s)})})",
       {inner}},
  };
  const Use& use = one_of(uses);
  return operation(wanted, fuel, use.format, use.operands);
}

Node Generator::string_expression(const Type& wanted, int fuel) {
  static const std::vector<Use> kUses{
      {"(@$)", {kInt}},
      {"(@$)", {kBool}},
      {"(@$)", {kInts}},
      {"($ || mod($, 9))", {kString, kInt}},
      {"($ || -mod($, 9))", {kString, kInt}},
      {"{lowercase(c) : c in $}", {kString}},
      {"flatten(wordify($))", {kString}},
  };
  if (chance(30)) {
    const Type shown = type(2);
    if (is_plain(shown)) return operation(wanted, fuel, "(@$)", {shown});
  }
  const Use& use = one_of(kUses);
  return operation(wanted, fuel, use.format, use.operands);
}

}  // namespace neslc::random_test
