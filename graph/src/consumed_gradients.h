#pragma once
// Weights' gradients that an optimizer's rule alone reads and can make itself, so that they take no memory's time: the
// product of two vectors, as at batch 1, a half gradient in float32, as under autocast, and one that is clipped.

#include <functional>
#include <memory>
#include <vector>

#include "backend/gemm.h"
#include "backend/optim.h"
#include "core/pending.h"
#include "recording.h"

namespace hb::graph {

using Product = capture::CallOf<const Gemm&>;

class LateCall;

/// A gradient that replays leave out, and which is computed if the program asks for it.
struct LateGradient {
  int memory;
  /// What writes the memory of `gradient`. It holds `arena`, where operands lie.
  std::function<std::shared_ptr<pending::Work>(const Tensor& gradient, intrusive_ptr<StorageImpl> arena)> work;
  /// Not null: the gradient is there, and this call would change it.
  const LateCall* changes = nullptr;
};

/// A product of two vectors.
struct LateProduct {
  const UpdateCall* update;  // has the addresses of what it is made of
  Product::Function fn;
  Gemm gemm;
  /// Operands that may be others by then, and are copied when the replay ends.
  bool copies_left, copies_right;
};
LateGradient late(int memory, const LateProduct& product);

/// A call that stands where it would be made, so that its addresses are kept up to date. What it reads stays as it is
/// until the next replay, and what it writes is there from the end of the replay on.
class LateCall final : public capture::Call {
 public:
  explicit LateCall(std::unique_ptr<capture::Call> call) : Call("later"), call_(std::move(call)) {}
  void run() override {}
  void show(capture::Operands& v) override { call_->show(v); }
  void run_now() { call_->run(); }

 private:
  const std::unique_ptr<capture::Call> call_;
};
LateGradient late(int memory, LateCall& call);
inline bool is_late(const RecordedCall& c) { return dynamic_cast<const LateCall*>(c.call.get()) != nullptr; }

struct Consumed {
  std::vector<LateGradient> late;
  std::vector<int> kept;  // memories that have to stay as they are until the next replay
};
/// Whether a gradient, by its memory, may be left out until the program asks for it.
using MayBeLate = std::function<bool(int memory)>;
Consumed consume_gradients(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories,
                           const MayBeLate& may_be_late);
/// Lets rules multiply clipped gradients by their factor. Those that may be late are left to calls of class LateCall.
std::vector<LateGradient> clip_in_rules(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories,
                                        const MayBeLate& may_be_late);
/// Lets rules read half gradients. Those in float32 that may be late are left to calls of class LateCall.
std::vector<LateGradient> read_half_gradients(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories,
                                              const MayBeLate& may_be_late);

}  // namespace hb::graph
