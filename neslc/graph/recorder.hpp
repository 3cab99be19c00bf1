// Writes down the data flow of a run while it happens.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "cvl/backend.hpp"
#include "machine/observer.hpp"
#include "neslc/evaluation/source_map.hpp"
#include "neslc/graph/data_flow.hpp"
#include "neslc/graph/nesting.hpp"

namespace neslc::graph {

/// Elements of a vector that are written down.
inline constexpr std::int64_t kShownElements = 16;

class Recorder final : public vinterp::Observer {
 public:
  /// All must outlive the run.
  Recorder(const SourceMap& places, const Nesting& nesting, cvl::Backend& backend, DataFlow& flow)
      : places_(places), nesting_(nesting), backend_(backend), flow_(flow) {}

  void after(const vinterp::Step& step, double seconds) override;
  void enter_function(std::uint32_t function, std::uint32_t call) override;
  void leave_function(std::uint32_t function) override;
  void call_again(std::uint32_t function, std::uint32_t call) override;

  /// Operations that are written down; runs may have any number.
  static constexpr std::size_t kMostOperations = 5'000;

 private:
  std::vector<std::size_t> take(std::size_t count);
  std::size_t new_datum(const cvl::Value& value);
  void constant(const vinterp::Step& step);
  void operation(const vinterp::Step& step);
  std::size_t level_of(std::uint32_t instruction) const;
  std::string text_of(std::uint32_t instruction) const;

  const SourceMap& places_;
  const Nesting& nesting_;
  cvl::Backend& backend_;
  DataFlow& flow_;
  std::vector<std::size_t> stack_;    // data
  std::vector<std::size_t> callers_;  // levels of the active calls, each with those around it
  /// Constants by their number and descriptors by their lengths, so that each is drawn once however
  /// often the code makes it.
  std::map<std::uint32_t, std::size_t> constants_;
  std::map<std::size_t, std::size_t> descriptors_;
};

}  // namespace neslc::graph
