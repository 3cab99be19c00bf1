// What is known on a way through the code of rounds, whose choices are jumps: which conditions
// hold, what values are because of that, and what has been computed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cvl-cpu/native_scalars.hpp"

namespace cvl::cpu {

class ChoiceWriter : public ScalarWriter {
 protected:
  using Path = ScalarPath;
  using ScalarWriter::ScalarWriter;

  /// Finds which values are known, or are others, by what has been learnt.
  void find_simpler(Path& path) const;
  /// The path where the condition has this value.
  Path given(const Path& path, std::uint32_t condition, bool value) const;
  /// Jumps to the target if the condition has this value, as soon as that is known. Gives what has
  /// been computed when it jumps; the path is the one where it does not.
  std::vector<Register> branch(Path& path, std::uint32_t condition, bool value,
                               const Label& target);

 private:
  void learn(Path& path, std::uint32_t number, bool value) const;
  std::optional<bool> compared_beginning(const Path& path, const Value& value) const;
};

}  // namespace cvl::cpu
