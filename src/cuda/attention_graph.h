#pragma once
// Attention and its gradients as graphs that cuDNN recognises.

#include "backend/attention.h"
#include "cuda/cudnn_graph.h"

namespace hb::cuda {

/// What decides how cuDNN computes attention. Strides are those of sizes that are 1, too, so that equal layouts are
/// equal keys.
struct AttentionShape {
  cudnnDataType_t type;
  bool causal;
  int64_t batch, heads, kv_heads, queries, keys, width, value_width;
  GraphSizes q, k, v, out;          // strides of (B, H, rows, width)
  GraphSizes grad_out, dq, dk, dv;  // of the gradients
  explicit AttentionShape(const Attention& a);
  AttentionShape(const Attention& a, const AttentionGrad& g);
};

/// Names of a graph's tensors.
enum AttentionName : int64_t {
  kQuery = 1,
  kKey,
  kValue,
  kOut,
  kNormalizer,
  kScale,   // float
  kHidden,  // float: the score of a key that a query does not see
  kOne,     // float
  kGradOut,
  kQueryGrad,
  kKeyGrad,
  kValueGrad,
  kProducts,  // (B, H, queries) in float: sums of grad_out * out
  kQuerySums  // (B, H, queries, width) in float, where not deterministic
};

/// The result, and the logarithm of the sum of each row.
OperationGraph attention_graph(const AttentionShape& s);
/// Gradients. Those of queries are sums of parts: added by atomics, in an order that is not fixed, or, where they are
/// to be `deterministic`, computed from a matrix of all scores' gradients in cuDNN's workspace.
OperationGraph attention_gradient_graph(const AttentionShape& s, bool deterministic);

}  // namespace hb::cuda
