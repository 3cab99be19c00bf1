#include "machine/report_text.hpp"

#include <fmt/core.h>

namespace vinterp {

std::string format_seconds(double seconds) {
  if (seconds >= 1000) return fmt::format("{:.0f} s", seconds);
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} us", seconds * 1e6);
}

std::string format_count(std::uint64_t count) {
  constexpr std::uint64_t kExact = 10'000'000;
  if (count < kExact) return std::to_string(count);
  double scaled = static_cast<double>(count) / 1e6;
  for (const char suffix : {'M', 'G', 'T', 'P'}) {
    if (scaled < 999.5) return fmt::format("{:.3g} {}", scaled, suffix);
    scaled /= 1e3;
  }
  return fmt::format("{:.3g} E", scaled);
}

std::string format_share(double part, double whole) {
  return fmt::format("{:.1f}%", whole > 0 ? 100 * part / whole : 0.0);
}

std::string operation_name(vcode::Op op, vcode::Type type) {
  const vcode::OpInfo& info = vcode::info(op);
  std::string name(info.text);
  if (info.takes_type()) {
    name += ' ';
    name += vcode::type_name(type);
  }
  return name;
}

std::string operation_name(const vcode::Instruction& code, const vcode::LinkedProgram& program) {
  if (code.op == vcode::Op::Run) return "RUN " + program.kernels[code.a].definition.name;
  return operation_name(code.op, code.type);
}

std::string fitted(const std::string& name, std::size_t width) {
  constexpr std::string_view kGap = "..";
  if (name.size() <= width) return name;
  const std::size_t kept = width - kGap.size();
  const std::size_t tail = kept / 2;
  return fmt::format("{}{}{}", name.substr(0, kept - tail), kGap, name.substr(name.size() - tail));
}

}  // namespace vinterp
