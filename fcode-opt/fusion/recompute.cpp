#include "fcode-opt/fusion/recompute.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "fcode-opt/fusion/access.hpp"
#include "fcode-opt/shapes/analysis.hpp"
#include "ir/tools.hpp"
#include "vcode/math_functions.hpp"

namespace fcode {
namespace {

using vcode::Family;

// Elementwise ones. More of them may take longer than writing a vector and reading it again.
constexpr std::size_t kMostOperations = 32;

bool is(const Statement& statement, Family family) {
  return statement.kind == Statement::Kind::Op && vcode::info(statement.op).family == family;
}

bool is_cheap(const Statement& statement) {
  return is(statement, Family::Elementwise) && !vcode::is_math_function(statement.op) &&
         !divides_ints(statement.op, statement.written);
}

class Recomputation {
 public:
  Recomputation(Function& function, const std::vector<std::uint32_t>& uses, Shapes& shapes,
                std::span<Statement> statements)
      : function_(function), uses_(uses), shapes_(shapes), statements_(statements) {
    for (std::size_t i = 0; i < statements.size(); ++i) {
      for (const ValueId result : statements[i].results) maker_[result] = i;
    }
    find_stages();
  }

  /// By statement: what goes in front of it. Empty if nothing is computed again.
  std::vector<std::vector<Statement>> run() {
    std::vector<std::vector<Statement>> added;
    if (*std::max_element(stage_.begin(), stage_.end()) == 0) return added;
    find_readers();
    // By reader, so that a copy is there for all that come behind the first one.
    std::map<std::pair<std::size_t, std::size_t>, std::set<std::size_t>> chains;
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      if (!is_read_in_other_stages(i)) continue;
      const std::optional<Chain> chain = chain_of(i);
      if (!chain) continue;
      const std::vector<std::size_t> late =
          chain->generated ? later_readers(*chain, i) : late_readers(i);
      for (const std::size_t reader : late) chains[{reader, i}] = chain->statements;
    }
    if (!chains.empty()) added.resize(statements_.size());
    for (const auto& [place, chain] : chains) {
      const auto& [reader, i] = place;
      const ValueId made = statements_[i].results[0];
      const ValueId copy = copy_of(made, reader, chain, added);
      std::replace(statements_[reader].operands.begin(), statements_[reader].operands.end(), made,
                   copy);
    }
    return added;
  }

 private:
  // How many reductions one after another lead to a statement.
  void find_stages() {
    stage_.resize(statements_.size());
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      for (const ValueId operand : statements_[i].operands) {
        const auto made = maker_.find(operand);
        if (made == maker_.end()) continue;
        const bool reduced = is(statements_[made->second], Family::Reduce);
        stage_[i] = std::max(stage_[i], stage_[made->second] + (reduced ? 1 : 0));
      }
    }
  }

