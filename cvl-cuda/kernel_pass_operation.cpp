// One pass of a fused kernel: room for its results, its launch, what it found out.

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "cvl-cuda/kernel_operation.hpp"
#include "cvl-cuda/operations.hpp"
#include "cvl/failure.hpp"
#include "cvl/op_failure.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

using codegen::PassCode;
using SinkKind = PlanSink::Kind;

/// Positions, or other places, of a block.
std::int64_t tile_of(const PassCode& code) {
  return std::int64_t{shape::pass_threads(code.threads)} * shape::pass_run(code.run);
}

bool selects(const PlanSink& sink) {
  return sink.kind == SinkKind::Filter || sink.kind == SinkKind::Split;
}

/// Numbers that the host gets to know from a sink.
std::size_t counts_of(const PlanSink& sink) {
  if (sink.kind == SinkKind::Size) return 1;
  return selects(sink) ? static_cast<std::size_t>(sink.classes) : 0;
}

/// Words that the tiles of a pass publish, if it has running values ...
std::int64_t published_words(const PassCode& code, const PassControl& control) {
  if (!code.running) return 0;
  const std::int64_t words = std::max(words_of_state(code.states * codegen::kStateBytes),
                                      std::int64_t{words_of<NoState>()});
  return OrderedChain<NoState>::slots(control.stretches) * words;
}
/// ... and bytes of the states of its stretches, if it has none.
std::int64_t state_bytes(const PassCode& code, const PassControl& control) {
  return code.running ? 0 : control.stretches * code.states * codegen::kStateBytes;
}

}  // namespace

void CudaKernel::run_pass(std::size_t number) {
  const PlanPass& pass = plan_.passes[number];
  if (pass.once && is_host_work(pass)) return run_on_host(pass);
  const std::int64_t length = pass.once ? 1 : size(pass.length);
  run_->lengths[number] = length;
  check_pass(pass, length);
  if (length == 0) return run_empty(pass);
  launch_pass(number, length);
}

void CudaKernel::launch_pass(std::size_t number, std::int64_t length) {
  const PlanPass& pass = plan_.passes[number];
  const PassCode& code = code_.passes[number];
  if (code.counts > 0) {
    counts_ = cuda_.allocate_mapped(static_cast<std::size_t>(code.counts) * sizeof(std::int64_t));
  }
  PassControl control = control_of(number, length);
  const std::int64_t blocks = control.stretches + control.other_blocks + control.target_blocks;
  if (blocks > std::numeric_limits<std::int32_t>::max()) {
    throw Failure(vcode::ErrorCode::CountOverflow,
                  fmt::format("kernel `{}` runs over {} positions, {} at a time, and devices start "
                              "at most 2^31 - 1 blocks at once",
                              kernel_.name, length, tile_of(code)));
  }
  make_targets(pass, code, length);
  std::vector<std::int64_t> counts;
  if (code.counted) {
    control.stage = PassStage::Count;
    launch(number, control.stretches, control, length);
    counts = read_counts(code);
    make_selected(pass, counts);
    check_room(pass, code, length, counts);
    control.stage = PassStage::Counted;
    launch(number, blocks, control, length);
  } else {
    check_room(pass, code, length, counts);
    launch(number, blocks, control, length);
    counts = read_counts(code);
  }
  finish_sinks(pass, counts);
}

void CudaKernel::launch(std::size_t number, std::int64_t blocks, PassControl& control,
                        std::int64_t length) {
  const PassCode& code = code_.passes[number];
  // Making parameters may take launches of its own, which use the workspace.
  const std::vector<std::byte> members = member_parameters(number, length);
  control.failures = failures();
  control.workspace = cuda_.workspace(published_words(code, control), state_bytes(code, control));
  module_->launch(cuda_.device(), number, blocks, parameters(control, members));
}

/// Where launches report failures. A wait since the last launch has shown that there were none, and
/// the backend has forgotten about the run.
FailureSink CudaKernel::failures() {
  if (known_since_ != cuda_.waits()) {
    failures_ = cuda_.failures(run_, code_.ranks);
    known_since_ = cuda_.waits();
  }
  return failures_;
}

/// What the host knows to be wrong.
void CudaKernel::check_pass(const PlanPass& pass, std::int64_t length) const {
  const auto must_fit = [&](std::int64_t greatest) { make_int(cuda_.widths(), greatest); };
  for (const PlanNode& node : pass.nodes) {
    switch (node.kind) {
      case PlanNode::Kind::Size:
        must_fit(size(node.id));
        break;
      case PlanNode::Kind::Position:
        must_fit(length - 1);
        break;
      case PlanNode::Kind::SegmentNumber:
      case PlanNode::Kind::SegmentOffset:
      case PlanNode::Kind::FindSegment:
      case PlanNode::Kind::SegmentLength:
      case PlanNode::Kind::SegmentStart:
        must_fit(std::max(segdes_[node.id].count, segdes_[node.id].total) - 1);
        break;
      default:
        break;
    }
  }
  for (const PlanSink& sink : pass.sinks) {
    if (sink.kind != SinkKind::Scatter || sink.under == kNone) continue;
    const std::int64_t own = segdes_[sink.under].count;
    const std::int64_t into = segdes_[sink.into].count;
    if (own != into) throw segment_mismatch(kernel_, sink.under, own, sink.into, into);
  }
}

