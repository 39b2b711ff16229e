// Attention without a matrix of all scores. A warp has one query, or one key: its lanes take 32 scores at a time, and
// then share the columns of what is summed. Half types go by cuDNN where that pays (attention_cudnn.h), else they and
// float by tiles where these can (attention_tiles.h), what is left of float and double by products of matrices unless
// they are small (attention_products.h).
#include "backend/attention.h"

#include "cuda/attention_cudnn.h"
#include "cuda/attention_products.h"
#include "cuda/attention_tiles.h"
#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

constexpr int kTeams = 4;  // warps of a block

/// The place of head h of batch b.
template <class T>
__device__ T* rows_of(const HeadsRef& r, int64_t b, int64_t h) {
  return static_cast<T*>(r.data) + b * r.batch + h * r.head;
}

template <class T>
__device__ compute_t<T> dot(const T* a, const compute_t<T>* b, int64_t n) {
  using C = compute_t<T>;
  C sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += widen<C>(a[i]) * b[i];
  return sum;
}

/// What a warp's row is compared with, widened, in shared memory.
template <class T>
__device__ void load_row(compute_t<T>* to, const T* from, int64_t n) {
  for (int64_t i = threadIdx.x; i < n; i += kWarp) to[i] = widen<compute_t<T>>(from[i]);
}

/// scale q k + mask, of one query and one key; -infinity where the key is not seen.
template <class T>
__device__ compute_t<T> with_mask(const Attention& a, compute_t<T> product, int64_t b, int64_t h, int64_t query,
                                  int64_t key) {
  using C = compute_t<T>;
  if (key >= a.keys || query >= a.queries || (a.causal && key > query)) return -C(INFINITY);
  const C score = product * static_cast<C>(a.scale);
  if (!a.mask) return score;
  const int64_t* s = a.mask_stride;
  return score + widen<C>(static_cast<const T*>(a.mask)[b * s[0] + h * s[1] + query * s[2] + key * s[3]]);
}

/// Where a warp is: its row among those of all heads.
struct Place {
  int64_t row, head, batch;
  bool there;
  __device__ Place(int64_t rows, int64_t heads, int64_t batches) {
    const int64_t at = team_row();
    there = at < rows * heads * batches;
    row = at % rows, head = at / rows % heads, batch = at / rows / heads;
  }
};

// kPer: columns of a lane.
template <class T, int kPer>
__global__ void attention_rows(Attention a) {
  using C = compute_t<T>;
  HB_SHARED(C, queries, (kTeams * kPer * kWarp));
  const Place at(a.queries, a.heads, a.batch);
  if (!at.there) return;
  const int64_t kv_head = at.head / (a.heads / a.kv_heads);
  C* const q = queries + threadIdx.y * kPer * kWarp;
  load_row(q, rows_of<const T>(a.q, at.batch, at.head) + at.row * a.q.row, a.width);
  __syncwarp();
  const T* const k = rows_of<const T>(a.k, at.batch, kv_head);
  const T* const v = rows_of<const T>(a.v, at.batch, kv_head);
  C sums[kPer] = {}, top = -C(INFINITY), total = 0;
  const int64_t seen = a.causal && at.row + 1 < a.keys ? at.row + 1 : a.keys;
  for (int64_t first = 0; first < seen; first += kWarp) {
    const int64_t key = first + threadIdx.x;
    const C product = key < seen ? dot(k + key * a.k.row, q, a.width) : C(0);
    const C score = with_mask<T>(a, product, at.batch, at.head, at.row, key);
    C highest = score;
    for (int lanes = kWarp / 2; lanes; lanes /= 2) {
      const C other = __shfl_xor_sync(kFullWarp, highest, lanes);
      highest = other > highest || other != other ? other : highest;
    }
    if (top > highest) highest = top;
    const bool nothing = highest == -C(INFINITY);  // all of them are hidden so far
    const C shrink = nothing ? C(1) : std::exp(top - highest), share = nothing ? C(0) : std::exp(score - highest);
    top = highest;
    total = total * shrink + share;
    for (int i = 0; i < kPer; ++i) sums[i] *= shrink;
    const int64_t count = seen - first < kWarp ? seen - first : kWarp;
    for (int j = 0; j < count; ++j) {
      const C p = __shfl_sync(kFullWarp, share, j);
      const T* const row = v + (first + j) * a.v.row;
      for (int i = 0; i < kPer; ++i) {
        const int64_t c = int64_t{i} * kWarp + threadIdx.x;
        if (c < a.value_width) sums[i] += p * widen<C>(row[c]);
      }
    }
  }
  for (int lanes = kWarp / 2; lanes; lanes /= 2) total += __shfl_xor_sync(kFullWarp, total, lanes);
  const bool hidden = top == -C(INFINITY);
  T* const out = rows_of<T>(a.out, at.batch, at.head) + at.row * a.out.row;
  for (int i = 0; i < kPer; ++i) {
    const int64_t c = int64_t{i} * kWarp + threadIdx.x;
    if (c < a.value_width) out[c] = T(hidden ? C(0) : sums[i] / total);
  }
  // Infinity: every share of a row that sees nothing is exp(-infinity).
  if (a.normalizer && threadIdx.x == 0)
    static_cast<C*>(a.normalizer)[(at.batch * a.heads + at.head) * a.queries + at.row] =
        hidden ? C(INFINITY) : top + std::log(total);
}

