// Numbers that choose between two ways of doing the same: lengths of tiles and blocks, sizes from
// which threads share or stores go around the cache, and so on.
//
// Each folder keeps its own in a table, tuning.def, one row for each with what speaks for the
// value. They are variables, so that tests can set them: with small values a vector of forty
// elements goes every way that one of forty million goes. No setting changes what a program means,
// but for the order in which FLOATs are combined where a row says so.
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
/// `setting` is one of
///   usual            what users get
///   smallest         each as small as it may be
///   odd              small, and no power of two where that may be
///   random:SEED      each small, usual or something between, by chance
///   NAME=VALUE,...   the usual ones but for these
/// Throws std::invalid_argument where it is none of them, a name is in no table, or a value is not
/// allowed.
void tune(std::string_view setting, std::initializer_list<Tunables> tables);

/// The same with the value of the environment variable NESL_TUNING, if there is one. For tests, and
/// for programs of builds with the option NESL_TUNABLE. Ends the process with status 2 and a
/// message where the value is wrong.
void tune_from_environment(std::initializer_list<Tunables> tables);

}  // namespace cvl
