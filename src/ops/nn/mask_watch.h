#pragma once
// How a trace sees the masks of dropout, and gives them those of another run. As a rule nobody looks.

#include <atomic>

#include <halfbridge/tensor.h>

namespace hb {

class MaskWatcher {
 public:
  virtual ~MaskWatcher() = default;
  /// A mask was drawn: `kept` where an element is kept, else 0. May change it.
  virtual void drawn(Tensor& mask, double kept) = 0;
};

inline std::atomic<MaskWatcher*> mask_watcher_slot{nullptr};

}  // namespace hb
