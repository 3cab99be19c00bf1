// What reaches outside of the evaluation of a program (outside.def), and its refusal.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace neslc {

/// One way out.
struct WayOut {
  enum class Kind : std::uint8_t { Command, Setting, Binding, Function };
  Kind kind;
  std::string_view name;
  std::string_view example;  // a form, or the argument of a Function's form
  std::string_view does;     // "writes files"; of a Function: empty
};

std::span<const WayOut> ways_out();

/// The entry, or null: that does nothing outside.
const WayOut* find_way_out(WayOut::Kind kind, std::string_view name);

}  // namespace neslc
