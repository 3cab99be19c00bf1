#include "neslc/flatten/primitives.hpp"

#include <unordered_map>

namespace neslc {

Primitive find_primitive(const std::string& name) {
  static const auto* const table = [] {
    auto* result = new std::unordered_map<std::string, Primitive>();
    for (const auto& entries : {scalar_primitives(), sequence_primitives(), reordering_primitives(),
                                ordering_primitives(), reduction_primitives(),
                                polymorphic_primitives(), io_primitives(), stream_primitives()}) {
      for (const PrimitiveEntry& entry : entries) result->emplace(entry.name, entry.code);
    }
    return result;
  }();
  const auto found = table->find(name);
  return found == table->end() ? nullptr : found->second;
}

std::vector<Value> components(const Value& argument, std::size_t count) {
  std::vector<Value> result;
  const Value* rest = &argument;
  for (; count > 1; --count) {
    result.push_back(rest->parts[0]);
    rest = &rest->parts[1];
  }
  result.push_back(*rest);
  return result;
}

}  // namespace neslc
