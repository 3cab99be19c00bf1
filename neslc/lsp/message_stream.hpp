// The messages of the protocol: a header with the length of the content, an empty line, the
// content.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "neslc/lsp/json.hpp"

namespace neslc::lsp {

/// A longer message ends the conversation: nothing that an editor sends is.
inline constexpr std::size_t kLongestMessage = std::size_t{1} << 28;

/// The content of the next message. Headers without a length are skipped. Nothing at the end of the
/// input, or when what follows cannot be a message.
std::optional<std::string> read_message(std::istream& in);

/// Writes and flushes.
void write_message(std::ostream& out, const Json& message);

}  // namespace neslc::lsp
