#include "cuda/attention_graph.h"

#include <utility>

namespace hb::cuda {
namespace {

GraphSizes strides_of(const HeadsRef& r, int64_t batch, int64_t heads, int64_t rows, int64_t width) {
  const int64_t row = rows > 1 ? r.row : width;
  const int64_t head = heads > 1 ? r.head : rows * row;
  return {batch > 1 ? r.batch : heads * head, head, row, 1};
}
/// Of the matrices of a stack.
GraphSizes transposed(GraphSizes s) {
  std::swap(s[2], s[3]);
  return s;
}

/// Parts that both graphs have.
struct Builder {
  const AttentionShape& s;
  OperationGraph graph = {};
  const GraphSizes query_sizes{s.batch, s.heads, s.queries, s.width}, key_sizes{s.batch, s.kv_heads, s.keys, s.width};
  const GraphSizes value_sizes{s.batch, s.kv_heads, s.keys, s.value_width};
  const GraphSizes out_sizes{s.batch, s.heads, s.queries, s.value_width};
  const GraphSizes score_sizes{s.batch, s.heads, s.queries, s.keys}, row_sizes{s.batch, s.heads, s.queries, 1};

  GraphValue memory(int64_t name, const GraphSizes& sizes, const GraphSizes& strides) {
    return graph.memory(name, s.type, sizes, strides);
  }
  GraphValue keys_transposed() { return memory(kKey, transposed(key_sizes), transposed(s.k)); }
  /// (B, H, queries) in float.
  GraphValue rows(int64_t name) {
    return graph.memory(name, CUDNN_DATA_FLOAT, row_sizes, {s.heads * s.queries, s.queries, 1, 1});
  }
  GraphValue scores(const GraphValue& q, const GraphValue& k_transposed, const GraphValue& scale) {
    const GraphValue products = graph.multiply(q, k_transposed, graph.between(score_sizes));
    return graph.binary(CUDNN_POINTWISE_MUL, products, scale);
  }
  /// Of a causal mask; a query sees the keys up to its own number.
  GraphValue hidden(const GraphValue& scores) {
    if (!s.causal) return scores;
    const GraphValue row = graph.index(scores, 2), column = graph.index(scores, 3);
    return graph.select(graph.compare(CUDNN_POINTWISE_CMP_GE, row, column), scores, graph.number(kHidden));
  }
  /// The gradient of keys or values: shares^T of_queries, summed over the heads that share them.
  void gradient_of_keys(const GraphValue& shares, const GraphValue& of_queries, const GraphValue& result) {
    const GraphSizes strides{s.heads * s.queries * s.keys, s.queries * s.keys, 1, s.keys};
    const GraphValue turned = graph.reshape(shares, graph.between(transposed(score_sizes), strides, s.type));
    if (s.heads == s.kv_heads) {
      graph.multiply(turned, of_queries, result);
      return;
    }
    const GraphSizes of_all{s.batch, s.heads, s.keys, of_queries.sizes[3]};
    graph.reduce(CUDNN_REDUCE_TENSOR_ADD, graph.multiply(turned, of_queries, graph.between(of_all, s.type)), result);
  }
};

}  // namespace

AttentionShape::AttentionShape(const Attention& a)
    : type(cudnn_type(a.dtype)),
      causal(a.causal),
      batch(a.batch),
      heads(a.heads),
      kv_heads(a.kv_heads),
      queries(a.queries),
      keys(a.keys),
      width(a.width),
      value_width(a.value_width),
      q(strides_of(a.q, batch, heads, queries, width)),
      k(strides_of(a.k, batch, kv_heads, keys, width)),
      v(strides_of(a.v, batch, kv_heads, keys, value_width)),
      out(strides_of(a.out, batch, heads, queries, value_width)),
      grad_out{},
      dq{},
      dk{},
      dv{} {}
AttentionShape::AttentionShape(const Attention& a, const AttentionGrad& g) : AttentionShape(a) {
  grad_out = strides_of(g.grad_out, batch, heads, queries, value_width);
  dq = strides_of(g.q, batch, heads, queries, width);
  dk = strides_of(g.k, batch, kv_heads, keys, width);
  dv = strides_of(g.v, batch, kv_heads, keys, value_width);
}

OperationGraph attention_graph(const AttentionShape& s) {
  Builder b{s};
  OperationGraph& g = b.graph;
  const GraphValue q = b.memory(kQuery, b.query_sizes, s.q), k = b.keys_transposed();
  const GraphValue v = b.memory(kValue, b.value_sizes, s.v), out = b.memory(kOut, b.out_sizes, s.out);
  const GraphValue scores = b.hidden(b.scores(q, k, g.number(kScale)));
  const GraphValue top = g.reduce(CUDNN_REDUCE_TENSOR_MAX, scores, g.between(b.row_sizes));
  const GraphValue powers = g.unary(CUDNN_POINTWISE_EXP, g.binary(CUDNN_POINTWISE_SUB, scores, top));
  const GraphValue sum = g.reduce(CUDNN_REDUCE_TENSOR_ADD, powers, g.between(b.row_sizes));
  // Without the logarithms, cuDNN does not recognise the graph.
  g.binary(CUDNN_POINTWISE_ADD, top, g.unary(CUDNN_POINTWISE_LOG, sum), b.rows(kNormalizer));
  const GraphValue shares = g.binary(CUDNN_POINTWISE_DIV, powers, sum, g.between(b.score_sizes, s.type));
  g.multiply(shares, v, out);
  return std::move(b.graph);
}

OperationGraph attention_gradient_graph(const AttentionShape& s, bool deterministic) {
  Builder b{s};
  OperationGraph& g = b.graph;
  const GraphValue q = b.memory(kQuery, b.query_sizes, s.q), k = b.keys_transposed();
  const GraphValue v = b.memory(kValue, transposed(b.value_sizes), transposed(s.v));
  const GraphValue out = b.memory(kOut, b.out_sizes, s.out), grad_out = b.memory(kGradOut, b.out_sizes, s.grad_out);
  const GraphValue dq = b.memory(kQueryGrad, b.query_sizes, s.dq), dk = b.memory(kKeyGrad, b.key_sizes, s.dk);
  const GraphValue dv = b.memory(kValueGrad, b.value_sizes, s.dv), scale = g.number(kScale);

  // The factor 1 stands where dropout would have its own.
  const GraphValue both = g.binary(CUDNN_POINTWISE_MUL, grad_out, out);
  const GraphValue sums = g.reduce(CUDNN_REDUCE_TENSOR_ADD, both, g.between(b.row_sizes));
  const GraphValue products = g.binary(CUDNN_POINTWISE_MUL, sums, g.number(kOne), b.rows(kProducts));

  const GraphValue below = g.binary(CUDNN_POINTWISE_SUB, b.scores(q, k, scale), b.rows(kNormalizer));
  const GraphValue shares = g.unary(CUDNN_POINTWISE_EXP, b.hidden(below));
  b.gradient_of_keys(shares, grad_out, dv);

  const GraphValue of_shares = g.multiply(grad_out, v, g.between(b.score_sizes));
  const GraphValue apart = g.binary(CUDNN_POINTWISE_SUB, of_shares, products);
  const GraphValue slopes = g.binary(CUDNN_POINTWISE_MUL, g.binary(CUDNN_POINTWISE_MUL, apart, shares), scale);
  b.gradient_of_keys(slopes, q, dk);

  const GraphValue rows_of_keys = g.reshape(k, g.between(b.key_sizes, s.k, s.type));
  if (deterministic) {
    g.multiply(slopes, rows_of_keys, dq);
  } else {
    const GraphSizes strides{s.heads * s.queries * s.width, s.queries * s.width, s.width, 1};
    const GraphValue parts = g.memory(kQuerySums, CUDNN_DATA_FLOAT, b.query_sizes, strides);
    g.copy(g.multiply(slopes, rows_of_keys, parts), dq);
  }
  return std::move(b.graph);
}

}  // namespace hb::cuda
