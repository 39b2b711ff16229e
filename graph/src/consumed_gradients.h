#pragma once
// Weights' gradients that are the product of two vectors, as at batch 1, and that an optimizer's rule alone reads: the
// rule computes each element when it needs it, and the gradient takes no memory's time.

#include <functional>
#include <memory>
#include <vector>

#include "backend/gemm.h"
#include "backend/optim.h"
#include "core/pending.h"
#include "recording.h"

namespace hb::graph {

using Product = capture::CallOf<const Gemm&>;

/// A gradient that replays leave out, and which is computed if the program asks for it.
struct LateGradient {
  int memory;
  const UpdateCall* update;  // has the addresses of what it is made of
  Product::Function fn;
  Gemm gemm;
  /// Operands that may be others by then, and are copied when the replay ends.
  bool copies_left, copies_right;

  /// What writes the memory of `gradient`. It holds `arena`, where operands lie.
  std::shared_ptr<pending::Work> work(const Tensor& gradient, intrusive_ptr<StorageImpl> arena) const;
};

struct Consumed {
  std::vector<LateGradient> late;
  std::vector<int> kept;  // memories that have to stay as they are until the next replay
};
/// `may_be_late`: whether a gradient, by its memory, may be left out until the program asks for it.
Consumed consume_gradients(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories,
                           const std::function<bool(int memory)>& may_be_late);

}  // namespace hb::graph