PassControl CudaKernel::control_of(std::size_t number, std::int64_t length) {
  const PlanPass& pass = plan_.passes[number];
  const PassCode& code = code_.passes[number];
  const std::int64_t tile = tile_of(code);
  const std::int64_t tiles = blocks_for(length, tile);
  const bool few = code.states > 0 && !code.running;
  const std::int64_t most = few ? tuning.reduce_blocks : tiles;
  PassControl control;
  control.length = length;
  control.tiles_each = blocks_for(tiles, std::min(tiles, most));
  control.stretches = blocks_for(tiles, control.tiles_each);
  std::int64_t others = 0, targets = 0, winners = 0;
  for (const PlanSink& sink : pass.sinks) {
    const bool by_segment = sink.under != kNone && (sink.kind == SinkKind::Reduce || selects(sink));
    if (by_segment) others = std::max(others, segdes_[sink.under].count);
    if (sink.kind != SinkKind::Scatter) continue;
    targets = std::max(targets, size(sink.into_length));
    winners += size(sink.into_length);
  }
  if (code.others) control.other_blocks = blocks_for(others, tile);
  control.target_blocks = blocks_for(targets, tile);
  if (code.targets) winners_ = cuda_.winners(std::max<std::int64_t>(winners, 1), control.tag);
  return control;
}

// ---- room for results ----

std::int64_t CudaKernel::target_length(const PlanSink& sink, std::int64_t length) const {
  switch (sink.kind) {
    case SinkKind::Reduce:
      return sink.under == kNone ? 1 : segdes_[sink.under].count;
    case SinkKind::Scatter:
      return size(sink.into_length);
    default:
      return length;
  }
}

void CudaKernel::make_targets(const PlanPass& pass, const PassCode& code, std::int64_t length) {
  for (const PlanSink& sink : pass.sinks) {
    if (sink.kind == SinkKind::Segments) {
      lengths_[sink.segdes[0]] = cuda_.new_result(Type::Int, length);
      continue;
    }
    if (sink.kind == SinkKind::Scatter && !sink.zeroed) continue;  // the defaults are there
    if (selects(sink) && sink.wants_segdes && sink.under != kNone) {
      for (std::int64_t k = 0; k < sink.classes; ++k) {
        lengths_[sink.segdes[static_cast<std::size_t>(k)]] =
            cuda_.new_result(Type::Int, segdes_[sink.under].count);
      }
    }
    if (selects(sink) && code.counted) continue;
    for (const ArrayId array : sink.arrays) {
      if (array == kNone) continue;
      const Type type = kernel_.arrays[array].type;
      const auto dies = [&](ArrayId over) {
        const Vector& operand = arrays_[over];
        // Generated code does not expect that a place changes its type.
        return operand.type == type && operand.form == Form::Dense && operand.buffer.unique();
      };
      const auto over = std::find_if(sink.over.begin(), sink.over.end(), dies);
      // Of every position the operand is read before the result is written, and by targets again.
      arrays_[array] = !code.targets && over != sink.over.end()
                           ? cuda_.new_result_over(type, length, arrays_[*over])
                           : cuda_.new_result(type, target_length(sink, length));
    }
  }
}

/// Room for selections whose numbers of elements are known.
void CudaKernel::make_selected(const PlanPass& pass, const std::vector<std::int64_t>& kept) {
  std::size_t next = 0;
  for (const PlanSink& sink : pass.sinks) {
    for (std::size_t k = 0; selects(sink) && k < sink.arrays.size(); ++k) {
      if (sink.arrays[k] == kNone) continue;
      arrays_[sink.arrays[k]] = cuda_.new_result(kernel_.arrays[sink.arrays[k]].type,
                                                 kept[next + k / sink.values.size()]);
    }
    next += counts_of(sink);
  }
}

/// Kernels write wherever their plan says. So each launch is held against the room that there is,
/// whoever made it: a mistake ends the program, and not in the memory of another vector.
void CudaKernel::check_room(const PlanPass& pass, const PassCode& code, std::int64_t length,
                            const std::vector<std::int64_t>& kept) const {
  std::size_t next = 0;
  for (const PlanSink& sink : pass.sinks) {
    for (std::size_t k = 0; k < sink.arrays.size(); ++k) {
      if (sink.arrays[k] == kNone) continue;
      check_room(arrays_[sink.arrays[k]], selects(sink) && code.counted
                                              ? kept[next + k / sink.values.size()]
                                              : target_length(sink, length));
    }
    if (sink.kind == SinkKind::Segments) check_room(lengths_[sink.segdes[0]], length);
    if (selects(sink) && sink.wants_segdes && sink.under != kNone) {
      for (std::size_t k = 0; k < counts_of(sink); ++k) {
        check_room(lengths_[sink.segdes[k]], segdes_[sink.under].count);
      }
    }
    next += counts_of(sink);
  }
}

