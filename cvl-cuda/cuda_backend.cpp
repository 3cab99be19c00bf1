#include "cvl-cuda/cuda_backend.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "cvl-cuda/operations.hpp"
#include "cvl/op_failure.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

/// In the order of vcode::Family up to Lengths.
constexpr std::array<Operation, 16> kOperations = {
    run_elementwise, run_scan,    run_reduce,      run_combine, run_random,     run_rank,
    run_sort,        run_permute, run_extract,     run_replace, run_distribute, run_index,
    run_pack,        run_length,  run_make_segdes, run_lengths};
static_assert(static_cast<std::size_t>(vcode::Family::Lengths) + 1 == kOperations.size());

// What may be set fits what holds it.
static_assert(LargestTuning::parameter_words == shape::kParameterWords);
static_assert(LargestTuning::block_rank == shape::kBlockRank);
static_assert(LargestTuning::failing_operations == kMaxSequence);
static_assert(LargestTuning::winner_tags == kMaxTag);
static_assert(LargestTuning::epochs == kMaxEpoch);

std::size_t limit_of(const CudaOptions& options) {
  return options.memory_limit == Heap::kUnlimited ? Heap::kOfSource : options.memory_limit;
}

cpu::CpuOptions cpu_options(const CudaOptions& options) {
  cpu::CpuOptions result;
  result.widths = options.widths;
  result.threads = options.threads;
  result.memory_limit = limit_of(options);
  result.seed = options.seed;
  return result;
}

}  // namespace

CudaBackend::CudaBackend(const CudaOptions& options)
    : device_(options.ordinal),
      cpu_(cpu_options(options)),
      opened_host_elements_(options.host_elements < 0 ? tuning.host_elements
                                                      : options.host_elements),
      host_elements_(options.host_elements < 0 ? tuning.unopened_elements : options.host_elements),
      unopened_work_(options.host_elements < 0 ? tuning.unopened_work * cpu_.threads() : 0),
      device_heap_(device_.memory(), limit_of(options)),
      mapped_heap_(device_.mapped_memory()),
      compiler_(options.widths, cpu_.threads(), codegen::KernelFolders::of_user()) {
  if (options.required) open_device();
}

CudaBackend::~CudaBackend() = default;

std::string CudaBackend::description() const {
  const std::string device = opened_ ? device_.description() : "no device yet";
  return fmt::format("cuda: {}; up to {} elements on {}", device, host_elements_,
                     cpu_.description());
}

std::vector<std::string> CudaBackend::notes() const {
  std::vector<std::string> notes = notes_;
  if (compiler_.compiled() > 0) {
    notes.push_back(fmt::format(
        "{} kernel{} compiled for the device, in {:.1f} s, and kept for later runs",
        compiler_.compiled(), compiler_.compiled() == 1 ? " was" : "s were", compiler_.seconds()));
  }
  return notes;
}

// ---- the device ----

void CudaBackend::open_device() {
  device_.open();
  failure_gate_ = device_heap_.allocate(sizeof(FailureGate));
  failure_record_ = mapped_heap_.allocate(sizeof(FailureRecord));
  failure_sink_.gate = failure_gate_->as<FailureGate>();
  failure_sink_.record = failure_record_->as<FailureRecord>();
  // Filled: the first copy from the host would pin its staging area.
  device_.fill(&failure_sink_.gate->key, 0xFF, sizeof failure_sink_.gate->key);
  device_.fill(&failure_sink_.gate->lock, 0, sizeof failure_sink_.gate->lock);
  failure_sink_.record->key = kNoFailure;
  workspace_counters_ = device_heap_.allocate(kWorkspaceCounters * sizeof(std::uint32_t));
  device_.fill(workspace_counters_->data, 0, kWorkspaceCounters * sizeof(std::uint32_t));
  host_elements_ = opened_host_elements_;
  opened_ = true;
}

bool CudaBackend::has_device(std::int64_t work) {
  if (opened_ || none_found_) return opened_;
  if (host_work_ + work < unopened_work_) return false;
  try {
    open_device();
  } catch (const Failure& failure) {
    none_found_ = true;
    host_elements_ = std::numeric_limits<std::int64_t>::max();
    notes_.push_back(fmt::format("everything is computed on the host: {}", failure.message()));
  }
  return opened_;
}

void CudaBackend::count_host_work(std::int64_t work) {
  if (!opened_ && !is_small(work)) host_work_ += work;
}

