// What the tests of the front end share.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vcode/link.hpp"
#include "vcode/parser.hpp"
#include "vcode/verifier.hpp"

namespace vcode::testing {

/// A program text on its way through the front end; each stage is empty if one before it failed.
struct Outcome {
  std::shared_ptr<const Source> source;
  Diagnostics diagnostics;
  std::optional<Program> program;
  std::optional<LinkedProgram> linked;
  std::optional<Verification> verification;

  std::string messages() const { return render(diagnostics, source.get(), {}); }
  bool has(ErrorCode code) const {
    for (const Diagnostic& diagnostic : diagnostics.all()) {
      if (diagnostic.code == code) return true;
    }
    return false;
  }
};

inline Outcome parse_text(std::string text) {
  Outcome outcome;
  outcome.source = std::make_shared<Source>("p.vcode", std::move(text));
  outcome.program = parse(outcome.source, outcome.diagnostics);
  return outcome;
}

inline Outcome link_text(std::string text) {
  Outcome outcome = parse_text(std::move(text));
  if (outcome.program) outcome.linked = link(*outcome.program, outcome.diagnostics);
  return outcome;
}

inline Outcome verify_text(std::string text, const VerifyOptions& options = {}) {
  Outcome outcome = link_text(std::move(text));
  if (outcome.linked) {
    outcome.verification = verify(*outcome.linked, outcome.diagnostics, options);
  }
  outcome.diagnostics.sort();
  return outcome;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<std::filesystem::path> conformance_programs() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(PROJECT_ROOT) /
                                                               "test/conformance")) {
    if (entry.path().extension() == ".vcode") paths.push_back(entry.path());
  }
  return paths;
}

inline std::vector<std::filesystem::path> fcode_programs() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(PROJECT_ROOT) / "test/fcode")) {
    if (entry.path().extension() == ".fcode") paths.push_back(entry.path());
  }
  return paths;
}

}  // namespace vcode::testing