void CudaKernel::check_room(const Vector& target, std::int64_t elements) const {
  const std::size_t bytes = static_cast<std::size_t>(elements) * cuda_.element_bytes(target.type);
  if (elements == 0 ||
      (cuda_.on_device(target) && target.length >= elements && target.buffer->capacity >= bytes)) {
    return;
  }
  throw Failure(vcode::ErrorCode::Internal,
                fmt::format("kernel `{}` was about to write {} elements where there is room for {}",
                            kernel_.name, elements, cuda_.on_device(target) ? target.length : 0));
}

// ---- what a pass found out ----

std::vector<std::int64_t> CudaKernel::read_counts(const PassCode& code) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(code.counts));
  if (counts.empty()) return counts;
  cuda_.wait();
  std::copy_n(counts_->as<std::int64_t>(), counts.size(), counts.begin());
  return counts;
}

void CudaKernel::finish_sinks(const PlanPass& pass, const std::vector<std::int64_t>& counts) {
  const std::int64_t* next = counts.data();
  for (const PlanSink& sink : pass.sinks) {
    if (sink.kind == SinkKind::Size) {
      sizes_[plan_.canonical_size[sink.size]] = *next++;
    } else if (selects(sink)) {
      finish_selection(sink, next);
      next += sink.classes;
    } else if (sink.kind == SinkKind::Segments) {
      finish_segments(pass, sink);
    }
  }
}

void CudaKernel::finish_selection(const PlanSink& sink, const std::int64_t* kept) {
  const auto classes = static_cast<std::size_t>(sink.classes);
  for (std::size_t k = 0; k < sink.arrays.size(); ++k) {
    if (sink.arrays[k] == kNone) continue;
    Vector& array = arrays_[sink.arrays[k]];
    array.length = kept[k / sink.values.size()];
    if (array.form == Form::Dense) array = trimmed(cuda_, std::move(array));
  }
  for (std::size_t k = 0; k < sink.segdes.size(); ++k) {
    // The descriptors of a Split are those of its classes; those of a Filter are all the same.
    const std::size_t which = sink.kind == SinkKind::Split ? k : 0;
    const SegdesId id = sink.segdes[k];
    const vcode::KernelSegdes& segdes = kernel_.segdes[id];
    const std::int64_t count = sink.under == kNone ? 1 : segdes_[sink.under].count;
    bind_size(segdes.total, kept[which % classes], segdes.name);
    bind_size(segdes.count, count, segdes.name);
    if (!sink.wants_segdes) continue;
    segdes_[id] = selected_segdes(lengths_[sink.segdes[which]], count, kept[which]);
  }
}

/// The lengths that a pass has made. Where all are alike the host knows them without waiting.
Vector CudaKernel::lengths_of(const PlanPass& pass, const PlanSink& sink) {
  Vector made = std::move(lengths_[sink.segdes[0]]);
  const PlanNode& length = pass.nodes[sink.values[0]];
  if (length.kind != PlanNode::Kind::Constant && length.kind != PlanNode::Kind::Size) return made;
  Vector alike = make_int(cuda_.widths(),
                          length.kind == PlanNode::Kind::Size ? size(length.id) : length.int_value);
  alike.form = Form::Constant;
  alike.length = made.length;
  return alike;
}

void CudaKernel::finish_segments(const PlanPass& pass, const PlanSink& sink) {
  const SegdesId id = sink.segdes[0];
  const vcode::KernelSegdes& segdes = kernel_.segdes[id];
  Value operand(lengths_of(pass, sink));
  bind_size(segdes.count, operand.vector().length, segdes.name);
  Value result;
  run_make_segdes(cuda_, vcode::Op::MakeSegdes, Type::Int, &operand, &result);
  segdes_[id] = std::move(result.segdes());
  bind_size(segdes.total, segdes_[id].total, segdes.name);
}

// ---- no positions ----

void CudaKernel::run_empty(const PlanPass& pass) {
  for (const PlanSink& sink : pass.sinks) {
    for (const ArrayId array : sink.arrays) {
      if (array == kNone || (sink.kind == SinkKind::Scatter && !sink.zeroed)) continue;
      Vector& result = arrays_[array];
      const Type type = kernel_.arrays[array].type;
      if (sink.kind == SinkKind::Reduce) {
        result = reduced_nothing(cuda_, sink.op, type, target_length(sink, 0));
      } else {
        result = zeros(cuda_, type, sink.kind == SinkKind::Scatter ? target_length(sink, 0) : 0);
      }
    }
    if (selects(sink)) {
      for (const SegdesId id : sink.segdes) {
        const std::int64_t count = sink.under == kNone ? 1 : segdes_[sink.under].count;
        bind_size(kernel_.segdes[id].total, 0, kernel_.segdes[id].name);
        bind_size(kernel_.segdes[id].count, count, kernel_.segdes[id].name);
        segdes_[id] = Segdes::regular(count, 0);
      }
    } else if (sink.kind == SinkKind::Segments) {
      lengths_[sink.segdes[0]] = zeros(cuda_, Type::Int, 0);
      finish_segments(pass, sink);
    }
  }
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
