// The rows of a profile for other programs: CSV and JSON.
#pragma once

#include <string>

#include "machine/profile.hpp"
#include "vcode/program.hpp"

namespace vinterp {

/// A header and a line for each row, the most expensive first: operation, function, line (of the
/// first instruction that contributes), calls, elements, bytes, seconds. No name has a comma or
/// a quotation mark in it.
std::string profile_csv(const Profile& profile, const vcode::LinkedProgram& program);

/// The same as an array of objects with these members.
std::string profile_json(const Profile& profile, const vcode::LinkedProgram& program);

}  // namespace vinterp
