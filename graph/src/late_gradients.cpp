// Gradients that replays leave out: the optimizer has used them, and the program asks for few of them. Until it does,
// work that waits (core/pending.h) stands for each.
#include <algorithm>

#include <halfbridge/autograd.h>

#include "program.h"

namespace hb::graph {

namespace {

class ProductWork final : public pending::Work {
 public:
  ProductWork(const Tensor& gradient, const LateProduct& late, intrusive_ptr<StorageImpl> arena)
      : Work(gradient), fn_(late.fn), gemm_(late.gemm), arena_(std::move(arena)) {
    const size_t item = element_size(gemm_.dtype);
    gemm_.a.data = const_cast<void*>(late.update->left), gemm_.b.data = const_cast<void*>(late.update->right);
    gemm_.c.data = result()->data();
    if (late.copies_left) copy(gemm_.a.data, left_, static_cast<size_t>(gemm_.m) * item);
    if (late.copies_right) copy(gemm_.b.data, right_, static_cast<size_t>(gemm_.n) * item);
  }
  void run() override { fn_(gemm_); }

 private:
  static void copy(void*& data, std::vector<char>& to, size_t bytes) {
    to.assign(static_cast<const char*>(data), static_cast<const char*>(data) + bytes);
    data = to.data();
  }
  const Product::Function fn_;
  Gemm gemm_;
  const intrusive_ptr<StorageImpl> arena_;
  std::vector<char> left_, right_;
};

/// Of the graph, which ends all such work before it is replayed, brought to other memory or gone.
class CallWork final : public pending::Work {
 public:
  CallWork(const Tensor& gradient, LateCall& call) : Work(gradient), call_(call) {}
  void run() override { call_.run_now(); }

 private:
  LateCall& call_;
};

}  // namespace

LateGradient late(int memory, const LateProduct& product) {
  return {memory, [=](const Tensor& gradient, intrusive_ptr<StorageImpl> arena) {
            return std::make_shared<ProductWork>(gradient, product, std::move(arena));
          }};
}
LateGradient late(int memory, LateCall& call) {
  return {memory, [&call](const Tensor& gradient, const intrusive_ptr<StorageImpl>&) {
            return std::make_shared<CallWork>(gradient, call);
          }};
}

Tensor& gradient_of(const TensorHandle& leaf) { return leaf->impl().materialize_autograd_meta().grad; }

/// The leaf whose gradient alone is what the program sees of this memory; null where there is none.
const Program::LeafState* Program::sole_leaf(int memory) const {
  const int slot = slot_of_memory_[memory];
  if (slot < 0) return nullptr;
  for (const Result& r : results_)
    if (r.slot == slot) return nullptr;
  const LeafState* only = nullptr;
  for (const LeafState& l : leaves_) {
    if (l.slot != slot) continue;
    if (only) return nullptr;
    only = &l;
  }
  const bool plain = only && only->form.impl().physically_contiguous() && only->form.impl().physical_offset() == 0;
  return plain ? only : nullptr;
}

void Program::consume(bool late) {
  Consumed consumed =
      consume_gradients(calls_, memories_, [&](int memory) { return late && sole_leaf(memory) != nullptr; });
  for (LateGradient& l : consumed.late) late_.push_back({l, sole_leaf(l.memory), {}});
  kept_ = std::move(consumed.kept);
}
/// Where gradients lie outside of the block, half ones beside them would take more memory than before.
void Program::read_halves(bool late) {
  const auto may_be_late = [&](int memory) {
    const LeafState* const leaf = late ? sole_leaf(memory) : nullptr;
    return leaf && leaf->any;
  };
  for (LateGradient& l : read_half_gradients(calls_, memories_, may_be_late))
    late_.push_back({l, sole_leaf(l.memory), {}});
}

void Program::clip(bool late) {
  const auto may_be_late = [&](int memory) { return late && sole_leaf(memory) != nullptr; };
  for (LateGradient& l : clip_in_rules(calls_, memories_, may_be_late)) late_.push_back({l, sole_leaf(l.memory), {}});
}

void Program::place_late() {
  for (Late& late : late_) {
    late.at = memories_[late.gradient.memory].first;
    for (size_t i = 0; i < calls_.size() && late.gradient.changes; ++i)
      if (calls_[i].call.get() == late.gradient.changes) late.at = static_cast<int>(i);
  }
}

/// Whether nobody writes it before the replay ends.
bool Program::is_late(int memory) const {
  return std::any_of(late_.begin(), late_.end(),
                     [&](const Late& l) { return l.gradient.memory == memory && !l.gradient.changes; });
}

/// Of the leaves whose gradients the first `calls` calls stood for.
void Program::leave_out(size_t calls) {
  if (kWatchesArena && arena_) open_places(static_cast<char*>(arena_->data()), lives_, static_cast<int>(calls_.size()));
  for (Late& late : late_) {
    if (late.at >= static_cast<int>(calls)) continue;
    const Tensor& gradient = *late.leaf->now;
    late.work = late.gradient.work(gradient, arena_);
    gradient.impl().set_deferred();
    pending::add(late.work);
  }
}

/// What the program still holds is written; what the work reads is about to change.
void Program::end_waiting() {
  for (Late& late : late_) {
    if (!late.work) continue;
    if (is_held(*late.leaf))
      late.leaf->now->impl().settle();
    else
      pending::forget(*late.work);
    late.work.reset();
  }
  if (!pending::any()) return;
  for (const Guarded& g : guarded_)  // gradients that another graph left out, and this one reads
    if (g.tensor->impl().is_deferred()) pending::run(*g.tensor->impl().physical_storage());
}

/// By somebody other than the leaf, this program and other graphs.
bool Program::is_held(const LeafState& leaf) const {
  const size_t own = 1 + static_cast<size_t>(gradient_of(leaf.leaf).is_same(*leaf.now));
  return leaf.now->use_count() > own;  // graphs have one handle together
}

/// The gradients outlive the graph.
Program::~Program() {
  for (Late& late : late_) {
    if (!late.work) continue;
    if (is_held(*late.leaf) || gradient_of(late.leaf->leaf).is_same(*late.leaf->now)) late.leaf->now->impl().settle();
    pending::forget(*late.work);
  }
}

}  // namespace hb::graph
