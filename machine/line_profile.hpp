// A profile in terms of the source text that a program was made from: one row per operation,
// function and line of that text. Runs of several programs add up.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "machine/profile.hpp"

namespace vinterp {

class LineProfile {
 public:
  /// What the table shows for the place of an instruction.
  struct Place {
    std::string function;
    std::string line;
  };
  using Places = std::function<Place(std::uint32_t instruction)>;

  /// Adds what one run of `program` cost, by instruction (Profile::costs()).
  void add(const std::vector<Profile::Cost>& costs, const vcode::LinkedProgram& program,
           const Places& places, double seconds);

  /// As Profile::report.
  std::string report(const cvl::HeapStatistics& heap, const cvl::DeviceCounters& device) const;

 private:
  std::map<std::tuple<std::string, std::string, std::string>, Profile::Cost> costs_;
  double seconds_ = 0;
};

/// The places that the comments of a program text name (vcode/origin.hpp); false if it has none.
bool has_origins(const vcode::LinkedProgram& program);
LineProfile::Places origin_places(const vcode::LinkedProgram& program);

}  // namespace vinterp
