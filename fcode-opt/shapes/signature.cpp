#include "fcode-opt/shapes/signature.hpp"

#include <algorithm>
#include <tuple>

namespace fcode {
namespace {

const SignatureProduct* product_of(const SignatureShapes& shapes, std::uint32_t unknown) {
  const auto& products = shapes.products;
  const auto found =
      std::find_if(products.begin(), products.end(),
                   [&](const SignatureProduct& each) { return each.product.unknown == unknown; });
  return found == products.end() ? nullptr : &*found;
}

void sort_by_unknown(std::vector<SignatureProduct>& products) {
  std::sort(products.begin(), products.end(),
            [](const auto& x, const auto& y) { return x.product.unknown < y.product.unknown; });
}

}  // namespace

// All but a constant, and that; numbers beyond are no lengths, and their differences might
// overflow.
std::pair<Linear, std::int64_t> SignatureWriter::split(const Linear& term) const {
  constexpr std::int64_t kFarthest = std::int64_t{1} << 48;
  Linear known = shapes_.equations.normal(term);
  std::int64_t constant = 0;
  if (known.constant > -kFarthest && known.constant < kFarthest) {
    constant = std::exchange(known.constant, 0);
  }
  return {std::move(known), constant};
}

SignatureTerm SignatureWriter::term(const Linear& term) {
  const auto [known, constant] = split(term);
  if (known == Linear{}) return {SignatureTerm::kNone, constant};
  const auto next = static_cast<std::uint32_t>(unknowns_.size());
  const Unknown& unknown = unknowns_.try_emplace(known, Unknown{next, constant}).first->second;
  return {unknown.number, constant - unknown.constant};
}

std::optional<SignatureTerm> SignatureWriter::met(const Linear& term) const {
  const auto [known, constant] = split(term);
  const auto found = unknowns_.find(known);
  if (found == unknowns_.end()) return std::nullopt;
  return SignatureTerm{found->second.number, constant - found->second.constant};
}

void SignatureWriter::add(ValueId value) {
  const bool uniform = shapes_.uniform(value);
  const std::optional<Linear> element = shapes_.element(value);
  const Shape& shape = shapes_.of(value);
  SignatureShape added;
  added.length = term(shape.length);
  added.sum = term(shape.sum);
  added.uniform = uniform;
  if (element) added.element = term(*element);
  const auto next = static_cast<std::uint32_t>(contents_.size());
  added.content = contents_.try_emplace(shape.content, next).first->second;
  result_.values.push_back(added);
}

SignatureShapes SignatureWriter::take() {
  find_products();
  return std::move(result_);
}

void SignatureWriter::find_products() {
  for (const auto& [known, unknown] : unknowns_) {
    if (known.terms.size() != 1 || known.terms[0].factor != 1 || known.constant != 0) continue;
    const auto* factors = shapes_.equations.factors(known.terms[0].atom);
    if (factors == nullptr) continue;
    const std::optional<SignatureTerm> a = met(factors->first), b = met(factors->second);
    if (a && b) result_.products.push_back({{unknown.number, -unknown.constant}, *a, *b});
  }
  sort_by_unknown(result_.products);
}

void SignatureReader::bind(std::size_t index, ValueId value) {
  const SignatureShape& shape = signature_.values[index];
  const std::optional<Linear> element = shapes_.element(value);
  const Shape& actual = shapes_.of(value);
  auto remember = [&](const SignatureTerm& term, const Linear& value) {
    if (term.unknown == SignatureTerm::kNone) return;
    unknowns_.try_emplace(term.unknown, value - Linear::number(term.more));
  };
  remember(shape.length, actual.length);
  remember(shape.sum, actual.sum);
  if (shape.uniform && element) remember(shape.element, *element);
  contents_.try_emplace(shape.content, actual.content);
}

Linear SignatureReader::term(const SignatureTerm& term) {
  const Linear more = Linear::number(term.more);
  return term.unknown == SignatureTerm::kNone ? more : unknown(term.unknown) + more;
}

Linear SignatureReader::unknown(std::uint32_t number) {
  const auto known = unknowns_.find(number);
  if (known != unknowns_.end()) return known->second;
  const SignatureProduct* made = product_of(signature_, number);
  const Linear value = made == nullptr ? shapes_.equations.unknown()
                                       : shapes_.equations.product(term(made->a), term(made->b)) -
                                             Linear::number(made->product.more);
  unknowns_.emplace(number, value);
  return value;
}

Shape SignatureReader::read(std::size_t index) {
  const SignatureShape& known = signature_.values[index];
  Shape shape;
  shape.length = term(known.length);
  shape.sum = term(known.sum);
  shape.uniform = known.uniform;
  if (shape.uniform) shape.element = term(known.element);
  const auto [place, is_new] = contents_.try_emplace(known.content);
  if (is_new) place->second = shapes_.new_content();
  shape.content = place->second;
  return shape;
}

namespace {

/// Terms of two signatures that have one in common.
class Join {
 public:
  Join(const SignatureShapes& a, const SignatureShapes& b) : a_(a), b_(b) {}

