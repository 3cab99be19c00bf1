#include "neslc/lsp/message_stream.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <istream>
#include <ostream>

namespace neslc::lsp {
namespace {

constexpr std::string_view kLength = "content-length:";
constexpr std::size_t kLongestHeader = 4096;
constexpr std::size_t kChunk = std::size_t{1} << 16;

/// A line of a header without its end; nothing at the end of the input or if it is too long.
std::optional<std::string> read_line(std::istream& in) {
  std::string line;
  for (char c; in.get(c);) {
    if (c == '\n') {
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    line += c;
    if (line.size() > kLongestHeader) break;
  }
  return std::nullopt;
}

/// The number of a Content-Length line.
std::optional<std::size_t> length_of(std::string line) {
  std::transform(line.begin(), line.end(), line.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (!line.starts_with(kLength)) return std::nullopt;
  const char* begin = line.data() + kLength.size();
  const char* const end = line.data() + line.size();
  while (begin < end && *begin == ' ') ++begin;
  std::size_t length = 0;
  if (std::from_chars(begin, end, length).ec != std::errc()) return std::nullopt;
  return length;
}

}  // namespace

std::optional<std::string> read_message(std::istream& in) {
  std::optional<std::size_t> length;
  while (true) {
    const std::optional<std::string> line = read_line(in);
    if (!line) return std::nullopt;
    if (const auto found = length_of(*line)) length = found;
    if (line->empty() && length) break;
  }
  if (*length > kLongestMessage) return std::nullopt;
  // Memory is taken for what comes, not for what is announced.
  std::string content;
  while (content.size() < *length) {
    const std::size_t begin = content.size();
    content.resize(begin + std::min(kChunk, *length - begin));
    if (!in.read(content.data() + begin, static_cast<std::streamsize>(content.size() - begin))) {
      return std::nullopt;
    }
  }
  return content;
}

void write_message(std::ostream& out, const Json& message) {
  const std::string content = message.text();
  out << "Content-Length: " << content.size() << "\r\n\r\n" << content << std::flush;
}

}  // namespace neslc::lsp
