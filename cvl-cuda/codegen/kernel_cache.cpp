#include "cvl-cuda/codegen/kernel_cache.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace cvl::cuda::codegen {
namespace {

namespace fs = std::filesystem;

__extension__ using Hash = unsigned __int128;
/// Of a key.
constexpr std::size_t kDigits = 2 * sizeof(Hash);

/// As FNV-1a with 128 bits (Fowler, Noll, Vo), but eight bytes at a time: a program starts by
/// taking the hashes of a megabyte of machine code.
Hash hash_of(std::string_view text) {
  constexpr Hash kPrime = (Hash{1} << 88) + 0x13B;
  Hash hash = (Hash{0x6C62272E07BB0142} << 64 | 0x62B821756295C58D) ^ text.size();
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t taken = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), taken);
    text.remove_prefix(taken);
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 64;  // what a multiplication has moved up
  }
  return hash;
}

}  // namespace

std::string KernelCache::key(std::string_view text) {
  const Hash hash = hash_of(text);
  return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(hash >> 64),
                     static_cast<std::uint64_t>(hash));
}

KernelCache KernelCache::of_user() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value != nullptr && *value == '/' ? value : "";
  };
  if (const std::string base = variable("XDG_CACHE_HOME"); !base.empty()) {
    return KernelCache(fs::path(base) / "nesl" / "kernels");
  }
  const std::string home = variable("HOME");
  return KernelCache(home.empty() ? fs::path() : fs::path(home) / ".cache" / "nesl" / "kernels");
}

// A file holds the hash of its content, in the form of a key, and then the content.
std::optional<std::string> KernelCache::load(const std::string& key_text) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(path_of(key_text), std::ios::binary);
  if (!file) return std::nullopt;
  std::string hash(kDigits, '\0'), content;
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  if (size <= static_cast<std::streamoff>(kDigits)) return std::nullopt;
  content.resize(static_cast<std::size_t>(size) - kDigits);
  file.seekg(0);
  file.read(hash.data(), static_cast<std::streamsize>(hash.size()));
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file || key(content) != hash) return std::nullopt;
  return content;
}

bool KernelCache::store(const std::string& key_text, const std::string& content) const {
  if (folder_.empty()) return false;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return false;
  std::string name = (folder_ / "new-XXXXXX").string();
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) return false;
  close(descriptor);
  std::ofstream file(name, std::ios::binary);
  file << key(content) << content;
  file.close();
  // Temporary files are their owner's alone; what is shipped is for everybody.
  using enum fs::perms;
  fs::permissions(name, owner_read | owner_write | group_read | others_read, error);
  if (file) fs::rename(name, path_of(key_text), error);
  if (file && !error) return true;
  fs::remove(name, error);
  return false;
}

}  // namespace cvl::cuda::codegen