  SignatureShapes run() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> contents;
    SignatureShapes result;
    for (std::size_t i = 0; i < a_.values.size(); ++i) {
      const SignatureShape &x = a_.values[i], &y = b_.values[i];
      SignatureShape shape;
      shape.length = join(x.length, y.length);
      shape.sum = join(x.sum, y.sum);
      shape.uniform = x.uniform && y.uniform;
      if (shape.uniform) shape.element = join(x.element, y.element);
      const auto next = static_cast<std::uint32_t>(contents.size());
      shape.content = contents.try_emplace({x.content, y.content}, next).first->second;
      result.values.push_back(shape);
    }
    for (const auto& [key, unknown] : unknowns_) add_product(key, unknown, result.products);
    sort_by_unknown(result.products);
    return result;
  }

 private:
  // Terms share an unknown if they do in both, and differ by the same number in both.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;
  struct Unknown {
    std::uint32_t number;
    std::int64_t first;  // what the term of `a` that it first stood for had more
  };
  static Key key_of(const SignatureTerm& x, const SignatureTerm& y) {
    return {x.unknown, y.unknown, x.more - y.more};
  }

  SignatureTerm join(const SignatureTerm& x, const SignatureTerm& y) {
    if (x.unknown == SignatureTerm::kNone && x == y) return x;
    const auto next = static_cast<std::uint32_t>(unknowns_.size());
    const Unknown& unknown =
        unknowns_.try_emplace(key_of(x, y), Unknown{next, x.more}).first->second;
    return {unknown.number, x.more - unknown.first};
  }
  std::optional<SignatureTerm> joined(const SignatureTerm& x, const SignatureTerm& y) const {
    if (x.unknown == SignatureTerm::kNone && x == y) return x;
    const auto found = unknowns_.find(key_of(x, y));
    if (found == unknowns_.end()) return std::nullopt;
    return SignatureTerm{found->second.number, x.more - found->second.first};
  }

  // Of an unknown that is a product in both, of the same.
  void add_product(const Key& key, const Unknown& unknown,
                   std::vector<SignatureProduct>& products) const {
    const auto& [of_a, of_b, difference] = key;
    const SignatureProduct *x = product_of(a_, of_a), *y = product_of(b_, of_b);
    if (x == nullptr || y == nullptr || x->product.more - y->product.more != difference) return;
    for (const bool crossed : {false, true}) {
      const auto a = joined(x->a, crossed ? y->b : y->a), b = joined(x->b, crossed ? y->a : y->b);
      if (!a || !b) continue;
      products.push_back({{unknown.number, x->product.more - unknown.first}, *a, *b});
      return;
    }
  }

  const SignatureShapes &a_, &b_;
  std::map<Key, Unknown> unknowns_;
};

}  // namespace

SignatureShapes common(const SignatureShapes& a, const SignatureShapes& b) {
  return Join(a, b).run();
}

}  // namespace fcode
