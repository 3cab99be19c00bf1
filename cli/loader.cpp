#include "cli/loader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "fcode-opt/optimizer.hpp"
#include "fcode-opt/stopping.hpp"
#include "machine/interrupt.hpp"
#include "vcode/keywords.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"

namespace vinterp {
namespace {

namespace fs = std::filesystem;

/// A file in the same folder whose name is near to that of the missing one; empty if none is.
std::string similar_file(const fs::path& missing) {
  const fs::path folder = missing.has_parent_path() ? missing.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());  // of equally near names always the same one
  const std::string wanted = missing.filename().string();
  vcode::NearestWord nearest(wanted);
  for (const std::string& name : names) nearest.consider(name);
  if (nearest.best().empty()) return {};
  return (missing.parent_path() / nearest.best()).string();
}

void cannot_read(const std::string& path, int error, vcode::Diagnostics& diagnostics) {
  vcode::Diagnostic diagnostic;
  diagnostic.code = vcode::ErrorCode::CannotOpen;
  diagnostic.message = fmt::format("cannot read `{}`: {}", vcode::escaped(path),
                                   std::generic_category().message(error));
  if (error == ENOENT) {
    if (const std::string similar = similar_file(path); !similar.empty()) {
      diagnostic.hint = fmt::format("did you mean `{}`?", vcode::escaped(similar));
    }
  }
  diagnostics.add(std::move(diagnostic));
}

struct FileCloser {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

/// What is left in the file, or what could be read of it. Goes straight into a string of the size
/// of the file: a page of memory that is touched for the first time takes a microsecond.
std::string read_rest(std::FILE* file) {
  constexpr std::size_t kPiece = 4096;
  struct stat status {};
  const bool is_plain = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
  const std::size_t size = is_plain ? static_cast<std::size_t>(status.st_size) : 0;
  std::string text(std::max(size + 1, kPiece), '\0');
  std::size_t used = 0;
  while (const std::size_t got = std::fread(text.data() + used, 1, text.size() - used, file)) {
    used += got;
    if (used == text.size()) text.resize(2 * used);
  }
  text.resize(used);
  return text;
}

/// The file of a command line, where a dash stands for standard input.
std::FILE* open_source(const std::string& path) {
  return path == "-" ? stdin : std::fopen(path.c_str(), "rbe");
}

}  // namespace

std::shared_ptr<const vcode::Source> read_source(const std::string& path,
                                                 vcode::Diagnostics& diagnostics) {
  const std::unique_ptr<std::FILE, FileCloser> file(open_source(path));
  if (!file) {
    cannot_read(path, errno, diagnostics);
    return nullptr;
  }
  std::string text = read_rest(file.get());
  if (std::ferror(file.get()) != 0) {
    cannot_read(path, errno, diagnostics);
    return nullptr;
  }
  return std::make_shared<const vcode::Source>(path, std::move(text));
}

std::optional<vcode::LinkedProgram> load_program(std::shared_ptr<const vcode::Source> source,
                                                 vcode::Diagnostics& diagnostics,
                                                 const LoadOptions& options) {
  std::optional<vcode::Program> program = vcode::parse(std::move(source), diagnostics);
  if (!program) return std::nullopt;
  if (!options.optimize) return vcode::link(std::move(*program), diagnostics);
  if (!vcode::link(*program, diagnostics)) return std::nullopt;  // its messages are wanted
  fcode::OptimizerOptions optimizer;
  optimizer.level = *options.optimize;
  optimizer.disabled = options.disabled_passes;
  optimizer.stop = [&options] { return must_end() || (options.stop && options.stop()); };
  vcode::Diagnostics none;  // what is wrong with the program has been said
  try {
    program = fcode::optimize(*program, optimizer);
  } catch (const fcode::Stopped&) {  // it is not going to run for long, if at all
  }
  return vcode::link(std::move(*program), none);
}

}  // namespace vinterp
