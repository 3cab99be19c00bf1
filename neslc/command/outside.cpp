#include "neslc/command/outside.hpp"

#include <algorithm>

namespace neslc {
namespace {

using Kind = WayOut::Kind;

constexpr WayOut kWaysOut[] = {
#define OUTSIDE_COMMAND(name, example, does) {Kind::Command, name, example, does},
#define OUTSIDE_SETTING(name, example, does) {Kind::Setting, name, example, does},
#define OUTSIDE_BINDING(mark, example, does) {Kind::Binding, mark, example, does},
#define OUTSIDE_FUNCTION(name, example) {Kind::Function, name, example, ""},
#include "neslc/command/outside.def"
};

}  // namespace

std::span<const WayOut> ways_out() {
  return kWaysOut;
}

const WayOut* find_way_out(Kind kind, std::string_view name) {
  const auto found = std::find_if(std::begin(kWaysOut), std::end(kWaysOut), [&](const WayOut& row) {
    return row.kind == kind && row.name == name;
  });
  return found == std::end(kWaysOut) ? nullptr : found;
}

}  // namespace neslc
