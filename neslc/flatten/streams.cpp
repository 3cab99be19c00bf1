#include "neslc/flatten/streams.hpp"

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "neslc/flatten/stream_loop.hpp"

namespace neslc {
namespace {

bool any_leaf(const Value& value, bool (Value::*is)() const) {
  bool found = false;
  for_each_leaf(value, [&](const Value& leaf) { found = found || (leaf.*is)(); });
  return found;
}

void for_each_part(const StreamFold& fold, const std::function<void(const Value&)>& action) {
  action(fold.initial);
  if (fold.is_call()) return;
  action(fold.begin.value);
  action(fold.step.value);
  for (const StreamNode* node : Streams::upstream({fold.input})) {
    for_each_part_of_node(*node, action);
  }
}

void for_each_fold(const Value& value, const std::function<void(const FoldPtr&)>& action) {
  for_each_leaf(value, [&](const Value& leaf) {
    if (leaf.is_pending()) action(leaf.fold);
  });
}

}  // namespace

bool holds_stream(const Value& value) {
  return any_leaf(value, &Value::is_stream);
}

bool holds_pending(const Value& value) {
  return any_leaf(value, &Value::is_pending);
}

std::vector<StreamNode*> Streams::upstream(const std::vector<StreamPtr>& ends) {
  std::vector<StreamNode*> order;
  std::unordered_set<const StreamNode*> seen;
  // A node is left when its inputs are in the order.
  struct Open {
    StreamNode* node;
    std::size_t next;
  };
  for (const StreamPtr& end : ends) {
    if (!seen.insert(end.get()).second) continue;
    std::vector<Open> path = {{end.get(), 0}};
    while (!path.empty()) {
      Open& open = path.back();
      if (open.next == open.node->inputs.size()) {
        order.push_back(open.node);
        path.pop_back();
        continue;
      }
      StreamNode* const input = open.node->inputs[open.next++].get();
      if (seen.insert(input).second) path.push_back({input, 0});
    }
  }
  return order;
}

void Streams::fail(const ir::Origin& origin, std::string message, std::string hint,
                   std::vector<vcode::Note> notes, std::optional<WrittenPlace> made_at) const {
  const WrittenPlace place = f_.compiler().written(origin);
  vcode::Diagnostic diagnostic;
  diagnostic.code = error_code(Category::Stream);
  diagnostic.message = std::move(message);
  diagnostic.span = place.span;
  diagnostic.function = place.function;
  diagnostic.notes = std::move(notes);
  diagnostic.hint = std::move(hint);
  throw CompileError{Category::Stream, {}, std::move(diagnostic), place.source, std::move(made_at)};
}

// ---- Descriptions

Value Streams::add(StreamNode node) {
  node.origin = f_.builder().origin;
  node.number = next_number_++;
  const auto made = std::make_shared<StreamNode>(std::move(node));
  if (made->clock == nullptr) made->clock = made.get();
  const Value stream = Value::of_stream(made, f_.serial());
  if (!made->is_source() || keeping_) return stream;
  const std::vector<WrittenPlace>& collected = f_.compiler().options().collected;
  const bool keep =
      !collected.empty() && std::find(collected.begin(), collected.end(),
                                      f_.compiler().written(made->origin)) != collected.end();
  return keep ? kept(stream) : stream;
}

/// A stream of its elements, all of which are in memory.
Value Streams::kept(const Value& stream) {
  const TypePtr element = stream.stream->element;
  const Value elements = settled(f_.call_library("stream.collect", {element}, stream, f_.serial()));
  keeping_ = true;
  const Value result = f_.call_library("stream.of", {element}, elements, f_.serial());
  keeping_ = false;
  result.stream->kept = true;
  return result;
}

Value Streams::each(const ApplyToEach& node, std::vector<Value> generators, const Frame& frame,
                    TypePtr element) {
  StreamNode made;
  made.kind = StreamNode::Kind::Each;
  made.element = element;
  made.each = &node;
  made.frame.instantiation = frame.instantiation;
  made.frame.scope = frame.scope;
  for (const Expr* part : {node.body.get(), node.sieve.get()}) {
    if (part == nullptr) continue;
    for (const Local* local : f_.compiler().free_variables().of(*part)) {
      const auto found = frame.locals.find(local);
      if (found != frame.locals.end()) made.frame.locals.insert(*found);
    }
  }
  for (const Binding& generator : node.generators) {
    std::vector<const Local*> bound;
    append_locals(*generator.pattern, bound);
    for (const Local* local : bound) made.frame.locals.erase(local);
  }
  // Generators whose pieces do not have the same lengths are brought together, from the last one
  // on.
  const auto same_clock = [](const Value& a, const Value& b) {
    return a.stream->clock == b.stream->clock;
  };
  const bool together = std::all_of(generators.begin(), generators.end(), [&](const Value& one) {
    return same_clock(one, generators[0]);
  });
  if (!together) {
    Value joined = generators.back();
    for (std::size_t i = generators.size() - 1; i-- > 0;) {
      StreamNode join;
      join.kind = StreamNode::Kind::Join;
      join.element = f_.types().pair(generators[i].stream->element, joined.stream->element);
      join.inputs = {generators[i].stream, joined.stream};
      joined = add(std::move(join));
    }
    generators = {joined};
  }
  for (const Value& generator : generators) made.inputs.push_back(generator.stream);
  if (!node.sieve) made.clock = made.inputs[0]->clock;
  return add(std::move(made));
}

Value Streams::add(StreamFold fold) {
  fold.origin = f_.builder().origin;
  fold.number = next_number_++;
  const auto made = std::make_shared<StreamFold>(std::move(fold));
  pending_.push_back(made);
  return Value::pending(made, f_.serial());
}

Value Streams::later(const Value& argument, std::function<Value(const Value&)> call) {
  constexpr int kDeepest = 100;  // chains of operators may have any length
  StreamFold made;
  made.initial = argument;
  for_each_fold(argument, [&](const FoldPtr& needed) {
    made.depth = std::max(made.depth, needed->done ? 0 : needed->depth + 1);
  });
  if (made.depth > kDeepest) return call(settled(argument));
  made.call = [this, origin = f_.builder().origin, call = std::move(call)](const Value& value) {
    const ir::Origin outer = std::exchange(f_.builder().origin, origin);
    Value result = call(value);
    f_.builder().origin = outer;
    return result;
  };
  return Value::pending(std::make_shared<StreamFold>(std::move(made)), f_.serial());
}

// ---- Traversals

/// Is there one among all that it needs and that is not done yet?
template <class Is>
bool Streams::needs_any(const StreamFold& fold, const Is& is) const {
  std::vector<const StreamFold*> open = {&fold};
  std::unordered_set<const StreamFold*> seen;
  bool found = false;
  while (!found && !open.empty()) {
    const StreamFold* const next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) continue;
    for_each_part(*next, [&](const Value& part) {
      for_each_fold(part, [&](const FoldPtr& needed) {
        if (needed->done) return;
        found = found || is(needed);
        open.push_back(needed.get());
      });
    });
  }
  return found;
}

