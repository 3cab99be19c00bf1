// Archives in the format of tar (POSIX ustar): the machine with the GPU may have no program for it.
#pragma once

#include <filesystem>

namespace gpu_report {

/// Packs the files of a folder, not those of folders in it, under the folder's name. Throws
/// std::runtime_error when the archive cannot be written.
void pack(const std::filesystem::path& folder, const std::filesystem::path& archive);

}  // namespace gpu_report
