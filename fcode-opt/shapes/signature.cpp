#include "fcode-opt/shapes/signature.hpp"

#include <utility>

namespace fcode {

SignatureTerm SignatureWriter::term(const Linear& term) {
  // Numbers beyond are no lengths, and their differences might overflow.
  constexpr std::int64_t kFarthest = std::int64_t{1} << 48;
  Linear known = shapes_.equations.normal(term);
  std::int64_t constant = 0;
  if (known.constant > -kFarthest && known.constant < kFarthest) {
    if (known.is_number()) return {SignatureTerm::kNone, known.constant};
    constant = std::exchange(known.constant, 0);
  }
  const auto next = static_cast<std::uint32_t>(unknowns_.size());
  const Unknown& unknown = unknowns_.try_emplace(known, Unknown{next, constant}).first->second;
  return {unknown.number, constant - unknown.constant};
}

SignatureShape SignatureWriter::write(ValueId value) {
  const bool uniform = shapes_.uniform(value);
  const std::optional<Linear> element = shapes_.element(value);
  const Shape& shape = shapes_.of(value);
  SignatureShape result;
  result.length = term(shape.length);
  result.sum = term(shape.sum);
  result.uniform = uniform;
  if (element) result.element = term(*element);
  const auto next = static_cast<std::uint32_t>(contents_.size());
  result.content = contents_.try_emplace(shape.content, next).first->second;
  return result;
}

void SignatureReader::bind(const SignatureShape& signature, ValueId value) {
  const std::optional<Linear> element = shapes_.element(value);
  const Shape& actual = shapes_.of(value);
  auto remember = [&](const SignatureTerm& term, const Linear& value) {
    if (term.unknown == SignatureTerm::kNone) return;
    unknowns_.try_emplace(term.unknown, value - Linear::number(term.more));
  };
  remember(signature.length, actual.length);
  remember(signature.sum, actual.sum);
  if (signature.uniform && element) remember(signature.element, *element);
  contents_.try_emplace(signature.content, actual.content);
}

Linear SignatureReader::term(const SignatureTerm& term) {
  const Linear more = Linear::number(term.more);
  if (term.unknown == SignatureTerm::kNone) return more;
  const auto [place, is_new] = unknowns_.try_emplace(term.unknown);
  if (is_new) place->second = shapes_.equations.unknown();
  return place->second + more;
}

Shape SignatureReader::read(const SignatureShape& signature) {
  Shape shape;
  shape.length = term(signature.length);
  shape.sum = term(signature.sum);
  shape.uniform = signature.uniform;
  if (shape.uniform) shape.element = term(signature.element);
  const auto [place, is_new] = contents_.try_emplace(signature.content);
  if (is_new) place->second = shapes_.new_content();
  shape.content = place->second;
  return shape;
}

SignatureShapes common(const SignatureShapes& a, const SignatureShapes& b) {
  // Terms share an unknown if they do in both, and differ by the same number in both.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;
  std::map<Key, std::pair<std::uint32_t, std::int64_t>> unknowns;
  auto join = [&](const SignatureTerm& x, const SignatureTerm& y) -> SignatureTerm {
    if (x.unknown == SignatureTerm::kNone && x == y) return x;
    const auto next = static_cast<std::uint32_t>(unknowns.size());
    const auto& [number, first] =
        unknowns.try_emplace({x.unknown, y.unknown, x.more - y.more}, next, x.more).first->second;
    return {number, x.more - first};
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> contents;
  SignatureShapes result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    SignatureShape shape;
    shape.length = join(a[i].length, b[i].length);
    shape.sum = join(a[i].sum, b[i].sum);
    shape.uniform = a[i].uniform && b[i].uniform;
    if (shape.uniform) shape.element = join(a[i].element, b[i].element);
    const auto next = static_cast<std::uint32_t>(contents.size());
    shape.content = contents.try_emplace({a[i].content, b[i].content}, next).first->second;
    result.push_back(shape);
  }
  return result;
}

}  // namespace fcode
