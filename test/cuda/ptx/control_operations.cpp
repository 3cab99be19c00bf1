// Branches, calls, barriers, fences.
#include "cuda/ptx/fault.hpp"
#include "cuda/ptx/operation_table.hpp"

namespace ptx_machine {
namespace {

void branch(const Instruction& i, Thread& t) {
  t.next = t.block->code + i.target;
}

void call(const Instruction& i, Thread& t) {
  t.calls.push_back(t.next);
  branch(i, t);
}

void leave(const Instruction&, Thread& t) {
  t.state = Thread::State::Done;
}

void go_back(const Instruction& i, Thread& t) {
  if (t.calls.empty()) return leave(i, t);
  t.next = t.calls.back();
  t.calls.pop_back();
}

void trap(const Instruction&, Thread&) {
  throw Fault("the kernel gives up (trap)");
}

void wait_for_block(const Instruction& i, Thread& t) {
  if (t.get<std::uint32_t>(i.r[0]) != 0) {
    throw Fault("only barrier 0 of all threads of the block is known");
  }
  t.state = Thread::State::AtBarrier;
}

// Threads are run one after the other, so that all see one order of accesses: fences have nothing
// to do but to let others run.
void pause(const Instruction&, Thread& t) {
  t.pauses = true;
}

}  // namespace

void add_control_operations(OperationTable& table) {
  table.add("bra", branch);
  table.add("bra.uni", branch);
  table.add("call", call);
  table.add("call.uni", call);
  table.add("ret", go_back);
  table.add("ret.uni", go_back);
  table.add("exit", leave);
  table.add("trap", trap);
  table.add("bar.sync", wait_for_block);
  table.add("barrier.sync", wait_for_block);
  for (const char* fence :
       {"membar.cta", "membar.gl", "membar.sys", "fence.sc.cta", "fence.sc.gpu", "fence.sc.sys",
        "fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.acq_rel.sys", "nanosleep.u32"}) {
    table.add(fence, pause);
  }
}

}  // namespace ptx_machine
