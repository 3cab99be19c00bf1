#include "fcode-opt/fusion/pieces.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "fcode-opt/fusion/access.hpp"
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

class ViewFinder {
 public:
  ViewFinder(std::span<const Statement> statements, Shapes& shapes,
             const std::vector<std::uint32_t>& outside_uses)
      : statements_(statements), shapes_(shapes), outside_uses_(outside_uses) {}

  std::vector<std::optional<View>> run() {
    views_.resize(statements_.size());
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      const Statement& statement = statements_[i];
      for (std::size_t k = 0; k < statement.operands.size(); ++k) {
        uses_[statement.operands[k]].push_back({i, k});
      }
      if (statement.results.size() == 1) makers_[statement.results[0]] = i;
      views_[i] = join_of(statement);
    }
    for (std::size_t i = statements_.size(); i-- > 0;) {
      if (!views_[i]) {
        if (is_slice(statements_[i]) && only_joined(i)) views_[i] = View{View::Kind::Slice};
      } else if (views_[i]->kind == View::Kind::Join) {
        const std::size_t half = makers_.at(statements_[i].operands[2]);
        if (!only_elements(i) || !has_one_use(half)) {
          views_[i].reset();
        } else {
          views_[half] = View{View::Kind::Half};
        }
      }
    }
    return std::move(views_);
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
    ValueId place = index;  // of the first element
    if (!shapes_.is_scalar(data)) {
      if (!made || !made->is(Op::Index) || shapes_.known_element(made->operands[1]) != 1 ||
          !shapes_.same_segments(made->operands[2], from)) {
        return std::nullopt;
      }
      place = made->operands[0];
    }
    const std::optional<Linear> start = shapes_.element(place);
    return start ? std::optional(Part{data, *start}) : std::nullopt;
  }

  std::optional<View> join_of(const Statement& statement) {
    const std::optional<Part> last = part_of(statement);
    if (!last) return std::nullopt;
    const auto maker = makers_.find(statement.operands[2]);
    if (maker == makers_.end()) return std::nullopt;
    const Statement& other = statements_[maker->second];
    const std::optional<Part> before = part_of(other);
    if (!before || other.written != statement.written) return std::nullopt;
    const bool in_order = shapes_.is_number(before->start, 0);
    const Part &first = in_order ? *before : *last, &second = in_order ? *last : *before;
    const Linear front = shapes_.of(first.data).length;
    const Linear both = front + shapes_.of(second.data).length;
    const bool joined = shapes_.is_number(first.start, 0) &&
                        shapes_.equations.equal(second.start, front) &&
                        shapes_.equations.equal(shapes_.of(statement.results[0]).length, both);
    if (!joined) return std::nullopt;
    return View{View::Kind::Join, first.data, second.data};
  }

  /// Elements that follow each other in the only segment that there is.
  bool is_slice(const Statement& statement) {
    if (!is_copy_of_runs(statement, shapes_)) return false;
    const Definition& index = *shapes_.definition(statement.operands[1]);
    return shapes_.known_element(index.operands[1]) == 1 &&
           shapes_.one_segment(index.operands[2]) && shapes_.one_segment(statement.operands[2]) &&
           shapes_.one_segment(statement.operands[3]);
  }

  bool has_one_use(std::size_t i) const {
    const ValueId value = statements_[i].results[0];
    return outside_uses_[value] == 0 && uses_.at(value).size() == 1;
  }

  /// Calls may_read(reader, operand) of all that read the result, until it says no.
  template <class MayRead>
  bool all_readers(std::size_t i, const MayRead& may_read) const {
    const ValueId value = statements_[i].results[0];
    const auto uses = uses_.find(value);
    return outside_uses_[value] == 0 && uses != uses_.end() &&
           std::all_of(uses->second.begin(), uses->second.end(),
                       [&](const Use& use) { return may_read(use.statement, use.operand); });
  }

  /// Is the result only read by elements, at the reader's own positions or at those that it
  /// computes, also as part of joins behind it?
  bool only_elements(std::size_t i) {
    return all_readers(i, [&](std::size_t number, std::size_t operand) {
      const Statement& reader = statements_[number];
      if (operand == 0 && is_joined(number)) return true;
      if (reader.kind != Statement::Kind::Op) return false;
      if (operand == 0 && reader.op == Op::BPermute) return shapes_.one_segment(reader.operands[2]);
      return reads_elements(reader, operand) && accesses(reader, shapes_)[operand] == Access::Own;
    });
  }

  /// Is the result only a part of joins?
  bool only_joined(std::size_t i) const {
    return all_readers(i, [&](std::size_t number, std::size_t operand) {
      return operand == 0 && is_joined(number);
    });
  }
  bool is_joined(std::size_t number) const {
    return views_[number] && views_[number]->kind != View::Kind::Slice;
  }

  std::span<const Statement> statements_;
  Shapes& shapes_;
  const std::vector<std::uint32_t>& outside_uses_;
  std::map<ValueId, std::size_t> makers_;
  std::map<ValueId, std::vector<Use>> uses_;
  std::vector<std::optional<View>> views_;
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

std::vector<std::optional<View>> find_views(std::span<const Statement> statements, Shapes& shapes,
                                            const std::vector<std::uint32_t>& outside_uses) {
  return ViewFinder(statements, shapes, outside_uses).run();
}

}  // namespace fcode
