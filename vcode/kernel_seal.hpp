// Seals of kernel definitions.
//
// Reading a kernel takes longer than running it on a few hundred elements, and short programs run
// the SPECs of most. So whoever writes a verified kernel adds a seal: how long its bindings are as
// text, and a sum over that text and the head before it. Where both fit, the bindings have been
// verified, and a program that only wants to run may read them when it needs them. A seal that does
// not fit, because somebody edited the text, means nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vcode {

struct KernelSeal {
  std::size_t bytes = 0;  // from behind DO up to SPEC
  std::uint64_t sum = 0;  // see seal_sum()
};

/// A number for a definition: `head` from KERNEL up to SEAL, `body` from behind DO up to SPEC.
/// Finds accidents; it is no protection against somebody who means harm, nor needs to be: what was
/// put off is verified before it is used.
std::uint64_t seal_sum(std::string_view head, std::string_view body);

/// The sum as a word of program text, and back; nothing: the word is none.
std::string print_seal_sum(std::uint64_t sum);
std::optional<std::uint64_t> read_seal_sum(std::string_view word);

}  // namespace vcode
