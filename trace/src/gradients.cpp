#include "gradients.h"

#include <algorithm>

#include <halfbridge/ops.h>

#include "autograd/accumulate_grad.h"
#include "core/thread_object.h"
#include "own_work.h"

namespace hb::trace {

namespace {
bool same(const Edge& a, const Edge& b) { return a.function == b.function && a.input_nr == b.input_nr; }
}  // namespace

std::vector<Gradients::Running>& Gradients::running() { return hb::detail::thread_object<std::vector<Running>>(); }

void Gradients::begin(const std::shared_ptr<const Call>& call, ArrayRef<const Tensor*> inputs) {
  if (!GradMode::is_enabled() || !call->chosen) return;
  Running now{call, {}};
  int64_t index = 0;
  for (const Tensor* t : inputs) {
    // The edge is kept while the call runs: a leaf has none before it is used.
    if (t->defined() && t->requires_grad())
      now.inputs.push_back({gradient_edge(*t), index, DimVector(t->sizes()), t->scalar_type(), nullptr});
    ++index;
  }
  running().push_back(std::move(now));
}

void Gradients::end(const Call& call, ArrayRef<const Tensor*> outputs) {
  auto& calls = running();
  const auto at = std::find_if(calls.rbegin(), calls.rend(), [&](const Running& r) { return r.call.get() == &call; });
  if (at == calls.rend()) return;
  const Running ended = std::move(*at);
  calls.erase(std::prev(at.base()), calls.end());
  if (!GradMode::is_enabled()) return;
  const std::lock_guard lock(mutex_);
  int64_t index = -1;
  for (const Tensor* t : outputs) {
    ++index;
    if (!t->defined() || !t->requires_grad()) continue;
    const Edge edge = gradient_edge(*t);
    // An input that is returned as it is: what is its share and what is its gradient cannot be told apart.
    if (std::any_of(ended.inputs.begin(), ended.inputs.end(), [&](const auto& i) { return same(i.edge, edge); }))
      continue;
    Seen& seen = seen_[edge.function.get()];
    seen.step = call.about.step;
    if (edge.input_nr < seen.users.size() && seen.users[edge.input_nr] > 0) {
      auto share = std::make_shared<Share>(
          Share{ended.call, Kind::grad_output, index, DimVector(t->sizes()), t->scalar_type(), 0, false, {}});
      seen.later.emplace_back(edge.input_nr, share);
      seen.open.push_back(share);
    } else {
      seen.outputs.push_back({ended.call, index, edge.input_nr});
    }
  }
}

void Gradients::inputs(const Node& node, ArrayRef<const Tensor*> inputs) {
  const std::lock_guard lock(mutex_);
  auto& calls = running();
  if (calls.empty() && seen_.empty()) return;
  seen_.erase(&node);  // an earlier node had this address
  std::vector<std::pair<size_t, SharePtr>> passes;
  for (size_t i = 0; i < inputs.size() && i < node.next_edges().size(); ++i) {
    const Edge& edge = node.next_edges()[i];
    if (!edge.is_valid()) continue;
    for (Running& r : calls) {
      for (auto& input : r.inputs) {
        if (!same(input.edge, edge)) continue;
        if (!input.share) {
          input.share = std::make_shared<Share>(
              Share{r.call, Kind::grad_input, input.index, input.sizes, input.dtype, 0, false, {}});
          Seen& from = seen_[edge.function.get()];
          from.step = r.call->about.step;
          from.open.push_back(input.share);
        }
        passes.emplace_back(i, input.share);
      }
    }
    const auto found = seen_.find(edge.function.get());
    if (found == seen_.end() && calls.empty()) continue;
    Seen& from = found == seen_.end() ? seen_[edge.function.get()] : found->second;
    if (!calls.empty()) from.step = calls.back().call->about.step;
    if (from.users.size() <= edge.input_nr) from.users.resize(edge.input_nr + 1);
    ++from.users[edge.input_nr];
    for (auto& [nr, share] : from.later)
      if (nr == edge.input_nr && !share->written) passes.emplace_back(i, share);
  }
  if (passes.empty()) return;
  for (auto& [i, share] : passes) ++share->waiting;
  Seen& seen = seen_[&node];
  seen.step = passes.front().second->call->about.step;
  seen.passes = std::move(passes);
}

void Gradients::arrived(const Node& node, const variable_list& grads) {
  const std::lock_guard lock(mutex_);
  if (const auto* leaf = dynamic_cast<const AccumulateGrad*>(&node)) leaf_sink_(leaf->variable);
  const auto found = seen_.find(&node);
  if (found == seen_.end()) return;
  // What was not passed on by now never will be.
  for (const SharePtr& share : std::exchange(found->second.open, {})) write(*share);
  for (const Output& o : std::exchange(found->second.outputs, {}))
    if (o.nr < grads.size() && grads[o.nr].defined()) sink_(*o.call, Kind::grad_output, o.index, grads[o.nr]);
}

void Gradients::evaluated(const Node& node, const variable_list& grads) {
  const std::lock_guard lock(mutex_);
  const auto found = seen_.find(&node);
  if (found == seen_.end()) return;
  for (auto& [i, share] : std::exchange(found->second.passes, {})) {
    if (i < grads.size() && grads[i].defined()) add(*share, grads[i]);
    // The gradient of an output may still get users; it is complete when it arrives.
    if (--share->waiting == 0 && share->kind == Kind::grad_input) write(*share);
  }
}

// As the engine does it: summed over what was broadcast, in the input's dtype.
void Gradients::add(Share& share, const Tensor& gradient) {
  if (share.written) return;
  const OwnWork own;
  Tensor g = gradient;
  if (g.impl().sizes() != share.sizes) g = sum_to(g, share.sizes);
  if (g.scalar_type() != share.dtype) g = g.to(share.dtype);
  share.sum = share.sum.defined() ? share.sum + g : g;
}

void Gradients::write(Share& share) {
  if (std::exchange(share.written, true) || !share.sum.defined()) return;
  sink_(*share.call, share.kind, share.index, share.sum);
  share.sum = Tensor();
}

void Gradients::flush() {
  const std::lock_guard lock(mutex_);
  std::vector<SharePtr> open;
  for (auto& [node, seen] : seen_)
    for (const SharePtr& share : seen.open)
      if (share->sum.defined()) open.push_back(share);
  std::sort(open.begin(), open.end(), [](const SharePtr& a, const SharePtr& b) {
    return std::pair(a->call->about.call, a->index) < std::pair(b->call->about.call, b->index);
  });
  for (const SharePtr& share : open) write(*share);
}

void Gradients::forget(int64_t step) {
  const std::lock_guard lock(mutex_);
  for (auto it = seen_.begin(); it != seen_.end();) it = it->second.step < step ? seen_.erase(it) : std::next(it);
}

}  // namespace hb::trace
