#include "fcode-opt/command.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <unistd.h>

#include <fmt/core.h>

#include "cli/guard.hpp"
#include "cli/help.hpp"
#include "cli/loader.hpp"
#include "fcode-opt/command_options.hpp"
#include "fcode-opt/emit_kernels.hpp"
#include "fcode-opt/pass_table.hpp"
#include "fcode-opt/report_text.hpp"
#include "machine/byte_buffer.hpp"
#include "machine/streams.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"
#include "vcode/printer.hpp"
#include "vcode/verifier.hpp"

namespace fcode {
namespace {

using vcode::Diagnostic;
using vcode::Diagnostics;
using vcode::ErrorCode;
using vinterp::Task;

constexpr std::string_view kProgram = "fcode-opt";
constexpr const char* kStandardInput = "/dev/stdin";

int status_of(ErrorCode code) {
  return static_cast<int>(vcode::info(code).error_class);
}

class Command {
 public:
  int run(std::span<const std::string> arguments);

 private:
  int information();
  int process_file();
  int optimize_program(const vcode::Program& program);
  int expand_program(const vcode::Program& program);
  int emit(const vcode::Program& program);
  void report(const OptimizerReport& found) const;
  int write(std::string_view text);
  int fail(ErrorCode code, std::string message);
  int show(Diagnostics& diagnostics) const;
  vcode::RenderOptions rendering() const {
    return {vinterp::use_color(options_.common.color), kProgram};
  }

  CommandOptions options_;
  std::shared_ptr<const vcode::Source> source_;
};

int Command::run(std::span<const std::string> arguments) {
  options_ = parse_command(arguments);
  const bool program = options_.common.task == Task::Run && !options_.list_passes;
  return program ? process_file() : information();
}

int Command::information() {
  if (options_.list_passes) return write(list_passes());
  const CommandTable table(options_);
  switch (options_.common.task) {
    case Task::Version:
      return write(vinterp::version_text(kProgram));
    case Task::Manual:
      return write(vinterp::manual_page(table.line()));
    case Task::BashCompletion:
      return write(vinterp::bash_completion(table.line()));
    case Task::ZshCompletion:
      return write(vinterp::zsh_completion(table.line()));
    case Task::FishCompletion:
      return write(vinterp::fish_completion(table.line()));
    default:
      return write(vinterp::help_text(table.line()));
  }
}

int Command::process_file() {
  Diagnostics diagnostics;
  source_ =
      vinterp::read_source(options_.file == "-" ? kStandardInput : options_.file, diagnostics);
  std::optional<vcode::Program> program;
  if (source_) program = vcode::parse(source_, diagnostics);
  std::optional<vcode::LinkedProgram> linked;
  if (program) linked = vcode::link(*program, diagnostics);
  if (linked) vcode::verify(*linked, diagnostics);
  if (const int status = show(diagnostics); status != 0) return status;
  return options_.expand ? expand_program(*program) : optimize_program(*program);
}

int Command::optimize_program(const vcode::Program& program) {
  OptimizerReport found;
  const vcode::Program optimized = optimize(program, options_.optimizer, &found);
  report(found);
  if (!options_.optimizer.dump.empty()) return write(found.dump);
  return emit(optimized);
}

int Command::emit(const vcode::Program& program) {
  switch (options_.emit) {
    case CommandOptions::Emit::Cuda:
      return write(cuda_text(program));
    case CommandOptions::Emit::Cubin:
      break;
    default:
      return write(vcode::print(program));
  }
  if (options_.output.empty() || options_.output == "-") {
    return fail(ErrorCode::Usage, "--emit=cubin writes a folder, which --output must name");
  }
  const EmittedKernels emitted = ship_kernels(program, options_.capability, options_.output);
  for (const std::string& note : emitted.notes) {
    std::fputs(fmt::format("{}: note: {}\n", kProgram, vcode::escaped(note)).c_str(), stderr);
  }
  return emitted.error.empty() ? 0 : fail(ErrorCode::OutputFailed, emitted.error);
}

int Command::expand_program(const vcode::Program& program) {
  std::string missing;
  const auto expanded = expand(program, missing);
  if (expanded) return write(vcode::print(*expanded));
  return fail(ErrorCode::Syntax,
              fmt::format("the kernel `{}` has no SPEC and cannot be expanded", missing));
}

void Command::report(const OptimizerReport& found) const {
  for (const Remark& remark : found.remarks) {
    std::fputs(fmt::format("{}: note: {}\n", kProgram, vcode::escaped(remark.text)).c_str(),
               stderr);
  }
  if (options_.report_fusion) std::fputs(fusion_text(found, *source_).c_str(), stderr);
  if (options_.optimizer.memory) std::fputs(memory_text(found, *source_).c_str(), stderr);
  if (options_.report_statistics) std::fputs(statistics_text(found).c_str(), stderr);
}

// Standard output, or the file of -o, which is opened only when there is a result.
int Command::write(std::string_view text) {
  if (options_.output.empty() || options_.output == "-" || options_.common.task != Task::Run) {
    const int error = vinterp::write_fully(STDOUT_FILENO, text);
    if (error == 0) return 0;
    return fail(ErrorCode::OutputFailed,
                fmt::format("cannot write to standard output: {}", vinterp::system_message(error)));
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(options_.output.c_str(), "wbe"), std::fclose);
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0) {
    return fail(ErrorCode::OutputFailed,
                fmt::format("cannot write `{}`: {}", vcode::escaped(options_.output),
                            vinterp::system_message(errno)));
  }
  return 0;
}

int Command::fail(ErrorCode code, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  std::fputs(vcode::render(diagnostic, source_.get(), rendering()).c_str(), stderr);
  return status_of(code);
}

// Returns the status that the first error asks for, 0 if there is none.
int Command::show(Diagnostics& diagnostics) const {
  diagnostics.sort();
  std::fputs(vcode::render(diagnostics, source_.get(), rendering()).c_str(), stderr);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == vcode::Severity::Error) return status_of(diagnostic.code);
  }
  return 0;
}

}  // namespace

int run_command(std::span<const std::string> arguments) noexcept {
  return vinterp::guarded(kProgram, [&] { return Command().run(arguments); });
}

}  // namespace fcode
