#include <algorithm>
#include <getopt.h>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "vcode/diagnostics.hpp"
#include "vcode/keywords.hpp"
#include "vinterp/command_line.hpp"

namespace vinterp {
namespace {

constexpr std::string_view kNegation = "no-";

using Table = std::span<const OptionRow>;

[[noreturn]] void unknown_option(Table table, const std::string& written) {
  const std::string name = written.substr(0, written.find('='));
  const std::string message = fmt::format("unknown option `{}`", vcode::escaped(name));
  vcode::NearestWord nearest(name);
  std::vector<std::string> names;
  for (const OptionRow& row : table) {
    if (row.name.empty() || row.hidden) continue;
    names.push_back(fmt::format("--{}", row.name));
    if (row.undo) names.push_back(fmt::format("--{}{}", kNegation, row.name));
  }
  for (const std::string& candidate : names) nearest.consider(candidate);
  if (nearest.best().empty()) throw UsageError(message);
  throw UsageError(message, fmt::format("did you mean `{}`?", nearest.best()));
}

int argument_kind(const OptionRow& row) {
  if (row.argument == ArgumentKind::None) return no_argument;
  return row.argument == ArgumentKind::Required ? required_argument : optional_argument;
}

/// The options of a table as getopt_long takes them, which is a parser with a global state: one at
/// a time. Its codes are the letters and, for what is written as a word, the numbers behind all
/// letters: two for each row.
class GetoptTable {
 public:
  explicit GetoptTable(Table table) : table_(table) {
    names_.reserve(2 * table.size());
    letters_ = "-:";  // words come in order, and a missing argument has a code of its own
    for (std::size_t i = 0; i < table.size(); ++i) {
      const OptionRow& row = table[i];
      const int kind = argument_kind(row);
      if (row.letter != 0)
        letters_ += row.letter + std::string(static_cast<std::size_t>(kind), ':');
      if (!row.name.empty()) add(std::string(row.name), kind, code(i));
      if (row.undo) add(fmt::format("{}{}", kNegation, row.name), no_argument, code(i) + 1);
    }
    words_.push_back({});
  }

  const char* letters() const { return letters_.c_str(); }
  const option* words() const { return words_.data(); }

  const OptionRow& row(int code) const {
    if (code >= kFirstWord) return table_[static_cast<std::size_t>(code - kFirstWord) / 2];
    return *std::find_if(table_.begin(), table_.end(),
                         [code](const OptionRow& row) { return row.letter == code; });
  }
  static bool is_letter(int code) { return code < kFirstWord; }
  static bool is_negated(int code) { return !is_letter(code) && (code - kFirstWord) % 2 == 1; }

  /// The option as it is to be written.
  std::string name(int code) const {
    if (is_letter(code)) return fmt::format("-{}", static_cast<char>(code));
    return fmt::format("--{}{}", is_negated(code) ? kNegation : "", row(code).name);
  }

 private:
  static constexpr int kFirstWord = 256;

  static int code(std::size_t row) { return kFirstWord + 2 * static_cast<int>(row); }
  void add(std::string name, int kind, int code) {
    names_.push_back(std::move(name));
    words_.push_back({names_.back().c_str(), kind, nullptr, code});
  }

  Table table_;
  std::string letters_;
  std::vector<std::string> names_;  // never moved: the words point to them
  std::vector<option> words_;
};

/// Why getopt_long has stopped at the argument `written`.
[[noreturn]] void refuse(int code, const GetoptTable& getopt_table, Table table,
                         std::string_view written) {
  if (code == ':') {
    throw UsageError(fmt::format("option `{}` needs an argument", getopt_table.name(optopt)));
  }
  if (optopt != 0 && !GetoptTable::is_letter(optopt)) {
    throw UsageError(fmt::format("option `{}` takes no argument", getopt_table.name(optopt)));
  }
  unknown_option(table, optopt == 0 ? std::string(written) : getopt_table.name(optopt));
}

/// What getopt_long accepts: the beginning of a name for the whole, an empty argument.
void check_word(const std::string& name, Table table, std::string_view written) {
  if (written.substr(0, written.find('=')) != name) unknown_option(table, std::string(written));
  if (written.substr(name.size()) == "=") {
    throw UsageError(fmt::format("option `{}` needs an argument", name));
  }
}

void apply(int code, const GetoptTable& getopt_table, Options& options) {
  const OptionRow& row = getopt_table.row(code);
  if (GetoptTable::is_negated(code)) {
    row.undo(options);
  } else if (row.argument != ArgumentKind::None) {
    row.apply(options, optarg == nullptr ? "" : optarg);
  } else {
    row.apply(options, row.name.empty() ? std::string(1, row.letter) : std::string(row.name));
  }
}

}  // namespace

std::vector<std::string> parse_arguments(Table table, std::span<const std::string> arguments,
                                         Options& options) {
  std::vector<std::string> copies(arguments.begin(), arguments.end());
  std::vector<char*> argv{nullptr};  // the program's name, which nobody looks at
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const GetoptTable getopt_table(table);

  std::vector<std::string> words;
  optind = 0;  // begins anew
  for (int at = 1;; at = optind) {
    const int code = getopt_long(static_cast<int>(arguments.size()) + 1, argv.data(),
                                 getopt_table.letters(), getopt_table.words(), nullptr);
    if (code == -1) break;
    const std::string_view written = argv[static_cast<std::size_t>(at)];
    if (code == 1) {
      words.emplace_back(optarg);
      continue;
    }
    if (code == '?' || code == ':') refuse(code, getopt_table, table, written);
    if (!GetoptTable::is_letter(code)) check_word(getopt_table.name(code), table, written);
    apply(code, getopt_table, options);
  }
  words.insert(words.end(), argv.begin() + optind, argv.end() - 1);
  return words;
}

}  // namespace vinterp