// The gradient of a query, and the sum of grad_out * out for the keys' gradients.
template <class T, int kPer>
__global__ void query_gradient(Attention a, AttentionGrad g, compute_t<T>* products) {
  using C = compute_t<T>;
  HB_SHARED(C, queries, (kTeams * kPer * kWarp));
  HB_SHARED(C, grads, (kTeams * kPer * kWarp));
  const Place at(a.queries, a.heads, a.batch);
  if (!at.there) return;
  const int64_t kv_head = at.head / (a.heads / a.kv_heads), row = (at.batch * a.heads + at.head) * a.queries + at.row;
  C *const q = queries + threadIdx.y * kPer * kWarp, *const grad = grads + threadIdx.y * kPer * kWarp;
  load_row(q, rows_of<const T>(a.q, at.batch, at.head) + at.row * a.q.row, a.width);
  load_row(grad, rows_of<const T>(g.grad_out, at.batch, at.head) + at.row * g.grad_out.row, a.value_width);
  __syncwarp();
  const T* const out = rows_of<const T>(a.out, at.batch, at.head) + at.row * a.out.row;
  C product = 0;
  for (int64_t c = threadIdx.x; c < a.value_width; c += kWarp) product += grad[c] * widen<C>(out[c]);
  for (int lanes = kWarp / 2; lanes; lanes /= 2) product += __shfl_xor_sync(kFullWarp, product, lanes);
  if (threadIdx.x == 0) products[row] = product;

  const T* const k = rows_of<const T>(a.k, at.batch, kv_head);
  const T* const v = rows_of<const T>(a.v, at.batch, kv_head);
  const C kept = static_cast<const C*>(a.normalizer)[row];
  C sums[kPer] = {};
  const int64_t seen = a.causal && at.row + 1 < a.keys ? at.row + 1 : a.keys;
  for (int64_t first = 0; first < seen; first += kWarp) {
    const int64_t key = first + threadIdx.x;
    C slope = 0;
    if (key < seen) {
      const C score = with_mask<T>(a, dot(k + key * a.k.row, q, a.width), at.batch, at.head, at.row, key);
      const C share = std::exp(score - kept);
      slope = share * (dot(v + key * a.v.row, grad, a.value_width) - product) * static_cast<C>(a.scale);
    }
    const int64_t count = seen - first < kWarp ? seen - first : kWarp;
    for (int j = 0; j < count; ++j) {
      const C s = __shfl_sync(kFullWarp, slope, j);
      const T* const of_key = k + (first + j) * a.k.row;
      for (int i = 0; i < kPer; ++i) {
        const int64_t c = int64_t{i} * kWarp + threadIdx.x;
        if (c < a.width) sums[i] += s * widen<C>(of_key[c]);
      }
    }
  }
  T* const to = rows_of<T>(g.q, at.batch, at.head) + at.row * g.q.row;
  for (int i = 0; i < kPer; ++i) {
    const int64_t c = int64_t{i} * kWarp + threadIdx.x;
    if (c < a.width) to[c] = T(sums[i]);
  }
}

