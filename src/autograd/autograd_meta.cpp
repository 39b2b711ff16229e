// What a tensor's record (TensorImpl) asks of autograd.
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include <halfbridge/autograd.h>

#include "core/autograd_seam.h"

namespace hb {

// Threads that share a tensor may all be the first to keep something with it; who has it already takes no lock.
AutogradMeta& TensorImpl::materialize_autograd_meta() {
  static_assert(sizeof(autograd_) == sizeof(AutogradMeta*));
  const std::atomic_ref<AutogradMeta*> published(reinterpret_cast<AutogradMeta*&>(autograd_));
  if (AutogradMeta* const made = published.load(std::memory_order_acquire)) return *made;
  static std::array<std::mutex, 64> mutexes;
  const std::lock_guard lock(mutexes[reinterpret_cast<uintptr_t>(this) / sizeof(TensorImpl) % mutexes.size()]);
  if (!published.load(std::memory_order_relaxed)) published.store(new AutogradMeta, std::memory_order_release);
  return *published.load(std::memory_order_relaxed);
}

namespace {
[[maybe_unused]] const bool filled_in =
    (detail::autograd_seam = {[](const Tensor& t) { t.requires_grad_(true); }, [](AutogradMeta* meta) { delete meta; }},
     true);
}  // namespace

}  // namespace hb