// ---- running ----

void CudaBackend::execute(vcode::Op op, Type type, Value* operands, Value* results) {
  kept_.clear();
  const std::size_t count = vcode::info(op).operands.size();
  const std::int64_t work = longest_of(operands, count);
  if (all_small_on_host(operands, count) || !has_device(work)) {
    run_on_host(op, type, operands, results);
    count_host_work(std::max(work, longest_of(results, vcode::info(op).results.size())));
  } else {
    const auto family = static_cast<std::size_t>(vcode::info(op).family);
    kOperations[family](*this, op, type, operands, results);
  }
  kept_.clear();
}

bool CudaBackend::all_small_on_host(const Value* values, std::size_t count) const {
  return std::all_of(values, values + count, [&](const Value& value) {
    if (value.is_vector()) return is_small(value.vector().length) && known_on_host(value.vector());
    const Segdes& segdes = value.segdes();
    return is_small(segdes.total) && is_small(segdes.count) && known_on_host(segdes);
  });
}

bool CudaBackend::known_on_host(const Vector& vector) const {
  if (vector.form != Form::Dense || vector.buffer->heap == &mapped_heap_) {
    return vector.form != Form::Dense || !pending_.contains(vector.buffer.get());
  }
  return vector.buffer->heap != &device_heap_;
}

bool CudaBackend::known_on_host(const Segdes& segdes) const {
  return segdes.uniform ||
         (segdes.tables->lengths.length == segdes.count && known_on_host(segdes.tables->lengths));
}

/// The CPU library must not write to mapped memory, which kernels may still have to read. Small
/// vectors must be Inline for it.
void CudaBackend::bring_to_host(Value* values, std::size_t count) {
  const auto take = [&](Vector& vector) {
    if (!is_mapped(vector)) return;
    const std::size_t bytes = static_cast<std::size_t>(vector.length) * element_bytes(vector.type);
    if (bytes <= kInlineBytes) {
      std::memcpy(vector.payload, vector.buffer->data, bytes);
      vector.form = Form::Inline;
      vector.buffer.reset();
    } else {
      kept_.push_back(vector.buffer);
    }
  };
  for (std::size_t k = 0; k < count; ++k) {
    if (values[k].is_vector()) {
      take(values[k].vector());
    } else if (!values[k].segdes().uniform) {
      take(values[k].segdes().tables->lengths);
    }
  }
}

template <class Run>
void CudaBackend::on_host(const Run& run) {
  try {
    run();
  } catch (const Failure&) {
    if (opened_) wait();  // an earlier operation may have failed on the device
    throw;
  }
}

void CudaBackend::run_on_host(vcode::Op op, Type type, Value* operands, Value* results) {
  bring_to_host(operands, vcode::info(op).operands.size());
  on_host([&] { cpu_.execute(op, type, operands, results); });
}

void CudaBackend::run_on_host(PreparedKernel& kernel, Value* operands, std::size_t count,
                              Value* results) {
  bring_to_host(operands, count);
  on_host([&] { cpu_.run(kernel, operands, results); });
}

void CudaBackend::note_kernel(const std::string& name, const std::string& reason) {
  notes_.push_back(
      fmt::format("kernel `{}` is run as the VCODE that it replaces: {}", name, reason));
}

void CudaBackend::synchronize() {
  if (opened_ && !device_.idle()) wait();
}

void CudaBackend::wait() {
  device_.wait();
  after_wait();
}

void CudaBackend::after_wait() {
  pending_.clear();
  ++waits_;
  if (failure_sink_.record->key != kNoFailure) throw take_failure();
  pending_operations_.clear();
}

FailureSink CudaBackend::next_failures(std::uint64_t ranks) {
  if (pending_operations_.size() + ranks >= static_cast<std::uint64_t>(tuning.failing_operations))
    wait();
  FailureSink result = failure_sink_;
  result.sequence = pending_operations_.size();
  return result;
}

FailureSink CudaBackend::failures(vcode::Op op, std::int64_t length) {
  const FailureSink result = next_failures(1);
  pending_operations_.push_back({op, origin, length, nullptr});
  return result;
}

FailureSink CudaBackend::failures(const std::shared_ptr<const KernelRun>& run, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  const FailureSink result = next_failures(count);
  const PendingOperation pending{vcode::Op::Run, origin, 0, run};
  pending_operations_.insert(pending_operations_.end(), count, pending);
  return result;
}