/// Can it be computed without another traversal?
bool Streams::is_ready(const StreamFold& fold) const {
  return !needs_any(fold, [](const FoldPtr& needed) { return !needed->is_call(); });
}

/// What is written before is there when files are opened.
void Streams::force_earlier_effects(const StreamFold& fold, const std::vector<FoldPtr>& group) {
  const std::vector<FoldPtr> pending = pending_;
  for (const FoldPtr& other : pending) {
    const bool waits = needs_any(*other, [&](const FoldPtr& needed) {
      return std::find(group.begin(), group.end(), needed) != group.end();
    });
    if (other->effects && other->number < fold.number && !waits) force(other);
  }
}

void Streams::force_what_it_needs(const StreamFold& fold) {
  for_each_part(fold, [&](const Value& part) {
    for_each_fold(part, [&](const FoldPtr& needed) { force(needed); });
  });
}

void Streams::fail_second_traversal(const StreamFold& fold, const StreamNode& source) const {
  // Of a function that is called twice the calls are told.
  ir::Origin second = fold.origin;
  ir::Origin first = source.traversal;
  WrittenPlace here = f_.compiler().written(second);
  WrittenPlace before = f_.compiler().written(first);
  while (here.span == before.span && f_.compiler().go_to_caller(second) &&
         f_.compiler().go_to_caller(first)) {
    here = f_.compiler().written(second);
    before = f_.compiler().written(first);
  }
  const WrittenPlace made = f_.compiler().written(source.origin);
  std::vector<vcode::Note> notes;
  if (before.source == here.source) {
    notes.push_back({"here they have passed by, for a value that is needed first", before.span});
  }
  if (made.source == here.source) notes.push_back({"the stream is made here", made.span});
  fail(second, "the elements of a stream would be needed a second time",
       "`collect(s)` keeps all elements in memory: `let v = collect(s)`, and `v` in both places",
       std::move(notes), made);
}

