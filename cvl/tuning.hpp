// Numbers that choose between two ways of doing the same: lengths of tiles and blocks, sizes from
// which threads share or stores go around the cache, and so on.
//
// Each folder keeps its own in a table, tuning.def, one row for each with what speaks for the
// value. They are variables, so that tests can set them: with small values a vector of forty
// elements goes every way that one of forty million goes. No setting changes what a program means.
// Three of them, fold_tile_bytes, small_length and longest_row, decide in which order FLOATs are
// combined, and so change bits of FLOAT results, for kernels and operations alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace cvl {

/// One such number. Values for tests are multiples of `multiple` in [least, most].
struct Tunable {
  std::string_view name;
  std::int64_t* value;
  std::int64_t usual;
  std::int64_t least, most;
  std::int64_t multiple;
};
using Tunables = std::span<const Tunable>;

/// Sets all numbers of the tables, for the process. REQUIRES: no program runs meanwhile.
///
/// `setting` is a list with commas, whose parts are applied in order to the usual numbers:
///   usual            what users get
///   smallest         each as small as it may be
///   odd              small, and no power of two where that may be
///   random:SEED      each small, usual or something between, by chance
///   NAME=VALUE       one number
/// Throws std::invalid_argument where a part is none of these, a name is in no table, or a value is
/// not allowed.
void tune(std::string_view setting, std::initializer_list<Tunables> tables);

/// The same with the value of the environment variable NESL_TUNING, if there is one. For tests, and
/// for programs of builds with the option NESL_TUNABLE. Ends the process with status 2 and a
/// message where the value is wrong.
void tune_from_environment(std::initializer_list<Tunables> tables);

/// Numbers of the heap.
struct HeapTuning {
#define TUNABLE(name, usual, least, most, multiple) std::int64_t name = usual;
#include "cvl/tuning.def"
};
inline HeapTuning heap_tuning;
Tunables heap_tunables();

}  // namespace cvl
