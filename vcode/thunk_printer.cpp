#include "vcode/thunk_printer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "vcode/kernel_words.hpp"
#include "vcode/printer.hpp"

namespace vcode {
namespace {

using NodeKind = ThunkNode::Kind;

constexpr std::size_t kWide = 4 * ThunkPrinter::kColumns;  // widths beyond it are not told apart

}  // namespace

ThunkPrinter::ThunkPrinter(const Kernel& kernel, std::string& text) : kernel_(kernel), text_(text) {
  for (const KernelSize& size : kernel.sizes) taken_.insert(size.name);
  for (const KernelArray& array : kernel.arrays) taken_.insert(array.name);
  for (const KernelSegdes& segdes : kernel.segdes) taken_.insert(segdes.name);
  index_name_ = taken_.contains("i") ? local_name("i", 0) : "i";
}

// The name stem0, stem1, ... of that number, with as many underscores as it takes to be free.
std::string ThunkPrinter::local_name(std::string_view stem, std::size_t number) const {
  std::string name = fmt::format("{}{}", stem, number);
  while (taken_.contains(name)) name += '_';
  return name;
}

void ThunkPrinter::thunk(const Thunk& thunk) {
  with_parameters(thunk, index_name_);
}

void ThunkPrinter::of_state(const Thunk& thunk, std::size_t components) {
  std::string names;
  for (std::size_t k = 0; k < components; ++k) {
    names += (k == 0 ? "" : ", ") + local_name("s", k);
  }
  with_parameters(thunk, names);
}

void ThunkPrinter::with_parameters(const Thunk& thunk, const std::string& parameters) {
  prepare(thunk);
  const std::size_t width = flat_width() + parameters.size() + 8;
  text_ += fmt::format("( {} =>", parameters);
  const bool flat = column() + width <= kColumns;
  contents(flat, kIndent);
  text_ += " )";
}

void ThunkPrinter::body(const Thunk& thunk) {
  prepare(thunk);
  contents(column() + flat_width() <= kColumns, kIndent);
}

// LETs and results, each behind a blank or, if they do not fit, on a line of its own.
void ThunkPrinter::contents(bool flat, std::size_t indent) {
  const auto separate = [&] {
    if (flat) {
      text_ += ' ';
    } else {
      line_break(indent);
    }
  };
  for (std::uint32_t node : lets_) {
    separate();
    text_ += fmt::format("LET {} = ", let_names_[node]);
    expression({Item::Kind::Definition, node, {}, flat, indent});
  }
  for (std::size_t i = 0; i < thunk_->results.size(); ++i) {
    if (i > 0) text_ += ',';
    separate();
    expression({Item::Kind::Node, thunk_->results[i], {}, flat, indent});
  }
}

// Works off the items: a node is replaced by its parts until only text is left.
void ThunkPrinter::expression(const Item& root) {
  items_.push_back(root);
  while (!items_.empty()) {
    const Item item = items_.back();
    items_.pop_back();
    if (item.kind == Item::Kind::Text) {
      text_ += item.text;
    } else if (item.kind == Item::Kind::Break) {
      if (item.flat) {
        text_ += ' ';
      } else {
        line_break(item.indent);
      }
    } else if (item.kind == Item::Kind::Node && !let_names_[item.node].empty()) {
      text_ += let_names_[item.node];
    } else {
      definition(item);
    }
  }
}

void ThunkPrinter::definition(const Item& item) {
  const ThunkNode& node = thunk_->nodes[item.node];
  const int arguments = argument_count(node);
  if (arguments == 0) {
    text_ += leaf(node);
    return;
  }
  const bool flat = item.flat || column() + widths_[item.node] <= kColumns;
  const std::size_t indent = std::min(item.indent + 2, kDeepestIndent);
  const bool bracket = node.kind == NodeKind::Subscript;
  text_ += head_of(node);
  items_.push_back({Item::Kind::Text, 0, bracket ? "]" : ")", flat, 0});
  for (int i = arguments; i-- > 0;) {
    items_.push_back({Item::Kind::Node, node.args[i], {}, flat, indent});
    if (!bracket) items_.push_back({Item::Kind::Break, 0, {}, flat, indent});
  }
}

std::string ThunkPrinter::leaf(const ThunkNode& node) const {
  switch (node.kind) {
    case NodeKind::Index:
      return index_name_;
    case NodeKind::Size: {
      const KernelSize& size = kernel_.sizes[node.id];
      return size.literal ? std::to_string(*size.literal) : size.name;
    }
    case NodeKind::State:
      return local_name("s", node.id);
    case NodeKind::SegCount:
      return fmt::format("({} {})", segment_operator_name(node.kind), kernel_.segdes[node.id].name);
    default:
      if (node.type == Type::Float) return print_real(node.float_value);
      if (node.type == Type::Bool) return node.int_value != 0 ? "T" : "F";
      return std::to_string(node.int_value);
  }
}

std::string ThunkPrinter::head_of(const ThunkNode& node) const {
  switch (node.kind) {
    case NodeKind::Subscript:
      return kernel_.arrays[node.id].name + '[';
    case NodeKind::Apply:
      if (!info(node.op).takes_type()) return fmt::format("({}", info(node.op).text);
      return fmt::format("({} {}", info(node.op).text, type_name(node.written));
    case NodeKind::If:
      return "(IF";
    default:
      return fmt::format("({} {}", segment_operator_name(node.kind), kernel_.segdes[node.id].name);
  }
}

std::size_t ThunkPrinter::width_of(const ThunkNode& node) const {
  const int arguments = argument_count(node);
  if (arguments == 0) return leaf(node).size();
  std::size_t width = head_of(node).size() + 1;
  for (int i = 0; i < arguments; ++i) {
    const std::uint32_t argument = node.args[i];
    const std::string& name = let_names_[argument];
    width += 1 + (name.empty() ? widths_[argument] : name.size());
  }
  return std::min(width, kWide);
}

void ThunkPrinter::prepare(const Thunk& thunk) {
  thunk_ = &thunk;
  const std::size_t count = thunk.nodes.size();
  std::vector<std::uint32_t> users(count);
  for (std::uint32_t result : thunk.results) ++users[result];
  for (std::size_t i = count; i-- > 0;) {
    if (users[i] == 0) continue;
    const ThunkNode& node = thunk.nodes[i];
    for (int k = 0; k < argument_count(node); ++k) ++users[node.args[k]];
  }
  lets_.clear();
  let_names_.assign(count, {});
  widths_.assign(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const ThunkNode& node = thunk.nodes[i];
    if (users[i] == 0) continue;
    if (users[i] > 1 && argument_count(node) > 0) {
      let_names_[i] = local_name("t", lets_.size());
      lets_.push_back(static_cast<std::uint32_t>(i));
    }
    widths_[i] = width_of(node);
  }
}

// Of all LETs and results on one line, with blanks and commas.
std::size_t ThunkPrinter::flat_width() const {
  constexpr std::size_t kLetWords = 8;  // "LET", "=" and blanks
  std::size_t width = 0;
  for (std::uint32_t node : lets_) width += kLetWords + let_names_[node].size() + widths_[node];
  for (std::uint32_t node : thunk_->results) {
    width += 2 + (let_names_[node].empty() ? widths_[node] : let_names_[node].size());
  }
  return width;
}

std::size_t ThunkPrinter::column() const {
  const std::size_t newline = text_.rfind('\n');
  return newline == std::string::npos ? text_.size() : text_.size() - newline - 1;
}

void ThunkPrinter::line_break(std::size_t indent) {
  text_ += '\n';
  text_.append(indent, ' ');
}

}  // namespace vcode
