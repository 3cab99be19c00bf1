// Texts as inputs.
#pragma once

#include <cstdio>
#include <stdexcept>

#include "peer.hpp"

namespace peer {

/// All of a file.
inline Array<char> read_text(const char* name) {
  std::FILE* const file = std::fopen(name, "rb");
  if (file == nullptr) throw std::runtime_error("cannot open the text");
  std::fseek(file, 0, SEEK_END);
  Array<char> text(static_cast<std::size_t>(std::ftell(file)));
  std::rewind(file);
  const std::size_t length = std::fread(text.begin(), 1, text.size(), file);
  std::fclose(file);
  if (length != text.size()) throw std::runtime_error("cannot read the text");
  return text;
}

}  // namespace peer
