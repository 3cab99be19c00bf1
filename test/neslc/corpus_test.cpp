// The conformance corpus as far as it concerns the front half: every static error, no other one,
// and the types of all definitions and results.
#include <algorithm>
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include "support.hpp"

namespace neslc::testing {
namespace {

std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(PROJECT_ROOT "/test/nesl-conformance")) {
    if (entry.path().extension() == ".nesl") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> companion(std::filesystem::path path, const char* extension) {
  path.replace_extension(extension);
  return std::filesystem::exists(path) ? lines_of(read_file(path)) : std::vector<std::string>();
}

bool is_run_time_error(const std::string& line) {
  return line.starts_with("RUNTIME ERROR") || line.starts_with("ERROR");
}

// `name = VALUE : TYPE` for a value that is not known here.
bool fits_result(const std::string& expected, const CheckedForm& form) {
  const std::string type = scheme_text(form.scheme);
  std::string name = "it";
  if (const auto* binding = std::get_if<ast::BindingForm>(&form.form->node)) {
    name = ast::pattern_text(*binding->pattern);
  }
  INFO(expected << " | " << name << " : " << type);
  CHECK(expected.starts_with(name + " = "));
  CHECK(expected.ends_with(" : " + type));
  return true;
}

void check_file(const std::filesystem::path& path) {
  const std::vector<std::string> expected = companion(path, ".expected");
  const std::vector<std::string> types = companion(path, ".types");
  auto next_line = expected.begin();
  auto next_type = types.begin();
  Session session;
  for (ParsedForm& parsed : parse_program(make_source(read_file(path))).forms) {
    Checked checked;
    if (parsed.form) {
      checked = session.check(parsed.form);
    } else {
      checked.error = std::move(parsed.error);
    }
    const StaticError* error = checked.error ? &*checked.error : nullptr;
    INFO((error ? vcode::render(error->diagnostic, error->source.get(), {}) : ""));
    if (error != nullptr) {
      REQUIRE(next_line != expected.end());
      CHECK(transcript_line(*error) == *next_line++);
      continue;
    }
    using Kind = CheckedForm::Kind;
    const Kind kind = checked.form->kind;
    if (kind == Kind::Function || kind == Kind::Declaration || kind == Kind::Datatype) {
      REQUIRE(next_type != types.end());
      const CheckedForm::Change& change = checked.form->changes[0];
      const std::string own = change.contents.name + " = fn : ";
      CHECK(next_type->starts_with(own));
      CHECK(normal_type(scheme_text(change.contents.scheme)) ==
            normal_type(next_type->substr(own.size())));
      ++next_type;
    } else {
      REQUIRE(next_line != expected.end());
      const std::string line = *next_line++;
      if (is_run_time_error(line)) continue;
      fits_result(line, *checked.form);
    }
    session.commit(std::move(*checked.form));
  }
  CHECK(next_line == expected.end());
  CHECK(next_type == types.end());
}

TEST_CASE("the corpus has the static errors and types that it should", "[corpus]") {
  const auto paths = corpus();
  CHECK(paths.size() >= 80);
  for (const auto& path : paths) {
    DYNAMIC_SECTION(path.stem().string()) {
      check_file(path);
    }
  }
}

}  // namespace
}  // namespace neslc::testing