/// The failure that is in the record, which is emptied for the next one.
Failure CudaBackend::take_failure() {
  const FailureRecord record = *failure_sink_.record;
  const auto number = static_cast<std::size_t>(record.key >> kPositionBits);
  const auto position =
      static_cast<std::int64_t>(record.key & ((std::uint64_t{1} << kPositionBits) - 1));
  const PendingOperation operation = pending_operations_[number];
  failure_sink_.record->key = kNoFailure;
  device_.fill(&failure_sink_.gate->key, 0xFF, sizeof failure_sink_.gate->key);
  pending_operations_.clear();
  Failure failure = failure_of_operation(operation, record, position);
  failure.set_origin(operation.origin);
  return failure;
}

Failure CudaBackend::failure_of_operation(const PendingOperation& operation,
                                          const FailureRecord& record, std::int64_t position) {
  if (operation.run) {
    const KernelSites& sites = *operation.run->sites;
    const auto site = static_cast<std::size_t>(record.segment);
    KernelFault fault = sites.sites[site];
    fault.position = position;
    fault.value = record.value;
    fault.limit = record.segment_length;
    fault.count = operation.run->lengths[sites.site_pass[site]];
    return failure_of(sites.kernel, fault);
  }
  switch (vcode::info(operation.op).family) {
    case vcode::Family::Elementwise:
      return division_by_zero(operation.op, position, operation.length);
    case vcode::Family::Random:
      return random_range(position, record.value, operation.length);
    case vcode::Family::MakeSegdes:
      return negative_length(position, record.value, operation.length);
    default:
      return index_out_of_range(operation.op, position, record.value, record.segment,
                                record.segment_length);
  }
}

// ---- transfers ----

Vector CudaBackend::upload(Type type, const void* elements, std::int64_t length) {
  if (is_small(length) || Vector::fits_inline(length, element_bytes(type)) || !has_device(length)) {
    return cpu_.upload(type, elements, length);
  }
  const std::size_t bytes = static_cast<std::size_t>(length) * element_bytes(type);
  Vector result;
  result.type = type;
  result.length = length;
  result.form = Form::Dense;
  result.buffer = allocate(bytes);
  device_.upload(result.buffer->data, elements, bytes);
  return result;
}

void CudaBackend::download(const Vector& vector, std::int64_t begin, std::int64_t count,
                           void* elements) {
  if (count == 0) return;
  if (vector.form == Form::Dense && vector.buffer->heap == &device_heap_) {
    const std::size_t width = element_bytes(vector.type);
    device_.download(elements, vector.buffer->data + static_cast<std::size_t>(begin) * width,
                     static_cast<std::size_t>(count) * width);
    after_wait();
    return;
  }
  if (!known_on_host(vector)) wait();
  cpu_.download(vector, begin, count, elements);
}

// ---- operands ----

RawSource CudaBackend::source(const Vector& vector, std::int64_t positions) {
  RawSource result;
  result.length = vector.length;
  const std::size_t width = element_bytes(vector.type);
  if (vector.form == Form::Progression) {
    result.kind = SourceKind::Progression;
    result.payload[0] = static_cast<std::uint64_t>(vector.progression_start());
    result.payload[1] = static_cast<std::uint64_t>(vector.progression_step());
    return result;
  }
  if (vector.form == Form::Constant || (vector.form == Form::Inline && vector.length <= 1)) {
    result.kind = SourceKind::Constant;
    std::memcpy(result.payload, vector.payload, width);
    return result;
  }
  const std::size_t bytes = static_cast<std::size_t>(vector.length) * width;
  if (on_device(vector) && !(is_mapped(vector) && known_on_host(vector))) {
    result.data = data_for(vector.buffer, bytes, positions);
    return result;
  }
  if (bytes <= static_cast<std::size_t>(tuning.parameter_words) * sizeof result.payload[0]) {
    result.kind = SourceKind::Few;
    std::memcpy(result.payload, cpu::elements<std::byte>(vector), bytes);
    return result;
  }
  if (on_device(vector)) {
    result.data = data_for(vector.buffer, bytes, positions);
    return result;
  }
  std::byte* target = keep(allocate(bytes));
  device_.upload(target, cpu::elements<std::byte>(vector), bytes);
  result.data = target;
  return result;
}

