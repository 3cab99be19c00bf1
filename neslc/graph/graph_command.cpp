#include "neslc/graph/graph_command.hpp"

#include <fmt/format.h>

#include "neslc/command/commands.hpp"
#include "neslc/graph/nesting.hpp"
#include "neslc/graph/recorder.hpp"

namespace neslc::graph {

Graph draw(Toplevel& top, const CheckedForm& form) {
  const Nesting nesting(*form.body);
  DataFlow flow;
  Evaluation evaluation = top.evaluator().evaluate_watched(form, [&](const SourceMap& places) {
    return std::make_unique<Recorder>(places, nesting, top.evaluator().backend(), flow);
  });
  Graph graph;
  if (evaluation.status != Evaluation::Status::Done) {
    graph.result = top.runner().failed(std::move(evaluation));
    return graph;
  }
  if (flow.complete) flow.prune();
  if (!flow.complete || flow.operations.size() > kMostDrawn) {
    throw CommandError{
        fmt::format("{} {} vector operations are too many for a picture of at most {}",
                    flow.complete ? "the" : "more than", flow.operations.size(), kMostDrawn),
        "take a smaller argument, or a part of the expression"};
  }
  flow.find_segments();
  graph.result.kind = FormResult::Kind::Value;
  const TypePtr type = form.scheme.type;
  const Caption caption{
      std::string(form.form->text()),
      top.runner().value_line(type, evaluation.values) + " : " + scheme_text(form.scheme)};
  graph.drawn = picture(flow, caption);
  return graph;
}

}  // namespace neslc::graph
