#pragma once
// Recurrent networks by plain loops, sequence after sequence: cuDNN's formulas, order of gates and of weights.

#include <halfbridge/dtype.h>

#include <cstdint>
#include <vector>

#include "software_cuda/cudnn_rnn.h"

namespace software_cuda {

struct RnnShape {
  hb::ScalarType dtype = hb::kFloat;
  cudnnRNNMode_t mode = CUDNN_LSTM;
  bool biased = true;
  int64_t directions = 1, layers = 1, features = 0, hidden = 0, out = 0;

  int64_t gates() const { return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1; }
  int64_t width_of(int64_t pseudo_layer) const { return pseudo_layer < directions ? features : directions * out; }
  bool projected() const { return out != hidden; }
  int64_t element() const { return static_cast<int64_t>(hb::element_size(dtype)); }
  /// Elements of matrix `id`; 0 where there is none.
  int64_t matrix(int64_t pseudo_layer, int64_t id) const;
  /// Where, in elements, matrix and bias `id` lie. All matrices of a layer come first, those of the input and of the
  /// hidden state apart from each other.
  int64_t matrix_at(int64_t pseudo_layer, int64_t id) const;
  int64_t bias_at(int64_t pseudo_layer, int64_t id) const;
  int64_t weights() const;
};
struct RnnData {
  std::vector<int> lengths;
  int64_t steps = 0;
  bool batch_major = false;
  int64_t rows() const;
  /// Of each sequence: the row of each of its steps.
  std::vector<std::vector<int64_t>> sequences() const;
};

int64_t reserve_bytes(const RnnShape& net, const RnnData& data);
/// reserve: null where nothing is to be kept.
void run_forward(const RnnShape& net, const RnnData& data, const void* x, void* y, const void* hx, void* hy,
                 const void* cx, void* cy, const void* weights, void* reserve);
/// False where the reserve is not what the forward pass left.
bool run_backward_data(const RnnShape& net, const RnnData& data, const void* dy, void* dx, const void* dhy, void* dhx,
                       const void* dcy, void* dcx, const void* weights, void* reserve);
/// False where the reserve is not what the pass above left.
bool run_backward_weights(const RnnShape& net, const RnnData& data, void* dweights, void* reserve);

}  // namespace software_cuda
