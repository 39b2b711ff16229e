#pragma once
// Recurrent networks as one call, where a device has it: all layers, directions and steps. Where it has none, a network
// is composed of functions (bridge/src/nn/modules/recurrence.cpp).

#include <atomic>
#include <vector>

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

enum class RnnMode { tanh, relu, lstm, gru };

struct RnnNetwork {
  ScalarType dtype = kFloat;  // of everything
  RnnMode mode = RnnMode::tanh;
  bool bidirectional = false, biased = true, batch_first = false;
  bool trained = false;  // the forward pass leaves what the backward pass needs
  int64_t features = 0, hidden = 0, layers = 1;
  int64_t out = 0;  // of h: `hidden`, or what an LSTM projects it to
  int64_t directions() const { return bidirectional ? 2 : 1; }
};
HB_NO_OPERANDS(RnnNetwork)

/// Bytes of the buffers, and where the parameters lie in that of the weights, in the order of torch::nn's networks: for
/// each layer, for each direction, w_ih, w_hh, b_ih and b_hh if it is biased, w_hr if it projects. A parameter is one
/// or more runs of its elements, in their order.
struct RnnPlan {
  struct Run {
    int64_t parameter, first, count;  // elements first, … first + count - 1 of the parameter
    int64_t place;                    // bytes from the buffer's start
  };
  int64_t weights = 0, reserve = 0;
  std::vector<Run> runs;
};
/// batch_sizes: how many sequences step t has, as many as the next or more. False where the device has no such network;
/// null where no device has any.
using RnnQuery = bool (*)(const Device& device, const RnnNetwork& net, ArrayRef<int64_t> batch_sizes, RnnPlan& plan);
HB_API inline std::atomic<RnnQuery> plan_rnn{nullptr};

/// x (rows, features) and y (rows, directions * out), step after step; with batch_first sequence after sequence, all of
/// them of one length. h, last_h (layers * directions, B, out), c, last_c (…, hidden) of an LSTM. The latter may be
/// null.
struct RnnForward {
  RnnNetwork net;
  const void *x, *h, *c, *weights;
  void *y, *last_h, *last_c, *reserve;
};
inline void operands(capture::Operands& v, RnnForward& s) {
  v.reads(s.x), v.reads(s.h), v.reads(s.c), v.reads(s.weights);
  v.writes(s.y), v.writes(s.last_h), v.writes(s.last_c), v.writes(s.reserve);
}
HB_API inline Kernel<void(const RnnForward& s, ArrayRef<int64_t> batch_sizes)> rnn_forward_kernel{"rnn"};

/// Gradients; grad_last_h and grad_last_c may be null, and so may all results but grad_x. What `reserve` holds is
/// spent. grad_weights is laid out as the weights, and is added to.
struct RnnBackward {
  RnnNetwork net;
  const void *x, *h, *c, *y, *weights, *grad_y, *grad_last_h, *grad_last_c;
  void *grad_x, *grad_h, *grad_c, *grad_weights, *reserve;
};
inline void operands(capture::Operands& v, RnnBackward& s) {
  v.reads(s.x), v.reads(s.h), v.reads(s.c), v.reads(s.y), v.reads(s.weights);
  v.reads(s.grad_y), v.reads(s.grad_last_h), v.reads(s.grad_last_c);
  v.writes(s.grad_x), v.writes(s.grad_h), v.writes(s.grad_c), v.changes(s.grad_weights), v.changes(s.reserve);
}
HB_API inline Kernel<void(const RnnBackward& s, ArrayRef<int64_t> batch_sizes)> rnn_backward_kernel{"rnn_backward"};

}  // namespace hb
