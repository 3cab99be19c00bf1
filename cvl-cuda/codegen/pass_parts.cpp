// What a pass loads and stores at its positions, and what it knows of the segments of a tile.

#include <algorithm>

#include <fmt/format.h>

#include "cvl-cuda/codegen/node_text.hpp"
#include "cvl-cuda/codegen/pass_writer.hpp"

namespace cvl::cuda::codegen {

/// Where the element of a result at the position waits until a thread stores those of its run.
std::string PassWriter::stored(ArrayId array, bool late) {
  target(array);
  stored_.push_back({array, late});
  return "stored." + target_name(array);
}

/// Bytes of the widest element that the pass loads or stores at its positions.
std::string PassWriter::moved_part() const {
  std::string sizes;
  const auto add = [&](vcode::Type type) { sizes += fmt::format(", sizeof({})", type_text(type)); };
  for (const NodeId each : loaded_) add(node(each).type);
  for (const StoredArray& each : stored_) add(kernel_.arrays[each.array].type);
  if (sizes.empty()) return {};
  return fmt::format("  static constexpr int kMovedBytes = widest({});\n", sizes.substr(2));
}

std::string PassWriter::loaded_part() const {
  if (loaded_.empty()) return {};
  std::string members, dense, any, in_memory, runs, turned;
  for (const NodeId each : loaded_) {
    const std::string type = type_text(node(each).type), name = value_name(each);
    const std::string array = array_name(node(each).id);
    members += fmt::format("    {} {};\n", type, name);
    dense += fmt::format("{}{}.dense()", dense.empty() ? "" : " && ", array);
    any += fmt::format("    loaded.{} = {}[i];\n", name, array);
    in_memory += fmt::format("    loaded.{} = {}.dense_element(i);\n", name, array);
    runs += fmt::format(
        "    runs.template load<kCount>({}, i, [&](int k, {} element) {{ loaded[k].{} = element; "
        "}});\n",
        array, type, name);
    turned += fmt::format(
        "    runs.template turn<kCount, {0}>([&](int k) -> {0}& {{ return loaded[k].{1}; }});\n",
        type, name);
  }
  return fmt::format(
      "  struct Loaded {{\n{}  }};\n"
      "  KERNEL_FN bool dense() const {{ return {}; }}\n"
      "  KERNEL_FN void load(std::int64_t i, Loaded& loaded) const {{\n{}  }}\n"
      "  KERNEL_FN void load_dense(std::int64_t i, Loaded& loaded) const {{\n{}  }}\n"
      "  template <class Runs, int kCount>\n"
      "  KERNEL_FN void load_dense_run(const Runs& runs, std::int64_t i, Loaded (&loaded)[kCount]) "
      "const {{\n{}  }}\n"
      "  template <class Runs, int kCount>\n"
      "  KERNEL_FN void turn_run(const Runs& runs, Loaded (&loaded)[kCount]) const {{\n{}  }}\n",
      members, dense, any, in_memory, runs, turned);
}

std::string PassWriter::stored_part() const {
  if (stored_.empty()) return {};
  std::string members;
  for (const StoredArray& each : stored_) {
    members += fmt::format("    {} {};\n", type_text(kernel_.arrays[each.array].type),
                           target_name(each.array));
  }
  std::string text = fmt::format("  struct Stored {{\n{}  }};\n", members);
  for (const bool late : {false, true}) {
    std::string one, runs;
    for (const StoredArray& each : stored_) {
      if (each.late != late) continue;
      one += fmt::format("    {0}[i] = stored.{0};\n", target_name(each.array));
      runs += fmt::format(
          "    runs.template store<kCount>({0}, i, [&](int k) {{ return stored[k].{0}; }});\n",
          target_name(each.array));
    }
    text += fmt::format(
        "  KERNEL_FN void store{0}([[maybe_unused]] std::int64_t i,\n"
        "                       [[maybe_unused]] const Stored& stored) const {{\n{1}  }}\n"
        "  template <class Runs, int kCount>\n"
        "  KERNEL_FN void store{0}_run([[maybe_unused]] const Runs& runs,\n"
        "                           [[maybe_unused]] std::int64_t i,\n"
        "                           [[maybe_unused]] const Stored (&stored)[kCount]) const {{\n{2} "
        " }}\n",
        late ? "_late" : "", one, runs);
  }
  return text;
}

std::string PassWriter::segmented_part() const {
  std::string cursors, shared, found, filled, begun;
  for (const SegdesId segdes : cursors_) {
    cursors += fmt::format("    SegmentCursor {};\n", segdes_name(segdes));
  }
  for (const SegdesId segdes : windows_) {
    const std::string name = segdes_name(segdes);
    shared += fmt::format("    SegmentWindow<kTile> {};\n", name);
    found += fmt::format("    shared.{0}.find({0}, begin, end, thread);\n", name);
    filled += fmt::format("    shared.{0}.template fill<kBlockThreads>({0}, thread);\n", name);
    begun += fmt::format("    at.{0}.move({0}, shared.{0}, i);\n", name);
  }
  std::string text;
  if (!cursors.empty()) text += fmt::format("  struct Cursors {{\n{}  }};\n", cursors);
  if (!shared.empty()) text += fmt::format("  struct Shared {{\n{}  }};\n", shared);
  if (windows_.empty()) return text;
  return text +
         fmt::format(
             "  KERNEL_FN void find_segments(Shared& shared, std::int64_t begin, std::int64_t end, "
             "int thread) const {{\n{}  }}\n"
             "  KERNEL_FN void fill_segments(Shared& shared, int thread) const {{\n{}  }}\n"
             "  KERNEL_FN void begin_run(std::int64_t i, Cursors& at, const Shared& shared) "
             "const {{\n{}  }}\n",
             found, filled, begun);
}

}  // namespace cvl::cuda::codegen