/// What is computed while the elements of that one pass by.
std::vector<FoldPtr> Streams::traversal(const FoldPtr& fold) {
  std::vector<FoldPtr> group = {fold};
  std::unordered_set<const StreamNode*> sources;
  const auto sources_of = [](const FoldPtr& one) {
    std::vector<const StreamNode*> result;
    for (const StreamNode* node : upstream({one->input})) {
      if (node->is_source()) result.push_back(node);
    }
    return result;
  };
  const auto take = [&](const FoldPtr& one) {
    for (const StreamNode* source : sources_of(one)) sources.insert(source);
  };
  take(fold);
  bool grows = true;
  while (grows) {
    grows = false;
    for (const FoldPtr& other : pending_) {
      if (std::find(group.begin(), group.end(), other) != group.end()) continue;
      const std::vector<const StreamNode*> needed = sources_of(other);
      const bool shares = std::any_of(needed.begin(), needed.end(), [&](const StreamNode* source) {
        return sources.contains(source);
      });
      const bool passed = std::any_of(needed.begin(), needed.end(), [](const StreamNode* source) {
        return source->has_passed();
      });
      if (!shares || passed || !is_ready(*other)) continue;
      group.push_back(other);
      take(other);
      grows = true;
    }
  }
  return group;
}

void Streams::force(const FoldPtr& fold) {
  if (fold->done) return;
  force_what_it_needs(*fold);
  if (fold->done) return;
  if (fold->is_call()) {
    fold->result = settled(fold->call(settled(fold->initial)));
    fold->done = true;
    return;
  }
  for (const StreamNode* source : upstream({fold->input})) {
    if (source->has_passed()) fail_second_traversal(*fold, *source);
  }
  const std::vector<FoldPtr> group = traversal(fold);
  std::erase_if(pending_, [&](const FoldPtr& one) {
    return std::find(group.begin(), group.end(), one) != group.end();
  });
  force_earlier_effects(*fold, group);
  const ir::Origin origin = f_.builder().origin;
  f_.builder().origin = fold->origin;
  // What begins the traversal, as to open a file, is no reason to compute what may need its result.
  std::vector<FoldPtr> others = std::exchange(pending_, {});
  StreamLoop(f_, group).run();
  pending_.insert(pending_.begin(), others.begin(), others.end());
  f_.builder().origin = origin;
  for (const FoldPtr& one : group) {
    for (StreamNode* node : upstream({one->input})) {
      if (!node->is_source() || node->traversed) continue;
      node->traversed = true;
      node->traversal = one->origin;
      traversed_.push_back(node);
    }
    kept_.push_back(one->input);
  }
}

Value Streams::settled(Value value) {
  if (value.is_pending()) {
    force(value.fold);
    return value.fold->result;
  }
  if (value.is_tuple()) {
    for (Value& part : value.parts) part = settled(std::move(part));
  }
  return value;
}

void Streams::settle(const std::vector<const Local*>& locals, Frame& frame) {
  for (const Local* local : locals) {
    Value& value = frame.locals.at(local);
    value = settled(value);
    for_each_leaf(value, [&](const Value& leaf) {
      if (!leaf.is_stream()) return;
      const std::vector<StreamNode*> nodes = upstream({leaf.stream});
      const std::vector<FoldPtr> pending = pending_;
      for (const FoldPtr& fold : pending) {
        const std::vector<StreamNode*> others = upstream({fold->input});
        const bool shares = std::any_of(nodes.begin(), nodes.end(), [&](StreamNode* node) {
          return node->is_source() && std::find(others.begin(), others.end(), node) != others.end();
        });
        if (shares) force(fold);
      }
      for (const StreamNode* node : nodes) {
        for_each_part_of_node(*node, [&](const Value& part) { settled(part); });
      }
    });
  }
}

void Streams::settle_all() {
  while (!pending_.empty()) force(FoldPtr(pending_.front()));
}

void Streams::settle_effects() {
  while (true) {
    const auto found = std::find_if(pending_.begin(), pending_.end(),
                                    [](const FoldPtr& fold) { return fold->effects; });
    if (found == pending_.end()) return;
    force(FoldPtr(*found));
  }
}

}  // namespace neslc
