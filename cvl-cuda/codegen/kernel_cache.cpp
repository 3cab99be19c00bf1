#include "cvl-cuda/codegen/kernel_cache.hpp"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace cvl::cuda::codegen {
namespace {

namespace fs = std::filesystem;

__extension__ using Hash = unsigned __int128;

/// Fowler, Noll, Vo: FNV-1a with 128 bits.
Hash hash_of(const std::string& text) {
  constexpr Hash kPrime = (Hash{1} << 88) + 0x13B;
  Hash hash = Hash{0x6C62272E07BB0142} << 64 | 0x62B821756295C58D;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * kPrime;
  return hash;
}

}  // namespace

std::string KernelCache::key(const std::string& text) {
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
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  const std::size_t digits = key({}).size();
  if (all.size() <= digits) return std::nullopt;
  std::string content = all.substr(digits);
  if (key(content) != all.substr(0, digits)) return std::nullopt;
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
