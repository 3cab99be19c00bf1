// The top level: carries out one form after another and shows what became of it. Files, the prompt
// and loaded files go through the same one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "neslc/command/modules.hpp"
#include "neslc/evaluation/runner.hpp"

namespace neslc {

// Exit statuses of the command.
inline constexpr int kOk = 0;
inline constexpr int kWrongProgram = 1;
inline constexpr int kUsage = 2;
inline constexpr int kRunTimeFailure = 3;
inline constexpr int kLimit = 4;
inline constexpr int kSignalStatus = 128;  // plus the number of the signal

/// What is shown beside messages.
struct ShowOptions {
  bool values = true;        // `it = VALUE : TYPE`
  bool definitions = false;  // `NAME = fn : TYPE`
  bool transcript = false;   // the lines of the conformance corpus, and nothing else
  bool time = false;         // seconds of every evaluation, on standard error
  bool cost = false;         // its cost, on standard error
};

/// What the command `set` changes and nobody else keeps.
struct Settings {
  bool verbose = false;  // progress words
  std::string editor;    // empty: that of the environment
};

inline constexpr std::size_t kWordBytes = 8;  // the classic unit of memory

/// A machine configuration: a backend and its limits.
struct Configuration {
  std::string backend = "auto";
  int device = 0;
  int threads = 0;
  std::optional<std::size_t> memory;
  std::size_t max_time = 0;  // seconds for evaluations in the background; 0: no limit
};

class Toplevel {
 public:
  /// Throws cvl::Failure if there is no such backend.
  Toplevel(const vinterp::Options& machine, const ShowOptions& show);
  ~Toplevel();

  ShowOptions show;
  Settings settings;

  /// Carries out a form. The status is that of its errors, which are shown.
  int process(const ParsedForm& form);
  /// All forms of a text, until one of them ends the session. The greatest status.
  int process(const std::shared_ptr<const vcode::Source>& source);
  /// All forms of a file, whose ending `.nesl` may be left out. Throws CommandError if it cannot be
  /// read.
  int load(const std::string& file, bool print);
  /// All forms of a module that a text imports, unless that has been done. Throws CommandError if
  /// it cannot be read, or is being read.
  int import(const std::string& name, const vcode::Source& importer);
  /// Checks a form without evaluating anything. What it defines is visible from then on, and
  /// variables stand for their expressions. The forms of modules, and of files that are loaded by
  /// their names in quotes, are checked, too; other commands are not carried out.
  int check(const ParsedForm& form);
  /// At the end of the input: waits for all background evaluations, unless `exit` has been
  /// processed, and shows the failures that no use of their variables has shown. The greatest
  /// status.
  int finish_background();
  /// `exit` has been processed.
  bool finished() const { return finished_; }
  /// Reports what was collected for the whole session: the profile, the sum of the costs.
  void report();

  // ---- For commands

  Session& session() { return session_; }
  Evaluator& evaluator() { return *evaluator_; }
  Runner& runner() { return *runner_; }
  const vinterp::Options& machine() const { return machine_; }
  std::map<std::string, Configuration>& configurations() { return configurations_; }
  const std::map<std::string, Configuration>& configurations() const { return configurations_; }
  const std::string& configuration() const { return configuration_; }
  /// Goes on with that configuration, all values included. Throws cvl::Failure.
  void configure(const std::string& name, const Configuration& configuration);
  const std::string& last_file() const { return last_file_; }
  /// The texts of the definitions and bindings in force, in their order.
  const std::vector<std::string>& journal() const { return journal_; }
  void finish() { finished_ = true; }

  void print(std::string_view text);
  void print_error(std::string_view text);
  int complain(const vcode::Diagnostic& diagnostic, const vcode::Source* source);
  vcode::Diagnostic out_of_memory() const;
  /// Shows a result as process() does.
  int present(const FormResult& result);

 private:
  int command(const ParsedForm& form);
  /// Another form where `import "text"` is a call of a function of the program.
  const ParsedForm& meant(const ParsedForm& form, ParsedForm& call);
  using Action = std::function<int(const ParsedForm&)>;
  int import(const std::string& name, const vcode::Source& importer, const Action& action);
  int check_files_of(const ast::Form& form, const ast::CommandForm& command);
  std::shared_ptr<const vcode::Source> open(const std::string& file);
  /// While it lives, a file is being loaded. Throws CommandError if too many are.
  class Loading;
  void remember(const ast::Form& form, const FormResult& result);
  void print_line(const FormResult& result);
  FormResult interrupted() const;
  void show_measures(const FormResult& result);
  void show_background_measures(const BackgroundEvaluation& background, const Evaluation& result);

  vinterp::Options machine_;
  Session session_;
  std::unique_ptr<cvl::Backend> backend_;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<Runner> runner_;
  vinterp::LineProfile profile_;
  Cost total_cost_;
  std::size_t evaluations_ = 0;
  std::map<std::string, Configuration> configurations_;
  std::string configuration_;
  std::string last_file_;
  std::vector<std::string> journal_;
  int loads_ = 0;  // files that are being loaded
  Modules modules_;
  bool finished_ = false;
};

/// The text of a file, or of standard input for "-". Throws CommandError.
std::shared_ptr<const vcode::Source> read_program(const std::string& file);

}  // namespace neslc
