#include "fcode-opt/fusion/pieces.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/tools.hpp"

namespace fcode {
namespace {

// Where the index vector puts the first element of each segment, if the others follow it.
std::optional<std::int64_t> start_of(ValueId index, ValueId from, Shapes& shapes) {
  if (shapes.known_element(from) == 1 && shapes.same_length(from, index))
    return shapes.known_element(index);
  const Definition* made = shapes.definition(index);
  if (!made || !made->is(Op::Index)) return std::nullopt;
  const ValueId start = made->operands[0], step = made->operands[1], over = made->operands[2];
  const bool in_order = shapes.known_element(step) == 1 && shapes.same_segments(over, from) &&
                        shapes.same_length(over, start) && shapes.same_length(over, step);
  return in_order ? shapes.known_element(start) : std::nullopt;
}

std::optional<Piece> scattered(const Statement& statement, Shapes& shapes) {
  Piece piece;
  piece.data = statement.operands[0];
  piece.index = statement.operands[1];
  piece.before = statement.operands[2];
  piece.from = statement.operands[3];
  piece.into = statement.operands[4];
  const auto length = shapes.known_element(piece.from);
  const auto start = start_of(piece.index, piece.from, shapes);
  if (!start || !length || !shapes.same_length(piece.from, piece.into)) return std::nullopt;
  piece.start = *start;
  piece.length = *length;
  return piece;
}

std::optional<Piece> replaced(const Statement& statement, Shapes& shapes) {
  Piece piece;
  piece.before = statement.operands[0];
  piece.index = statement.operands[1];
  piece.data = statement.operands[2];
  piece.from = piece.into = statement.operands[3];
  const auto start = shapes.known_element(piece.index);
  if (!start) return std::nullopt;
  piece.start = *start;
  piece.length = 1;
  return piece;
}

class JoinFinder {
 public:
  JoinFinder(std::span<const Statement> statements, Shapes& shapes,
             const std::vector<std::uint32_t>& outside_uses)
      : statements_(statements), shapes_(shapes), outside_uses_(outside_uses) {}

  std::vector<std::optional<Join>> run() {
    joins_.resize(statements_.size());
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      const Statement& statement = statements_[i];
      for (std::size_t k = 0; k < statement.operands.size(); ++k) {
        uses_[statement.operands[k]].push_back({i, k});
      }
      if (statement.results.size() == 1) makers_[statement.results[0]] = i;
      joins_[i] = join_of(statement);
    }
    for (std::size_t i = statements_.size(); i-- > 0;) {
      if (!joins_[i] || joins_[i]->half) continue;
      const std::size_t half = makers_.at(statements_[i].operands[2]);
      if (!only_fetched(i) || !has_one_use(half)) {
        joins_[i].reset();
      } else {
        joins_[half] = Join{joins_[i]->first, joins_[i]->second, true};
      }
    }
    return std::move(joins_);
  }

 private:
  struct Use {
    std::size_t statement, operand;
  };

  /// A scatter of a whole vector to where it begins in another, both of one segment.
  struct Part {
    ValueId data;
    Linear start;
  };
  std::optional<Part> part_of(const Statement& statement) {
    if (statement.kind != Statement::Kind::Op || statement.op != Op::DPermute) return std::nullopt;
    const ValueId data = statement.operands[0], index = statement.operands[1];
    const ValueId from = statement.operands[3], into = statement.operands[4];
    if (!shapes_.one_segment(from) || !shapes_.one_segment(into) || !shapes_.fits(data, from) ||
        !shapes_.fits(statement.operands[2], into)) {
      return std::nullopt;
    }
    const Definition* made = shapes_.definition(index);
    if (!made || !made->is(Op::Index) || shapes_.known_element(made->operands[1]) != 1 ||
        !shapes_.same_segments(made->operands[2], from)) {
      return std::nullopt;
    }
    const std::optional<Linear> start = shapes_.element(made->operands[0]);
    return start ? std::optional(Part{data, *start}) : std::nullopt;
  }

  std::optional<Join> join_of(const Statement& statement) {
    const std::optional<Part> second = part_of(statement);
    if (!second) return std::nullopt;
    const ValueId before = statement.operands[2];
    const auto maker = makers_.find(before);
    if (maker == makers_.end()) return std::nullopt;
    const Statement& other = statements_[maker->second];
    const std::optional<Part> first = part_of(other);
    if (!first || other.written != statement.written) return std::nullopt;
    const Linear front = shapes_.of(first->data).length;
    const Linear both = front + shapes_.of(second->data).length;
    const bool joined = shapes_.is_number(first->start, 0) &&
                        shapes_.equations.equal(second->start, front) &&
                        shapes_.equations.equal(shapes_.of(statement.results[0]).length, both);
    return joined ? std::optional(Join{first->data, second->data}) : std::nullopt;
  }

  bool has_one_use(std::size_t i) const {
    const ValueId value = statements_[i].results[0];
    return outside_uses_[value] == 0 && uses_.at(value).size() == 1;
  }

  /// Is the result only read at single positions, also as part of joins behind it?
  bool only_fetched(std::size_t i) {
    const ValueId value = statements_[i].results[0];
    const auto uses = uses_.find(value);
    if (outside_uses_[value] != 0 || uses == uses_.end()) return false;
    return std::all_of(uses->second.begin(), uses->second.end(), [&](const Use& use) {
      const Statement& reader = statements_[use.statement];
      if (use.operand != 0) return false;
      return joins_[use.statement].has_value() ||
             (reader.kind == Statement::Kind::Op && reader.op == Op::BPermute &&
              shapes_.one_segment(reader.operands[2]));
    });
  }

  std::span<const Statement> statements_;
  Shapes& shapes_;
  const std::vector<std::uint32_t>& outside_uses_;
  std::map<ValueId, std::size_t> makers_;
  std::map<ValueId, std::vector<Use>> uses_;
  std::vector<std::optional<Join>> joins_;
};

}  // namespace

std::optional<Piece> piece_of(const Statement& statement, Shapes& shapes) {
  if (statement.kind != Statement::Kind::Op) return std::nullopt;
  std::optional<Piece> piece;
  if (statement.op == Op::DPermute) piece = scattered(statement, shapes);
  if (statement.op == Op::Replace) piece = replaced(statement, shapes);
  if (!piece || shapes.is_scalar(statement.results[0])) return std::nullopt;
  const auto target = shapes.known_element(piece->into);
  if (!target || *target > kLongestPieceTarget) return std::nullopt;
  piece->target = *target;
  const bool inside =
      piece->start >= 0 && piece->length >= 1 && piece->start <= piece->target - piece->length;
  return inside ? piece : std::nullopt;
}

std::vector<std::optional<Join>> find_joins(std::span<const Statement> statements, Shapes& shapes,
                                            const std::vector<std::uint32_t>& outside_uses) {
  return JoinFinder(statements, shapes, outside_uses).run();
}

}  // namespace fcode