/// Where a launch of so many positions reads a buffer that the device can reach.
std::byte* CudaBackend::data_for(const Ref<Buffer>& buffer, std::size_t bytes,
                                 std::int64_t positions) {
  if (buffer->heap != &mapped_heap_ || positions < tuning.replicated_positions) {
    return buffer->data;
  }
  for (const Replica& replica : replicas_) {
    if (replica.original == buffer.get() && replica.bytes >= bytes) return keep(replica.copy);
  }
  RawSource all;
  all.data = buffer->data;
  all.length = static_cast<std::int64_t>(bytes);
  Replica& replica = replicas_[next_replica_];
  next_replica_ = (next_replica_ + 1) % static_cast<std::size_t>(tuning.replicas);
  replica = {buffer.get(), bytes, allocate(bytes)};
  launch_write_out(device_, 1, all, all.length, replica.copy->data);
  return keep(replica.copy);
}

Segments CudaBackend::segments(const Segdes& segdes) {
  Segments result;
  result.uniform = segdes.uniform;
  result.count = segdes.count;
  result.total = segdes.total;
  result.uniform_length = segdes.uniform_length;
  if (segdes.uniform) return result;
  if (segdes.count <= tuning.parameter_words && known_on_host(segdes)) {
    const std::vector<std::int64_t> ends = host_ends(segdes);
    std::copy(ends.begin(), ends.end(), result.few_ends);
  } else {
    result.offsets = device_offsets(segdes);
  }
  return result;
}

