#include "machine/line_profile.hpp"

#include <algorithm>
#include <utility>

#include "machine/report_text.hpp"
#include "vcode/origin.hpp"

namespace vinterp {

void LineProfile::add(const std::vector<Profile::Cost>& costs, const vcode::LinkedProgram& program,
                      const Places& places, double seconds) {
  seconds_ += seconds;
  for (std::uint32_t at = 0; at < program.code.size(); ++at) {
    const Profile::Cost& cost = costs[at];
    if (cost.calls == 0) continue;
    Place place = places(at);
    const vcode::Instruction& code = program.code[at];
    costs_[{std::move(place.function), std::move(place.line), operation_name(code, program)}].add(
        cost);
  }
}

std::string LineProfile::report(const cvl::HeapStatistics& heap,
                                const cvl::DeviceCounters& device) const {
  std::vector<ProfileLine> lines;
  for (const auto& [key, cost] : costs_) {
    const auto& [function, line, operation] = key;
    lines.push_back({operation, function, line, cost});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.cost.seconds > b.cost.seconds; });
  return profile_table(lines, Profile::kDefaultRows) + profile_totals(heap, device, seconds_);
}

bool has_origins(const vcode::LinkedProgram& program) {
  return program.source != nullptr &&
         std::any_of(program.code.begin(), program.code.end(), [&](const auto& instruction) {
           return vcode::origin_of(*program.source, instruction.span.line).has_value();
         });
}

LineProfile::Places origin_places(const vcode::LinkedProgram& program) {
  return [&program](std::uint32_t at) -> LineProfile::Place {
    const auto origin = vcode::origin_of(*program.source, program.code[at].span.line);
    if (!origin) return {program.function_at(at).name, ""};
    return {origin->function.empty() ? "top level" : origin->function,
            std::to_string(origin->line)};
  };
}

}  // namespace vinterp
