#include "fcode-opt/fusion/known_choices.hpp"

#include <utility>

#include "fcode-opt/fusion/schedule.hpp"

namespace fcode {
namespace {

class RegionKeyWriter {
 public:
  explicit RegionKeyWriter(const RegionGraph& graph) : graph_(graph) {}

  std::vector<std::int64_t> write() {
    for (const std::int64_t length : graph_.domain_length) add(length);
    for (const Node& node : graph_.nodes) write(node);
    return std::move(key_);
  }

 private:
  template <typename Number>
  void add(Number number) {
    key_.push_back(static_cast<std::int64_t>(number));
  }

  void write(const Node& node) {
    const Statement& statement = *node.statement;
    add(statement.kind);
    add(statement.op);
    add(node.role);
    add(node.domain);
    add(node.target ? static_cast<std::int64_t>(*node.target) : -1);
    for (const bool flag : {node.scalar, node.output, node.kept, node.by_segment, node.one_run,
                            node.new_total, node.may_fail, node.piece.has_value()}) {
      add(flag);
    }
    add(node.weight);
    add(node.chain);
    add(node.readers);
    for (const std::vector<NodeIndex>* nodes : {&node.after, &node.apart}) {
      add(nodes->size());
      for (const NodeIndex before : *nodes) add(before);
    }
    add(node.reads.size());
    for (const Read& read : node.reads) {
      write(read.value);
      add(read.producer);
      add(read.access);
    }
    for (const ValueList* values : {&statement.operands, &statement.results}) {
      add(values->size());
      for (const ValueId value : *values) write(value);
    }
  }

  // The number of the value, and when it is met first all that is known of it.
  void write(ValueId value) {
    const auto [place, is_new] = values_.try_emplace(value, values_.size());
    add(place->second);
    if (!is_new) return;
    add(graph_.producer(value));
    const std::optional<Type>& type = graph_.type(value);
    add(type ? static_cast<std::int64_t>(*type) : -1);
    const auto stored = graph_.storage.find(value);
    add(stored != graph_.storage.end());
    if (stored == graph_.storage.end()) return;
    const RegionGraph::Storage& storage = stored->second;
    add(storage.counts);
    add(storage.dies);
    add(storage.regular);
    write(storage.elements);
    write(storage.described);
  }

  void write(const Linear& length) {
    add(length.constant);
    add(length.terms.size());
    for (const auto& [unknown, factor] : length.terms) {
      add(unknowns_.try_emplace(unknown, unknowns_.size()).first->second);
      add(factor);
    }
  }

  const RegionGraph& graph_;
  std::vector<std::int64_t> key_;
  std::map<ValueId, std::size_t> values_;
  std::map<Atom, std::size_t> unknowns_;
};

}  // namespace

KnownChoices::Key KnownChoices::key_of(const RegionGraph& graph) {
  return RegionKeyWriter(graph).write();
}

const Choice& KnownChoices::choose(const RegionGraph& graph, const Schedule& similar) {
  const auto [place, is_new] = choices_.try_emplace(key_of(graph));
  if (is_new) place->second = choose_schedule(graph, similar);
  return place->second;
}

}  // namespace fcode