// The gradients of a key and its value, of all heads that share them.
template <class T, int kPer>
__global__ void key_gradient(Attention a, AttentionGrad g, const compute_t<T>* products) {
  using C = compute_t<T>;
  HB_SHARED(C, keys, (kTeams * kPer * kWarp));
  HB_SHARED(C, values, (kTeams * kPer * kWarp));
  const Place at(a.keys, a.kv_heads, a.batch);
  if (!at.there) return;
  C *const k = keys + threadIdx.y * kPer * kWarp, *const v = values + threadIdx.y * kPer * kWarp;
  load_row(k, rows_of<const T>(a.k, at.batch, at.head) + at.row * a.k.row, a.width);
  load_row(v, rows_of<const T>(a.v, at.batch, at.head) + at.row * a.v.row, a.value_width);
  __syncwarp();
  C of_key[kPer] = {}, of_value[kPer] = {};
  const int64_t group = a.heads / a.kv_heads;
  for (int64_t h = at.head * group; h < (at.head + 1) * group; ++h) {
    const T* const q = rows_of<const T>(a.q, at.batch, h);
    const T* const grad = rows_of<const T>(g.grad_out, at.batch, h);
    const int64_t of_head = (at.batch * a.heads + h) * a.queries;
    for (int64_t first = a.causal ? at.row / kWarp * kWarp : 0; first < a.queries; first += kWarp) {
      const int64_t query = first + threadIdx.x;
      C share = 0, slope = 0;
      if (query < a.queries) {
        const C score = with_mask<T>(a, dot(q + query * a.q.row, k, a.width), at.batch, h, query, at.row);
        share = std::exp(score - static_cast<const C*>(a.normalizer)[of_head + query]);
        slope = share * (dot(grad + query * g.grad_out.row, v, a.value_width) - products[of_head + query]) *
                static_cast<C>(a.scale);
      }
      const int64_t count = a.queries - first < kWarp ? a.queries - first : kWarp;
      for (int j = 0; j < count; ++j) {
        const C p = __shfl_sync(kFullWarp, share, j), s = __shfl_sync(kFullWarp, slope, j);
        const T* const query_row = q + (first + j) * a.q.row;
        const T* const grad_row = grad + (first + j) * g.grad_out.row;
        for (int i = 0; i < kPer; ++i) {
          const int64_t c = int64_t{i} * kWarp + threadIdx.x;
          if (c < a.width) of_key[i] += s * widen<C>(query_row[c]);
          if (c < a.value_width) of_value[i] += p * widen<C>(grad_row[c]);
        }
      }
    }
  }
  T* const to_key = rows_of<T>(g.k, at.batch, at.head) + at.row * g.k.row;
  T* const to_value = rows_of<T>(g.v, at.batch, at.head) + at.row * g.v.row;
  for (int i = 0; i < kPer; ++i) {
    const int64_t c = int64_t{i} * kWarp + threadIdx.x;
    if (c < a.width) to_key[c] = T(of_key[i]);
    if (c < a.value_width) to_value[c] = T(of_value[i]);
  }
}

template <int kValue>
using Per = std::integral_constant<int, kValue>;

// Calls fn(T(), Per) for the dtype and the columns that a lane has to keep.
template <class F>
void with_width(const char* name, const Attention& a, const F& fn) {
  const int64_t width = a.width > a.value_width ? a.width : a.value_width;
  HB_CHECK(width <= 256, "[", name, "] expected heads of at most 256 elements on CUDA, got ", width);
  HB_FLOATING_SWITCH(name, a.dtype, [&](auto type) {
    if (width <= 64)
      fn(type, Per<2>());
    else if (width <= 128)
      fn(type, Per<4>());
    else
      fn(type, Per<8>());
  });
}
dim3 blocks_of(int64_t rows) { return dim3(static_cast<unsigned>((rows + kTeams - 1) / kTeams)); }

void attention(const Attention& a) {
  const int64_t rows = a.batch * a.heads * a.queries;
  if (rows == 0 || attention_by_cudnn(a) || attention_by_tiles(a) || attention_by_products(a)) return;
  with_width("scaled_dot_product_attention", a, [&](auto type, auto per) {
    using T = decltype(type);
    HB_LAUNCH((attention_rows<T, decltype(per)::value>), blocks_of(rows), dim3(kWarp, kTeams), 0, current_stream(), a);
  });
}
void attention_backward(const Attention& a, const AttentionGrad& g) {
  if (attention_backward_by_cudnn(a, g) || attention_backward_by_tiles(a, g) || attention_backward_by_products(a, g))
    return;
  const int64_t rows = a.batch * a.heads * a.queries, keys = a.batch * a.kv_heads * a.keys;
  with_width("scaled_dot_product_attention_backward", a, [&](auto type, auto per) {
    using T = decltype(type);
    constexpr int kPer = decltype(per)::value;
    const Scratch<compute_t<T>> products(rows);
    if (rows > 0)
      HB_LAUNCH((query_gradient<T, kPer>), blocks_of(rows), dim3(kWarp, kTeams), 0, current_stream(), a, g,
                products.get());
    if (keys > 0)
      HB_LAUNCH((key_gradient<T, kPer>), blocks_of(keys), dim3(kWarp, kTeams), 0, current_stream(), a, g,
                products.get());
  });
}
HB_REGISTER_CUDA(attention_kernel, attention);
HB_REGISTER_CUDA(attention_backward_kernel, attention_backward);

}  // namespace
}  // namespace hb::cuda
