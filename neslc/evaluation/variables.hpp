// The values of top-level variables, and the background evaluations that some of them wait for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "neslc/evaluation/background.hpp"
#include "neslc/flatten/compiler.hpp"

namespace neslc {

/// Thrown when the value of a variable is needed whose background evaluation failed, or when the
/// wait for it was interrupted.
struct NoValue {
  Evaluation evaluation;
};

class Variables final : public TopLevelValues {
 public:
  explicit Variables(cvl::Backend& backend) : backend_(&backend) {}

  /// Is told when a background evaluation has given a value.
  std::function<void(const BackgroundEvaluation&, const Evaluation&)> on_value;
  vinterp::LineProfile* profile = nullptr;  // gets what they counted

  // ---- What a program uses of them

  /// Forgets what the program before used.
  void begin_program();
  /// Waits for the value, if need be. Throws NoValue.
  std::int64_t first_component(const Definition& variable) override;
  const std::vector<cvl::Value>& components() const { return components_; }

  // ---- Values

  /// `values`: the components of all variables.
  void bind(const std::vector<const Definition*>& variables, const std::vector<std::size_t>& widths,
            const std::vector<cvl::Value>& values);
  /// The variables get their values when the evaluation ends.
  void bind(std::unique_ptr<BackgroundEvaluation> evaluation);
  /// Null if it has none. Waits for the value, if need be. Throws NoValue.
  const std::vector<cvl::Value>* value_of(const Definition& variable);
  /// Goes on with another backend, which takes over all values. The old one must live until then.
  /// Throws cvl::Failure and changes nothing if the values do not fit.
  void move_to(cvl::Backend& backend);

  // ---- Background evaluations

  /// Those whose result has not been fetched, or was a failure: `a : int` and their state.
  std::string background_text();
  /// Lets ended processes go; waits for nothing.
  void collect_processes();
  /// Waits for all of them. Returns what nobody has been told yet: failures, or the interruption
  /// that ended the wait.
  std::vector<Evaluation> await_all();

 private:
  struct Pending {
    std::unique_ptr<BackgroundEvaluation> evaluation;
    std::optional<Evaluation> failure;
    bool told = false;
  };

  Pending* pending(const Definition& variable);
  static Evaluation tell(Pending& pending);
  bool fetch(Pending& pending, Evaluation& interrupted);
  void keep(const std::vector<const Definition*>& variables, const std::vector<std::size_t>& widths,
            const std::vector<cvl::Value>& values);
  void release(const std::vector<const Definition*>& variables);
  void await(const Definition& variable);

  cvl::Backend* backend_;
  std::unordered_map<const Definition*, std::vector<cvl::Value>> values_;
  std::vector<std::unique_ptr<Pending>> pending_;  // in the order of their start
  // Of the program being made.
  std::unordered_map<const Definition*, std::int64_t> first_components_;
  std::vector<cvl::Value> components_;
};

}  // namespace neslc
