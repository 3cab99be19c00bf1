// A seal for bindings that nobody verified.
#pragma once

#include <string>
#include <string_view>

#include "vcode/kernel_seal.hpp"

namespace vcode::testing {

/// The text, whose first kernel is sealed, with `part` of its bindings replaced and a seal that
/// fits them. REQUIRES: the part is there.
inline std::string forged(const std::string& text, std::string_view part, std::string_view by) {
  const std::size_t head = text.find("KERNEL"), seal = text.find("SEAL");
  const std::size_t begin = text.find("DO\n") + 2, end = text.find("SPEC");
  std::string body = text.substr(begin, end - begin);
  body.replace(body.find(part), part.size(), by);
  const std::string sum = print_seal_sum(seal_sum(text.substr(head, seal - head), body));
  return text.substr(0, seal) + "SEAL " + std::to_string(body.size()) + " " + sum + "\nDO" + body +
         text.substr(end);
}

}  // namespace vcode::testing
