// What a tensor's record (TensorImpl) asks of autograd.
#include <atomic>
#include <mutex>

#include <halfbridge/autograd.h>

#include "core/autograd_seam.h"
#include "core/mutex_table.h"

namespace hb {

// Threads that share a tensor may all be the first to keep something with it; who has it already takes no lock.
AutogradMeta& TensorImpl::materialize_autograd_meta() {
  const std::atomic_ref<AutogradMeta*> published(autograd_.meta);
  if (AutogradMeta* const made = published.load(std::memory_order_acquire)) return *made;
  static constinit MutexTable<> mutexes;
  const std::lock_guard lock(mutexes.of(*this));
  if (!published.load(std::memory_order_relaxed)) published.store(new AutogradMeta, std::memory_order_release);
  return *published.load(std::memory_order_relaxed);
}

namespace {
[[maybe_unused]] const bool filled_in =
    (detail::autograd_seam = {[](const Tensor& t) { t.requires_grad_(true); }, [](AutogradMeta* meta) { delete meta; }},
     true);
}  // namespace

}  // namespace hb
