#include "scaled_grads.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "scaler_state.h"

namespace hb::amp {

namespace {
// A scaler that has scaled a loss and was not updated since. Other threads' gradients are not its own.
struct Pending {
  const GradScaler::State* scaler;
  std::thread::id thread;
  std::unordered_set<const TensorImpl*> unscaled;
};
std::mutex mutex;
std::vector<Pending>& pending_scalers() {
  static auto& scalers = *new std::vector<Pending>;  // never destroyed: threads may ask while the process ends
  return scalers;
}
std::atomic<bool> any_pending{false}, warned{false};

auto find(std::vector<Pending>& all, const GradScaler::State* scaler) {
  return std::find_if(all.begin(), all.end(), [&](const Pending& p) { return p.scaler == scaler; });
}

// Whether this thread has pending scalers, and none has unscaled this gradient.
bool still_scaled(const Tensor& grad) {
  const std::lock_guard<std::mutex> lock(mutex);
  bool mine = false;
  for (const Pending& p : pending_scalers()) {
    if (p.thread != std::this_thread::get_id()) continue;
    if (p.unscaled.count(&grad.impl())) return false;
    mine = true;
  }
  return mine;
}
}  // namespace

void GradScaler::State::set_pending(bool now) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto& all = pending_scalers();
  const auto at = find(all, this);
  if (now && at == all.end()) all.push_back({this, std::this_thread::get_id(), {}});
  if (!now && at != all.end()) all.erase(at);
  any_pending = !all.empty();
}

void GradScaler::State::note_unscaled(const std::vector<Tensor>& grads) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto at = find(pending_scalers(), this);
  if (at == pending_scalers().end()) return;
  for (const Tensor& g : grads)
    if (g.defined()) at->unscaled.insert(&g.impl());
}

void warn_if_scaled(TensorList tensors, const char* function) {
  if (!any_pending.load(std::memory_order_relaxed) || warned.load(std::memory_order_relaxed)) return;
  for (const Tensor& t : tensors) {
    if (!t.defined()) continue;
    const Tensor& grad = t.grad().defined() ? t.grad() : t;
    if (!t.grad().defined() && t.requires_grad()) continue;
    if (!still_scaled(grad)) return;
    if (warned.exchange(true)) return;
    detail::warn(detail::str(
        function,
        " works on gradients that a GradScaler has not unscaled: they are larger by the factor of its scale. Call "
        "scaler.unscale_(optimizer) after backward() and before clipping. (This warning is given once.)"));
    return;
  }
}

}  // namespace hb::amp
