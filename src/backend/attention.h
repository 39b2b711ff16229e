#pragma once

#include <halfbridge/dtype.h>

#include "backend/kernel.h"

namespace hb {

/// (B, H, rows, width) with rows dense in memory; strides in elements.
struct HeadsRef {
  void* data = nullptr;
  int64_t batch = 0, head = 0, row = 0;
};
/// softmax(scale q k^T + mask) v without a matrix of all scores. Heads h of q belong to head h / (heads / kv_heads) of
/// k, v.
struct Attention {
  ScalarType dtype = kFloat;
  int64_t batch = 0, heads = 0, kv_heads = 0;
  int64_t queries = 0, keys = 0, width = 0, value_width = 0;
  double scale = 1;
  bool causal = false;
  HeadsRef q, k, v, out;
  const void* mask = nullptr;  // added to the scores, in dtype; strides over (B, H, query, key)
  int64_t mask_stride[4] = {0, 0, 0, 0};
  void* normalizer = nullptr;  // (B, H, queries): logarithm of each row's sum, float (double for double)
};
inline void operands(capture::Operands& v, Attention& a) {
  v.reads(a.q.data), v.reads(a.k.data), v.reads(a.v.data), v.reads(a.mask);
  v.changes(a.out.data), v.changes(a.normalizer);
}
HB_API inline Kernel<void(const Attention& a)> attention_kernel{"scaled_dot_product_attention"};
struct AttentionGrad {
  HeadsRef grad_out, q, k, v;  // the last three are written
};
inline void operands(capture::Operands& v, AttentionGrad& g) {
  v.reads(g.grad_out.data);
  v.changes(g.q.data), v.changes(g.k.data), v.changes(g.v.data);
}
HB_API inline Kernel<void(const Attention& a, const AttentionGrad& g)> attention_backward_kernel{
    "scaled_dot_product_attention_backward"};

HB_API inline Kernel<void(ScalarType dtype, void* out, const void* weight, const int64_t* index, int64_t n,
                          int64_t rows, int64_t width)>
    embedding_kernel{"embedding"};
/// grad_weight (rows, width), zeroed here; rows `padding` get none.
HB_API inline Kernel<void(ScalarType dtype, void* grad_weight, const void* grad, const int64_t* index, int64_t n,
                          int64_t rows, int64_t width, int64_t padding, bool scale_by_frequency)>
    embedding_backward_kernel{"embedding_backward"};

}  // namespace hb
