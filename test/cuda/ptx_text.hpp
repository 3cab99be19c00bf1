// Looking into PTX.
#pragma once

#include <string>

namespace ptx {

/// The text of a kernel; empty when there is none of that name.
inline std::string entry(const std::string& module, const std::string& name) {
  const std::string::size_type begin = module.find(".entry " + name + "(");
  if (begin == std::string::npos) return {};
  return module.substr(begin, module.find(".entry ", begin + 1) - begin);
}

inline bool has(const std::string& text, const std::string& instruction) {
  return text.find(instruction) != std::string::npos;
}

/// Are numbers cut to the eight bits of a BOOL? FLOATs become integers for that first.
inline bool cuts_to_bool(const std::string& text) {
  return has(text, ", 255;") || has(text, "cvt.rzi.u32.f");
}

/// How numbers are compared by the comparison of that name: `lt` for Less. NaN differs from all.
inline std::string condition(const std::string& id, bool of_floats) {
  if (id == "Less") return "lt";
  if (id == "LessEqual") return "le";
  if (id == "Greater") return "gt";
  if (id == "GreaterEqual") return "ge";
  if (id == "Equal") return "eq";
  return of_floats ? "neu" : "ne";  // NotEqual, and IntToBool: differs from 0
}

}  // namespace ptx
