#include "backend/loss.h"

#include "cuda/kernel_file.h"
#include "cuda/last_block.h"
#include "cuda/row_pieces.h"

namespace hb::cuda {
namespace {

enum { kNone = 0, kMean = 1 };

/// What one target costs, and its weight.
struct Cost {
  double loss, weight;
};

/// ClassLoss without what kernels do not need.
struct Classes {
  int64_t outer, classes, inner;
  const int64_t* target;
  const void* weight;
  int64_t ignore_index;
  double smoothing;
  const double* total;
  bool mean, per_target;
  Reporter report;
  Classes(const ClassLoss& l, const char* name)
      : outer(l.outer),
        classes(l.classes),
        inner(l.inner),
        target(l.target),
        weight(l.weight),
        ignore_index(l.ignore_index),
        smoothing(l.smoothing),
        total(l.total),
        mean(l.reduction == kMean),
        per_target(l.reduction == kNone),
        report(reporter(name, "Target {value} is out of bounds. Expected targets in [0, {limit})")) {}
  // Whether target i counts.
  __device__ bool counts(int64_t i) const {
    return target[i] != ignore_index && index_is_good(target[i], classes, report);
  }
  template <class T>
  __device__ double weight_of(int64_t c) const {
    return weight ? static_cast<double>(widen<compute_t<T>>(static_cast<const T*>(weight)[c])) : 1.0;
  }
};

template <class L>
__device__ void put_cost(const Classes& l, int64_t i, const Cost& cost, L* out, Cost* costs) {
  if (l.per_target)
    out[i] = L(static_cast<compute_t<L>>(cost.loss));
  else
    costs[i] = cost;
}

/// What becomes of the costs where there is a reduction: the last block of the launch sums them.
template <class L>
struct Total {
  L* out;
  double* weights;
  Cost* costs;  // null: each loss was a result of its own
  int64_t n;
  bool mean;
  int* counter;
};

// By all threads of a block; in an order that does not depend on the launch.
template <class L>
__device__ void sum_costs(const Total<L>& total) {
  if (!total.costs || !is_last_block(total.counter, static_cast<int>(gridDim.x))) return;
  const unsigned threads = blockDim.x * blockDim.y, self = threadIdx.y * blockDim.x + threadIdx.x;
  double loss = 0, weight = 0;
  for (int64_t i = self; i < total.n; i += threads) {
    loss += written_by_others(&total.costs[i].loss);
    weight += written_by_others(&total.costs[i].weight);
  }
  HB_SHARED(Cost, of_threads, kThreads);
  of_threads[self] = {loss, weight};
  __syncthreads();
  for (unsigned n = threads / 2; n; n /= 2) {
    if (self < n)
      of_threads[self].loss += of_threads[self + n].loss, of_threads[self].weight += of_threads[self + n].weight;
    __syncthreads();
  }
  if (self != 0) return;
  *total.weights = of_threads->weight;
  *total.out = L(static_cast<compute_t<L>>(total.mean ? of_threads->loss / of_threads->weight : of_threads->loss));
}

template <class T>
__global__ void nll_costs(Classes l, const T* x, T* out, Total<T> total) {
  HB_GRID_LOOP(i, l.outer * l.inner) {
    Cost cost{0, 0};
    if (l.counts(i)) {
      const int64_t c = l.target[i];
      const double w = l.weight_of<T>(c);
      const T v = x[(i / l.inner * l.classes + c) * l.inner + i % l.inner];
      cost = {-w * static_cast<double>(widen<compute_t<T>>(v)), w};
    }
    put_cost(l, i, cost, out, total.costs);
  }
  sum_costs(total);
}

// grad_x is 0 where no target points to.
template <class T>
__global__ void nll_gradient(Classes l, T* grad_x, const T* grad) {
  const double scale = l.mean ? 1 / *l.total : 1.0;
  HB_GRID_LOOP(i, l.outer * l.inner) {
    const int64_t c = l.target[i];
    if (c == l.ignore_index || c < 0 || c >= l.classes) continue;
    const double g =
        -static_cast<double>(widen<compute_t<T>>(grad[l.per_target ? i : 0])) * scale * l.weight_of<T>(c);
    grad_x[(i / l.inner * l.classes + c) * l.inner + i % l.inner] = T(static_cast<compute_t<T>>(g));
  }
}

/// What one pass over logits finds: the largest, the sum of exponentials of what they are below it (rescaled when it
/// grows), and the plain sum. A NaN is in both sums.
template <class T>
struct Exponentials {
  using C = compute_t<T>;
  C top = -C(INFINITY), sum = 0, all = 0;
  __device__ void raise(C highest) {
    if (highest > top) sum *= std::exp(top - highest), top = highest;
  }
  __device__ void add(C v) {
    all += v;
    sum += v == top ? C(top > -C(INFINITY)) : std::exp(v - top);
  }
  template <int kVectors>
  __device__ void take(const RowVector<T> (&v)[kVectors]) {
    C highest = top;
#pragma unroll
    for (int k = 0; k < kVectors * kRowEach<T>; ++k) {
      const C x = widened_anew(v[k / kRowEach<T>].x[k % kRowEach<T>]);
      highest = x > highest ? x : highest;
    }
    raise(highest);
#pragma unroll
    for (int k = 0; k < kVectors * kRowEach<T>; ++k) add(widened_anew(v[k / kRowEach<T>].x[k % kRowEach<T>]));
  }
  __device__ void take(T x) {
    const C v = widen<C>(x);
    raise(v);
    add(v);
  }
};

// A team for each row of logits, which it reads once.
template <class T, class L>
__device__ void cross_entropy_cost(const Classes& l, int64_t i, const T* logits, L* out, Cost* costs,
                                   compute_t<T>* normalizer) {
  using C = compute_t<T>;
  const int64_t n = l.classes;
  const T* row = logits + i * n;
  Exponentials<T> of;
  take_row<4>(
      row, n, true, [&](const auto& v, int64_t) { of.take(v); }, [&](int64_t j) { of.take(row[j]); });
  const C highest = team_max(of.top);
  const C sum = team_sum(of.top == highest || of.top == -C(INFINITY) ? of.sum : of.sum * std::exp(of.top - highest));
  const C shift = highest + std::log(sum), all = l.smoothing > 0 ? team_sum(of.all) : C(0);
  if (threadIdx.x != 0) return;
  normalizer[i] = shift;
  Cost cost{0, 0};
  if (l.counts(i)) {
    const int64_t c = l.target[i];
    const double w = l.weight_of<T>(c);
    double loss = w * static_cast<double>(shift - widen<C>(row[c]));
    if (l.smoothing > 0)
      loss = (1 - l.smoothing) * loss + l.smoothing * (static_cast<double>(shift) - static_cast<double>(all) / n);
    cost = {loss, w};
  }
  put_cost(l, i, cost, out, costs);
}
template <class T, class L>
__global__ void cross_entropy_costs(Classes l, const T* logits, L* out, Total<L> total, compute_t<T>* normalizer) {
  for (int64_t i = team_row(); i < l.outer; i += int64_t{gridDim.x} * blockDim.y)
    cross_entropy_cost(l, i, logits, out, total.costs, normalizer);
  sum_costs(total);
}

template <class T, class L>
__global__ void cross_entropy_gradient(Classes l, const T* logits, T* grad_x, const L* grad,
                                       const compute_t<T>* normalizer) {
  using C = compute_t<T>;
  const int64_t i = team_row(), n = l.classes;
  if (i >= l.outer) return;
  const int64_t c = l.target[i];
  const bool counts = c != l.ignore_index && c >= 0 && c < n;
  const double mean = l.mean ? 1 / *l.total : 1.0;
  const C g = counts ? static_cast<C>(static_cast<double>(widen<compute_t<L>>(grad[l.per_target ? i : 0])) * mean *
                                      l.weight_of<T>(c))
                     : C(0);
  const C shift = normalizer[i], spread = static_cast<C>(l.smoothing / static_cast<double>(n));
  const C share = static_cast<C>(1 - l.smoothing);
  const T* const row = logits + i * n;
  T* const grad_row = grad_x + i * n;
  const auto gradient = [&](C x, bool is_target) {
    return T(counts ? g * (std::exp(x - shift) - spread - (is_target ? share : C(0))) : C(0));
  };
  const bool alike = (reinterpret_cast<uintptr_t>(row) - reinterpret_cast<uintptr_t>(grad_row)) % 16 == 0;
  take_row<2>(
      row, n, alike,
      [&](const auto& v, int64_t first) {
#pragma unroll
        for (int k = 0; k < static_cast<int>(sizeof(v) / sizeof(v[0])); ++k) {
          const int64_t j = first + int64_t{k} * blockDim.x * kRowEach<T>;
          RowVector<T> out;
#pragma unroll
          for (int e = 0; e < kRowEach<T>; ++e) out.x[e] = gradient(widen<C>(v[k].x[e]), j + e == c);
          store_vector(grad_row + j, out);
        }
      },
      [&](int64_t j) { grad_row[j] = gradient(widen<C>(row[j]), j == c); });
}

// Launches `costs(total)`, which sums where there is a reduction: also over nothing.
template <class L, class F>
void reduce(const ClassLoss& l, void* out, int64_t n, const F& costs) {
  const bool sums = l.reduction != kNone;
  if (!sums && n == 0) return;
  const Scratch<Cost> memory(sums ? n + 1 : 0);
  costs(
      Total<L>{static_cast<L*>(out), l.total, memory.get(), n, l.reduction == kMean, block_counters(current_stream())});
}

void nll(ScalarType dtype, const ClassLoss& l, void* out) {
  HB_FLOATING_SWITCH("nll_loss", dtype, [&](auto type) {
    using T = decltype(type);
    const int64_t n = l.outer * l.inner;
    reduce<T>(l, out, n, [&](const Total<T>& total) {
      HB_LAUNCH(nll_costs<T>, blocks_for(n), kThreads, 0, current_stream(), Classes(l, "nll_loss"),
                static_cast<const T*>(l.x), static_cast<T*>(out), total);
    });
  });
}
void nll_backward(ScalarType dtype, const ClassLoss& l, void* grad_x, const void* grad) {
  HB_FLOATING_SWITCH("nll_loss_backward", dtype, [&](auto type) {
    using T = decltype(type);
    const int64_t n = l.outer * l.inner;
    if (n * l.classes == 0) return;
    check(cudaMemsetAsync(grad_x, 0, static_cast<size_t>(n * l.classes) * sizeof(T), current_stream()), "nll_loss");
    HB_LAUNCH(nll_gradient<T>, blocks_for(n), kThreads, 0, current_stream(), Classes(l, "nll_loss"),
              static_cast<T*>(grad_x), static_cast<const T*>(grad));
  });
}

template <class T, class L>
void cross_entropy_as(const ClassLoss& l, void* out, void* normalizer) {
  const Teams teams(l.outer, l.classes);
  reduce<L>(l, out, l.outer, [&](const Total<L>& total) {
    HB_LAUNCH((cross_entropy_costs<T, L>), dim3(l.outer > 0 ? teams.grid.x : 1), teams.block, 0, current_stream(),
              Classes(l, "cross_entropy"), static_cast<const T*>(l.x), static_cast<L*>(out), total,
              static_cast<compute_t<T>*>(normalizer));
  });
}
template <class T, class L>
void cross_entropy_gradient_as(const ClassLoss& l, void* grad_x, const void* grad, const void* normalizer) {
  const Teams teams(l.outer, l.classes);
  if (l.outer > 0)
    HB_LAUNCH((cross_entropy_gradient<T, L>), teams.grid, teams.block, 0, current_stream(), Classes(l, "cross_entropy"),
              static_cast<const T*>(l.x), static_cast<T*>(grad_x), static_cast<const L*>(grad),
              static_cast<const compute_t<T>*>(normalizer));
}

void cross_entropy(ScalarType dtype, const ClassLoss& l, void* out, void* normalizer) {
  HB_FLOATING_SWITCH("cross_entropy", dtype, [&](auto type) {
    using T = decltype(type);
    l.float_loss ? cross_entropy_as<T, float>(l, out, normalizer) : cross_entropy_as<T, T>(l, out, normalizer);
  });
}
void cross_entropy_backward(ScalarType dtype, const ClassLoss& l, void* grad_x, const void* grad,
                            const void* normalizer) {
  HB_FLOATING_SWITCH("cross_entropy_backward", dtype, [&](auto type) {
    using T = decltype(type);
    l.float_loss ? cross_entropy_gradient_as<T, float>(l, grad_x, grad, normalizer)
                 : cross_entropy_gradient_as<T, T>(l, grad_x, grad, normalizer);
  });
}
HB_REGISTER_CUDA(nll_kernel, nll);
HB_REGISTER_CUDA(nll_backward_kernel, nll_backward);
HB_REGISTER_CUDA(cross_entropy_kernel, cross_entropy);
HB_REGISTER_CUDA(cross_entropy_backward_kernel, cross_entropy_backward);

}  // namespace
}  // namespace hb::cuda
