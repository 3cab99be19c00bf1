#include "bench/gpu-report/archive.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "bench/gpu-report/process.hpp"

namespace gpu_report {
namespace {

constexpr std::size_t kBlock = 512;

/// The fields of a header, at their offsets. Numbers are octal.
std::string header(const std::string& name, std::size_t bytes) {
  std::string block(kBlock, '\0');
  const auto put = [&](std::size_t offset, const std::string& text) {
    block.replace(offset, text.size(), text);
  };
  put(0, name.substr(0, 99));
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", bytes));
  put(136, fmt::format("{:011o}", std::time(nullptr)));
  put(148, "        ");  // the sum is of a header with blanks in its place
  put(156, "0");
  put(257, std::string("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return block;
}

}  // namespace

void pack(const std::filesystem::path& folder, const std::filesystem::path& archive) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string all;
  for (const auto& file : files) {
    const std::string content = contents(file);
    all += header((folder.filename() / file.filename()).string(), content.size()) + content;
    all.resize((all.size() + kBlock - 1) / kBlock * kBlock);
  }
  all.resize(all.size() + 2 * kBlock);
  write_file(archive, all);
}

}  // namespace gpu_report
