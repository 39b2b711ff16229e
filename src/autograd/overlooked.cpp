#include "autograd/overlooked.h"

#include <atomic>

#include <halfbridge/autograd.h>

namespace hb {
namespace {

/// Null where nothing was overlooked.
AutogradMeta* counting_meta(const TensorImpl& t) {
  AutogradMeta* const meta = t.autograd_meta();
  return meta && meta->base.defined() ? meta->base.impl().autograd_meta() : meta;
}

}  // namespace

uint32_t seen_version(const TensorImpl& t) {
  AutogradMeta* const meta = counting_meta(t);
  if (!meta) return t.version();
  return t.version() - std::atomic_ref(meta->overlooked_writes).load(std::memory_order_relaxed);
}

OverlookedWrites::~OverlookedWrites() {
  if (!tensor_.defined()) return;
  if (AutogradMeta* const meta = counting_meta(tensor_.impl()))
    std::atomic_ref(meta->overlooked_writes).fetch_add(tensor_.impl().version() - version_, std::memory_order_relaxed);
}

}  // namespace hb