  // Of each statement's first result those that compute with its elements; none of one that has to
  // be a vector.
  void find_readers() {
    readers_.resize(statements_.size());
    std::vector<std::uint32_t> elements(statements_.size());
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      for (std::size_t k = 0; k < statements_[i].operands.size(); ++k) {
        const auto made = maker_.find(statements_[i].operands[k]);
        if (made == maker_.end() || !reads_elements(statements_[i], k)) continue;
        ++elements[made->second];
        std::vector<std::size_t>& all = readers_[made->second];
        if (all.empty() || all.back() != i) all.push_back(i);
      }
    }
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      if (statements_[i].results.size() != 1) continue;
      if (uses_[statements_[i].results[0]] != elements[i]) readers_[i].clear();
    }
  }

  bool is_read_in_other_stages(std::size_t i) {
    // Runs are read once more where they lie only if that is fewer elements.
    const Statement& statement = statements_[i];
    if (!is_cheap(statement) && !is_copy_of_one_run(statement, shapes_)) return false;
    if (shapes_.is_scalar(statement.results[0])) return false;
    return std::any_of(readers_[i].begin(), readers_[i].end(),
                       [&](std::size_t reader) { return stage_[reader] > stage_[i]; });
  }

  struct Chain {
    std::set<std::size_t> statements;
    bool generated = false;  // without reading a vector
  };

  // The statements that make an element; nothing if they are too many, or what they read.
  std::optional<Chain> chain_of(std::size_t last) const {
    std::set<std::size_t> chain, open = {last};
    std::set<ValueId> vectors;
    std::size_t operations = 0;
    while (!open.empty()) {
      const std::size_t i = *open.rbegin();  // what it is made of comes before it
      open.erase(i);
      chain.insert(i);
      const Statement& statement = statements_[i];
      if (is_copy_of_runs(statement, shapes_)) {
        if (!is_copy_of_one_run(statement, shapes_)) vectors.insert(statement.operands[0]);
        continue;
      }
      if (++operations > kMostOperations) return std::nullopt;
      for (const ValueId operand : statement.operands) {
        const auto made = maker_.find(operand);
        if (made != maker_.end() && (is_cheap(statements_[made->second]) ||
                                     is_copy_of_runs(statements_[made->second], shapes_))) {
          open.insert(made->second);
        } else if (!is_generated(operand)) {
          vectors.insert(operand);
        }
      }
    }
    const bool gains =
        vectors.empty() || (vectors.size() == 1 && is_no_wider(*vectors.begin(), last));
    if (!gains) return std::nullopt;
    return Chain{std::move(chain), vectors.empty()};
  }

  // Does an element of the vector take no more room than one of the statement's result?
  bool is_no_wider(ValueId vector, std::size_t statement) const {
    const std::optional<Type> read = function_.values[vector].type;
    const std::optional<Type> made = function_.values[statements_[statement].results[0]].type;
    return read && (read == made || read == Type::Bool || made == Type::Float);
  }

  bool is_generated(ValueId value) const {
    const Definition* made = shapes_.definition(value);
    return made != nullptr && (made->is_const() || made->is(Op::Distribute) || made->is(Op::Index));
  }

  // The readers that depend on more reductions than the first one: they are in another pass, which
  // can make the elements if all lengths are known to fit.
  std::vector<std::size_t> later_readers(const Chain& chain, std::size_t made) {
    const auto fits = [&](std::size_t i) { return shapes_.lengths_fit(statements_[i]); };
    if (!std::all_of(chain.statements.begin(), chain.statements.end(), fits)) return {};
    const std::vector<std::size_t>& all = readers_[made];
    const auto earlier = [&](std::size_t a, std::size_t b) { return stage_[a] < stage_[b]; };
    const std::uint32_t least = stage_[*std::min_element(all.begin(), all.end(), earlier)];
    std::vector<std::size_t> later;
    std::copy_if(all.begin(), all.end(), std::back_inserter(later),
                 [&](std::size_t reader) { return stage_[reader] > least && fits(reader); });
    return later;
  }

  // The readers that depend on a reduction of the vector, or of what elementwise operations make of
  // it: only these are in another pass for that reason alone.
  std::vector<std::size_t> late_readers(std::size_t first) const {
    enum class Needs : std::uint8_t { Nothing, Elements, Reduction };
    const std::size_t last = readers_[first].back();
    std::vector<Needs> needs(last + 1 - first);
    needs[0] = Needs::Elements;
    for (std::size_t i = first + 1; i <= last; ++i) {
      for (const ValueId operand : statements_[i].operands) {
        const auto made = maker_.find(operand);
        if (made == maker_.end() || made->second < first) continue;
        Needs through = needs[made->second - first];
        if (through == Needs::Elements) {
          if (is(statements_[i], Family::Reduce)) {
            through = Needs::Reduction;
          } else if (!is(statements_[i], Family::Elementwise)) {
            through = Needs::Nothing;
          }
        }
        needs[i - first] = std::max(needs[i - first], through);
      }
    }
    // One that is itself the reduction does not depend on it.
    const auto needs_reduction = [&](ValueId operand) {
      const auto made = maker_.find(operand);
      return made != maker_.end() && made->second >= first &&
             needs[made->second - first] == Needs::Reduction;
    };
    std::vector<std::size_t> late;
    std::copy_if(readers_[first].begin(), readers_[first].end(), std::back_inserter(late),
                 [&](std::size_t reader) {
                   const ValueList& operands = statements_[reader].operands;
                   return stage_[reader] > stage_[first] &&
                          std::any_of(operands.begin(), operands.end(), needs_reduction);
                 });
    return late;
  }

  // The value, computed again for readers in the stage of this one.
  ValueId copy_of(ValueId value, std::size_t reader, const std::set<std::size_t>& chain,
                  std::vector<std::vector<Statement>>& added) {
    const auto copied = originals_.find(value);
    const ValueId original_value = copied == originals_.end() ? value : copied->second;
    const auto made = maker_.find(original_value);
    if (made == maker_.end()) return value;
    const Statement& original = statements_[made->second];
    // What is generated counts as memory as long as it is read: it ends with the first reader.
    const bool generated = is(original, Family::Distribute) || is(original, Family::Index);
    if (!generated && chain.count(made->second) == 0) return value;
    const auto known = copies_.find({original_value, stage_[reader]});
    if (known != copies_.end()) return known->second;
    ValueList operands = original.operands;
    if (is_cheap(original)) {  // else it fetches from a vector
      for (ValueId& operand : operands) operand = copy_of(operand, reader, chain, added);
    }
    added[reader].push_back(
        make_op(function_, original.op, original.written, std::move(operands), original.origin));
    const ValueId copy = added[reader].back().results[0];
    originals_[copy] = original_value;
    return copies_[{original_value, stage_[reader]}] = copy;
  }

  Function& function_;
  const std::vector<std::uint32_t>& uses_;
  Shapes& shapes_;
  std::span<Statement> statements_;
  std::unordered_map<ValueId, std::size_t> maker_;  // statement that makes a value
  std::vector<std::uint32_t> stage_;
  std::vector<std::vector<std::size_t>> readers_;
  std::map<std::pair<ValueId, std::uint32_t>, ValueId> copies_;  // by stage of their readers
  std::unordered_map<ValueId, ValueId> originals_;               // of copies
};

}  // namespace

void recompute(Function& function, const std::vector<std::uint32_t>& uses, Shapes& shapes,
               Block& block, std::size_t begin, std::size_t& end) {
  const std::span<Statement> statements(block.statements.data() + begin, end - begin);
  std::vector<std::vector<Statement>> added =
      Recomputation(function, uses, shapes, statements).run();
  if (added.empty()) return;
  std::vector<Statement> result;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    std::move(added[i].begin(), added[i].end(), std::back_inserter(result));
    result.push_back(std::move(statements[i]));
  }
  replace_region(block, begin, end, std::move(result));
}

}  // namespace fcode
