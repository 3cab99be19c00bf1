#include "neslc/lsp/uri.hpp"

#include <cctype>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace neslc::lsp {
namespace {

constexpr std::string_view kScheme = "file://";

}  // namespace

std::optional<std::string> path_of(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  if (!uri.starts_with('/')) return std::nullopt;  // a file of another machine
  std::string path;
  for (std::size_t at = 0; at < uri.size(); ++at) {
    if (uri[at] != '%') {
      path += uri[at];
      continue;
    }
    const std::string_view hex = uri.substr(at + 1, 2);
    std::uint8_t byte = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), byte, 16);
    if (error != std::errc() || hex.size() < 2 || end != hex.data() + 2 || byte == 0) {
      return std::nullopt;
    }
    path += static_cast<char>(byte);
    at += 2;
  }
  return path;
}

std::string uri_of(std::string_view path) {
  std::string uri(kScheme);
  for (const char c : path) {
    constexpr std::string_view kPlain = "/-._~";
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && (std::isalnum(byte) != 0 || kPlain.find(c) != std::string_view::npos)) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", byte);
    }
  }
  return uri;
}

}  // namespace neslc::lsp
