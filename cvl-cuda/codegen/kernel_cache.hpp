// Compiled kernels on disk.
//
// A file for each text that was compiled, under a hash of everything that the result depends on:
// structure of the kernel, widths, headers, options, version of the compiler, architecture. Files
// appear under their names when they are complete, so that any number of programs may share a
// folder. Nothing here fails: what cannot be read is compiled again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace cvl::cuda::codegen {

class KernelCache {
 public:
  /// The folder of this user: `nesl/kernels` in $XDG_CACHE_HOME, or in .cache of the home folder.
  /// Without either nothing is kept.
  static KernelCache of_user();
  explicit KernelCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::optional<std::string> load(const std::string& key) const;
  /// False when the file cannot be written.
  bool store(const std::string& key, const std::string& content) const;

  /// 32 hexadecimal digits of a hash of 128 bits.
  static std::string key(std::string_view text);

 private:
  std::filesystem::path path_of(const std::string& key) const { return folder_ / (key + ".cubin"); }

  std::filesystem::path folder_;  // empty: none
};

}  // namespace cvl::cuda::codegen
