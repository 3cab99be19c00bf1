#include "checker.hpp"

#include <set>
#include <string_view>
#include <utility>

#include "cli/backends.hpp"
#include "interpreter.hpp"
#include "neslc/evaluation/value_text.hpp"
#include "neslc/flatten/definitions_text.hpp"
#include "neslc/front/library_text.hpp"
#include "neslc/front/parser.hpp"
#include "program.hpp"
#include "vcode-smith/machine_runner.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"

namespace neslc::random_test {
namespace {

using direct::Value;

constexpr std::int64_t kSteps = 60'000;
constexpr std::string_view kCheckFailed = "RUNTIME ERROR: ";

std::unique_ptr<cvl::Backend> make_backend() {
  vinterp::Options options;
  options.backend = "cpu";
  options.threads = 1;
  return vinterp::make_backend(options);
}

/// Builds trees from the vectors that a compiled program leaves (reference 10.1).
class Reader {
 public:
  Reader(TypeTable& types, std::vector<Column> columns)
      : types_(types), columns_(std::move(columns)) {}

  /// `count` values of a type.
  std::vector<Value> read(TypePtr type, std::size_t count) {
    std::vector<Value> result;
    switch (type->kind) {
      case TypeKind::Pair: {
        std::vector<Value> first = read(type->first(), count);
        std::vector<Value> second = read(type->second(), count);
        for (std::size_t i = 0; i < count; ++i) {
          result.push_back(direct::make_pair(std::move(first[i]), std::move(second[i])));
        }
        return result;
      }
      case TypeKind::Record:
        return read(types_.fields_of(type), count);
      case TypeKind::Sequence: {
        const std::vector<std::int64_t> lengths = next<std::int64_t>(count);
        std::size_t total = 0;
        for (const std::int64_t length : lengths) total += static_cast<std::size_t>(length);
        const std::vector<Value> elements = read(type->element(), total);
        auto at = elements.begin();
        for (const std::int64_t length : lengths) {
          result.push_back(direct::make_sequence({at, at + length}));
          at += length;
        }
        return result;
      }
      case TypeKind::Float:
        for (const double value : next<double>(count)) result.push_back(direct::make_float(value));
        return result;
      case TypeKind::Bool:
        for (const auto value : next<std::uint8_t>(count)) {
          result.push_back(direct::make_bool(value != 0));
        }
        return result;
      case TypeKind::Char:
        for (const std::int64_t value : next<std::int64_t>(count)) {
          result.push_back(direct::make_char(static_cast<unsigned char>(value)));
        }
        return result;
      default:
        for (const std::int64_t value : next<std::int64_t>(count)) {
          result.push_back(direct::make_int(value));
        }
        return result;
    }
  }

  bool complete() const { return next_ == columns_.size(); }

 private:
  template <class T>
  std::vector<T> next(std::size_t count) {
    auto column = std::get<std::vector<T>>(columns_.at(next_++));
    if (column.size() != count) throw std::runtime_error("a vector of the wrong length");
    return column;
  }

  TypeTable& types_;
  std::vector<Column> columns_;
  std::size_t next_ = 0;
};

/// What the direct evaluator says: a value, or why there is none.
std::string text_of(const std::optional<Value>& value, const std::set<std::string>& messages) {
  if (value) return direct::text_of(*value);
  std::string text = "error";
  for (const std::string& message : messages) text += ", " + message;
  return text;
}

}  // namespace

Checker::Checker(int level)
    : session_(std::string(library_text()) + std::string(definitions_text())),
      backend_(make_backend()),
      evaluator_(session_, *backend_) {
  evaluator_.options.optimizer.level = level;
  evaluator_.options.optimizer.check = true;
  evaluator_.options.kernels = vinterp::KernelUse::Always;
  if (const Verdict verdict = check(kPrelude); verdict.kind != Verdict::Kind::Agreed) {
    throw std::logic_error("the prelude: " + verdict.detail);
  }
}

Verdict Checker::check(const std::string& text) {
  using Kind = Verdict::Kind;
  const auto source = std::make_shared<const vcode::Source>("program", text);
  for (ParsedForm& parsed : parse_program(source).forms) {
    if (parsed.error) return {Kind::Rejected, transcript_line(*parsed.error)};
    Checked checked = session_.check(parsed.form);
    if (!checked) {
      return {Kind::Rejected,
              transcript_line(*checked.error) + " " + checked.error->diagnostic.message};
    }
    const CheckedForm::Kind kind = checked.form->kind;
    if (kind != CheckedForm::Kind::Expression && kind != CheckedForm::Kind::Binding) {
      session_.commit(std::move(*checked.form));
      continue;
    }
    std::vector<cvl::Value> values;
    Verdict verdict = compare(*checked.form, values);
    if (verdict.kind != Kind::Agreed) return verdict;
    if (kind == CheckedForm::Kind::Binding) evaluator_.bind(std::move(*checked.form), values);
  }
  return {};
}

Verdict Checker::compare(const CheckedForm& form, std::vector<cvl::Value>& values) {
  using Kind = Verdict::Kind;
  std::optional<Value> expected;
  std::set<std::string> messages;
  try {
    expected = direct::Interpreter(session_.types(), kSteps).evaluate(*form.body);
  } catch (const direct::RuntimeError& error) {
    messages = error.messages;
  } catch (const direct::Unspecified& reason) {
    return {Kind::Skipped, reason.what()};
  }
  try {
    Evaluation evaluation = evaluator_.evaluate(form);
    if (evaluation.status == Evaluation::Status::Stopped) {
      const bool same = evaluation.message.starts_with(kCheckFailed) &&
                        messages.contains(evaluation.message.substr(kCheckFailed.size()));
      if (same) {
        if (stops_when_optimized(form)) return {Kind::BothStopped, ""};
        return {Kind::Differs, "the optimized program does not stop"};
      }
      return {Kind::Differs,
              "compiled: " + evaluation.message + "\n  direct: " + text_of(expected, messages)};
    }
    if (evaluation.status != Evaluation::Status::Done) {
      return {Kind::Differs, "the compiled program failed: " +
                                 (evaluation.diagnostic ? evaluation.diagnostic->message : "")};
    }
    std::vector<Column> columns;
    values = std::move(evaluation.values);
    for (const cvl::Value& value : values) columns.push_back(download(*backend_, value));
    Reader reader(session_.types(), std::move(columns));
    const Value value = reader.read(form.scheme.type, 1)[0];
    if (!reader.complete()) return {Kind::Differs, "too many vectors"};
    if (expected && direct::equal(value, *expected)) return {};
    return {Kind::Differs,
            "compiled: " + direct::text_of(value) + "\n  direct: " + text_of(expected, messages)};
  } catch (const std::exception& error) {
    return {Kind::Differs, std::string("exception: ") + error.what()};
  }
}

bool Checker::stops_when_optimized(const CheckedForm& form) {
  vcode::Diagnostics diagnostics;
  auto program =
      vcode::parse(std::make_shared<const vcode::Source>(
                       "program", evaluator_.compile(form, evaluator_.options.optimizer)),
                   diagnostics);
  const smith::MachineRun run = smith::run_on_machine(
      vcode::link(std::move(program.value()), diagnostics).value(), *backend_, smith::RunSetup());
  return run.failure || (run.exited && !run.error.empty());
}

}  // namespace neslc::random_test
