// Files of numbers: written as text or as bytes, and read block by block.
#pragma once

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "peer.hpp"

namespace peer {

/// A file that is closed at the end.
class File {
 public:
  File(const char* name, const char* mode) : file_(std::fopen(name, mode)) {
    if (file_ == nullptr) throw std::runtime_error("cannot open a file");
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { std::fclose(file_); }

  /// Returns how many elements have been read.
  template <class T>
  std::size_t read(T* to, std::size_t count) {
    return std::fread(to, sizeof(T), count, file_);
  }
  template <class T>
  void write(const T* from, std::size_t count) {
    if (std::fwrite(from, sizeof(T), count, file_) != count) {
      throw std::runtime_error("cannot write a file");
    }
  }
  void write_line(Int number) { std::fprintf(file_, "%lld\n", static_cast<long long>(number)); }

 private:
  std::FILE* file_;
};

inline bool is_space(char c) {
  return c == ' ' || c == '\n';
}

/// Calls visit(begin, end) for blocks of the text in a file that end behind words.
template <class Visit>
void for_blocks(const char* name, const Visit& visit) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  File file(name, "rb");
  std::vector<char> block(2 * kBlock);
  std::size_t rest = 0;
  while (true) {
    const std::size_t count = file.read(block.data() + rest, kBlock);
    std::size_t end = rest + count;
    const std::size_t all = end;
    while (count > 0 && end > 0 && !is_space(block[end - 1])) --end;
    visit(block.data(), block.data() + end);
    rest = all - end;
    std::memmove(block.data(), block.data() + end, rest);
    if (count == 0) return;
  }
}

/// Calls visit(number) for all numbers, none of them negative.
template <class Visit>
void for_numbers(const char* at, const char* end, const Visit& visit) {
  while (true) {
    while (at != end && is_space(*at)) ++at;
    if (at == end) return;
    Unsigned number = 0;
    for (; at != end && !is_space(*at); ++at)
      number = number * 10 + static_cast<Unsigned>(*at - '0');
    visit(static_cast<Int>(number));
  }
}

}  // namespace peer
