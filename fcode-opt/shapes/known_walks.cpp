#include "fcode-opt/shapes/known_walks.hpp"

namespace fcode {
namespace {

/// A number that functions of different code do not share, but by a chance of 1 in 2^64.
class Fingerprint {
 public:
  std::uint64_t of(const Function& function, std::uint8_t kind) {
    add(kind);
    add(function.parameters);
    add(function.body);
    return number_;
  }

 private:
  void add(std::uint64_t part) {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
    number_ = (number_ ^ part) * kGolden;
    number_ ^= number_ >> 32;
  }
  void add(const ValueList& values) {
    add(values.size());
    for (const ValueId value : values) add(value);
  }
  void add(const Block& block) {
    add(block.statements.size());
    for (const Statement& statement : block.statements) add(statement);
    add(block.results);
    add(block.diverges);
  }
  void add(const Statement& statement) {
    add(static_cast<std::uint64_t>(statement.kind) << 32 |
        static_cast<std::uint64_t>(statement.op) << 16 |
        static_cast<std::uint64_t>(statement.written));
    add(statement.index);
    add(statement.operands);
    add(statement.results);
    if (statement.then_block) add(*statement.then_block);
    if (statement.else_block) add(*statement.else_block);
  }

  std::uint64_t number_ = 0;
};

}  // namespace

void KnownWalks::keep_valid(const Module& module, std::uint8_t kind) {
  functions_.resize(module.functions.size());
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const std::uint64_t code = Fingerprint().of(module.functions[i], kind);
    if (functions_[i].code != code) functions_[i] = {code, {}};
  }
}

}  // namespace fcode
