// The addresses that editors give files: `file:///home/me/a%20b.nesl`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace neslc::lsp {

/// The path of a file of this machine; nothing for every other address.
std::optional<std::string> path_of(std::string_view uri);
/// REQUIRES: an absolute path.
std::string uri_of(std::string_view path);

}  // namespace neslc::lsp
