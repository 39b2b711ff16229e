#pragma once
// How a trace sees the masks of dropout, and gives them those of another run (the contract: core/watchers.h).

#include <halfbridge/tensor.h>

#include "core/watchers.h"

namespace hb {

class MaskWatcher {
 public:
  virtual ~MaskWatcher() = default;
  /// A mask was drawn: `kept` where an element is kept, else 0. May change it.
  virtual void drawn(Tensor& mask, double kept) = 0;
};

}  // namespace hb