/// The ends of segments whose lengths the host knows.
std::vector<std::int64_t> CudaBackend::host_ends(const Segdes& segdes) {
  const auto count = static_cast<std::size_t>(segdes.count);
  const Vector& lengths = segdes.tables->lengths;
  std::vector<std::int64_t> ends(count);
  if (widths().int_bytes == 8) {
    cpu_.download(lengths, 0, segdes.count, ends.data());
  } else {
    std::vector<std::int32_t> narrow(count);
    cpu_.download(lengths, 0, segdes.count, narrow.data());
    std::copy(narrow.begin(), narrow.end(), ends.begin());
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  return ends;
}

/// The starts of segments on the device: made when first asked for, then kept.
Array<const std::int64_t> CudaBackend::device_offsets(const Segdes& segdes) {
  SegdesTables& tables = *segdes.tables;
  const std::size_t bytes = (static_cast<std::size_t>(segdes.count) + 1) * sizeof(std::int64_t);
  if (!tables.device_offsets) {
    Ref<Buffer> offsets = allocate(bytes);
    if (is_small(segdes.count) && known_on_host(segdes)) {
      std::vector<std::int64_t> starts = host_ends(segdes);
      starts.insert(starts.begin(), 0);
      device_.upload(offsets->data, starts.data(), bytes);
    } else {
      OffsetsCall call;
      call.widths = widths();
      call.lengths = source(tables.lengths, segdes.count);
      call.count = segdes.count;
      call.offsets = offsets->as<std::int64_t>();
      call.total = reinterpret_cast<std::int64_t*>(keep(allocate_mapped(sizeof(std::int64_t))));
      call.failures = failure_sink_;  // the lengths were checked when the descriptor was made
      launch_offsets(device_, call, workspace(scan_words(fold_tiles(segdes.count, 0)), 0));
    }
    tables.device_offsets = std::move(offsets);
  }
  const std::byte* data = data_for(tables.device_offsets, bytes, segdes.total);
  return Array<const std::int64_t>(reinterpret_cast<const std::int64_t*>(data), segdes.count + 1);
}

// ---- results and scratch memory ----

Vector CudaBackend::new_result(Type type, std::int64_t length) {
  Vector result;
  result.type = type;
  result.length = length;
  if (length == 0) return result;
  const std::size_t bytes = static_cast<std::size_t>(length) * element_bytes(type);
  result.form = Form::Dense;
  result.buffer = is_small(length) ? allocate_mapped(bytes) : allocate(bytes);
  return result;
}

Vector CudaBackend::new_result_over(Type type, std::int64_t length, Vector& dying) {
  if (!on_device(dying) || !dying.buffer.unique() || dying.length != length ||
      element_bytes(dying.type) != element_bytes(type)) {
    return new_result(type, length);
  }
  dying.buffer->heap->count_takeover();
  if (is_mapped(dying)) mark_written(dying.buffer);
  Vector result;
  result.type = type;
  result.length = length;
  result.form = Form::Dense;
  result.buffer = dying.buffer;
  return result;
}

Ref<Buffer> CudaBackend::allocate(std::size_t bytes, Heap::Extent extent) {
  try {
    return device_heap_.allocate(bytes, extent);
  } catch (const Failure&) {
    if (!drop_caches()) throw;
    return device_heap_.allocate(bytes, extent);
  }
}

Ref<Buffer> CudaBackend::allocate_mapped(std::size_t bytes) {
  Ref<Buffer> buffer = mapped_heap_.allocate(bytes);
  mark_written(buffer);
  return buffer;
}

void CudaBackend::mark_written(const Ref<Buffer>& buffer) {
  pending_.insert(buffer.get());
  for (Replica& replica : replicas_) {
    if (replica.original == buffer.get()) replica = {};
  }
}

std::byte* CudaBackend::keep(Ref<Buffer> buffer) {
  kept_.push_back(std::move(buffer));
  return kept_.back()->data;
}

/// Gives up what can be made again. False when there was nothing.
bool CudaBackend::drop_caches() {
  const bool spare_winners = winners_.unique();  // and not those of the operation being prepared
  const bool any = spare_winners || last_pack_.flags || last_rank_.ranks || remembered_[0].tables ||
                   std::any_of(replicas_.begin(), replicas_.end(),
                               [](const Replica& replica) { return replica.copy; });
  if (spare_winners) winners_.reset();
  last_pack_ = {};
  last_send_ = {};
  last_rank_ = {};
  remembered_.fill(Segdes());
  next_remembered_ = 0;
  replicas_.fill({});
  device_heap_.trim();
  return any;
}

Workspace CudaBackend::workspace(std::int64_t words, std::int64_t value_bytes) {
  const auto has = [](const Ref<Buffer>& buffer, std::size_t bytes) {
    return buffer && buffer->capacity >= bytes;
  };
  const std::size_t word_bytes = static_cast<std::size_t>(words) * sizeof(std::uint64_t);
  if (!has(workspace_words_, word_bytes) || workspace_epoch_ >= tuning.epochs) {
    workspace_words_.reset();
    workspace_words_ =
        allocate(std::max(word_bytes, sizeof(std::uint64_t)), Heap::Extent::Capacity);
    device_.fill(workspace_words_->data, 0, workspace_words_->capacity);
    workspace_epoch_ = 0;
  }
  const std::size_t bytes = static_cast<std::size_t>(std::max<std::int64_t>(value_bytes, 1));
  if (!has(workspace_values_, bytes)) {
    workspace_values_.reset();
    workspace_values_ = allocate(bytes, Heap::Extent::Capacity);
  }
  Workspace result;
  result.words = Array<std::uint64_t>(workspace_words_->as<std::uint64_t>(), words);
  result.values = workspace_values_->data;
  result.counters = workspace_counters_->as<std::uint32_t>();
  result.epoch = ++workspace_epoch_;
  return result;
}

std::uint64_t* CudaBackend::winners(std::int64_t length, std::uint64_t& tag) {
  const std::size_t bytes = static_cast<std::size_t>(length) * sizeof(std::uint64_t);
  if (!winners_ || winners_->capacity < bytes ||
      winners_tag_ >= static_cast<std::uint64_t>(tuning.winner_tags)) {
    winners_.reset();
    last_send_ = {};
    winners_ = allocate(bytes, Heap::Extent::Capacity);
    device_.fill(winners_->data, 0, winners_->capacity);
    winners_tag_ = 0;
  }
  tag = ++winners_tag_;
  keep_winners();
  return winners_->as<std::uint64_t>();
}

// ---- what is remembered of descriptors ----

void CudaBackend::remember_lengths(const Segdes& segdes) {
  remembered_[next_remembered_] = segdes;
  next_remembered_ = (next_remembered_ + 1) % static_cast<std::size_t>(tuning.remembered_lengths);
}

const Segdes* CudaBackend::find_by_lengths(const Vector& lengths) const {
  if (lengths.form != Form::Dense) return nullptr;
  for (const Segdes& segdes : remembered_) {
    if (segdes.tables && segdes.count == lengths.length &&
        segdes.tables->lengths.form == Form::Dense &&
        segdes.tables->lengths.buffer.get() == lengths.buffer.get()) {
      return &segdes;
    }
  }
  return nullptr;
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
