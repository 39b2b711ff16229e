// Connectionist temporal classification: sums over all alignments, in logarithms. A block has a sequence, its threads
// share the positions of a step.
#include "backend/ctc.h"

#include "cuda/graph.h"
#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

template <class C>
__device__ C never() {
  return -C(INFINITY);
}

/// CtcTargets on the device: one list behind the other.
struct Batch {
  int64_t steps, batch, classes, width;
  const int64_t* lists;
  __device__ const int64_t* labels(int64_t n) const { return lists + n * width; }
  __device__ const int64_t* may_skip(int64_t n) const { return lists + (batch + n) * width; }
  __device__ int64_t steps_of(int64_t n) const { return lists[2 * batch * width + n]; }
  __device__ int64_t width_of(int64_t n) const { return 2 * lists[2 * batch * width + batch + n] + 1; }
};
class DeviceBatch {
 public:
  explicit DeviceBatch(const CtcTargets& t) : memory_(2 * t.batch * (t.width + 1)) {
    std::vector<int64_t> all(t.labels.begin(), t.labels.begin() + t.batch * t.width);
    all.insert(all.end(), t.may_skip.begin(), t.may_skip.begin() + t.batch * t.width);
    all.insert(all.end(), t.inputs.begin(), t.inputs.end());
    all.insert(all.end(), t.targets.begin(), t.targets.end());
    Graph::expect_none();
    check(cudaMemcpyAsync(memory_.get(), all.data(), all.size() * sizeof(int64_t), cudaMemcpyHostToDevice,
                          current_stream()),
          "ctc_loss");
    value = {t.steps, t.batch, t.classes, t.width, memory_.get()};
  }
  Batch value;

 private:
  Scratch<int64_t> memory_;
};

/// The positions that an alignment can have at step i: no further than it can have come, or that reach the end.
__device__ bool is_possible(int64_t s, int64_t i, int64_t steps, int64_t width) {
  return s >= width - 2 * (steps - i) && s < width && s < 2 * (i + 1);
}
template <class C>
__device__ C log_add(C a, C b, C c) {
  C top = a > b ? a : b;
  top = c > top ? c : top;
  top = top > never<C>() ? top : C(0);
  return std::log(std::exp(a - top) + std::exp(b - top) + std::exp(c - top)) + top;
}

template <class C>
__global__ void beginnings(Batch t, const C* log_probs, C* alpha, C* loss) {
  const int64_t n = blockIdx.x, steps = t.steps_of(n), width = t.width_of(n), row = t.width + 2;
  const int64_t *labels = t.labels(n), *may_skip = t.may_skip(n);
  C* now = alpha + n * t.steps * row + 2;
  for (int64_t i = 0; i < steps; ++i, now += row) {
    const C* const x = log_probs + (i * t.batch + n) * t.classes;
    const C* const before = now - row;
    for (int64_t s = int64_t{threadIdx.x} - 2; s < t.width; s += blockDim.x) {
      C value = never<C>();
      if (s >= 0 && is_possible(s, i, steps, width)) {
        value = i == 0 ? x[labels[s]]
                       : log_add(before[s], before[s - 1], may_skip[s] ? before[s - 2] : never<C>()) + x[labels[s]];
      }
      now[s] = value;
    }
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  if (steps == 0) {
    loss[n] = width == 1 ? C(0) : -never<C>();
    return;
  }
  const C* const last = now - row;
  const C total = log_add(last[width - 1], width > 1 ? last[width - 2] : never<C>(), never<C>());
  loss[n] = -total;
}

// endings: two rows for each sequence.
template <class C>
__global__ void gradient(Batch t, const C* log_probs, const C* alpha, const C* loss, const C* grad, C* grad_x,
                         C* endings) {
  const int64_t n = blockIdx.x, steps = t.steps_of(n), width = t.width_of(n), row = t.width + 2;
  const int64_t *labels = t.labels(n), *may_skip = t.may_skip(n);
  for (int64_t i = t.steps - 1; i >= 0; --i) {
    const int64_t at = (i * t.batch + n) * t.classes;
    for (int64_t k = threadIdx.x; k < t.classes; k += blockDim.x) grad_x[at + k] = 0;
    if (i >= steps) continue;
    C* const now = endings + (2 * n + i % 2) * row;
    const C* const after = endings + (2 * n + (i + 1) % 2) * row;
    const C* const begun = alpha + (n * t.steps + i) * row + 2;
    __syncthreads();
    for (int64_t s = threadIdx.x; s < row; s += blockDim.x) {
      C value = never<C>();  // without this step's own logarithm, which the beginnings hold too
      if (is_possible(s, i, steps, width)) {
        const bool skips = s + 2 < width && may_skip[s + 2];
        value = i == steps - 1 ? C(0) : log_add(after[s], after[s + 1], skips ? after[s + 2] : never<C>());
      }
      if (s < width) {  // NaN where no alignment is possible: loss is infinite
        atomicAdd(grad_x + at + labels[s], std::exp(begun[s] + value + loss[n]));
        value += log_probs[at + labels[s]];
      }
      now[s] = value;
    }
    __syncthreads();
    for (int64_t k = threadIdx.x; k < t.classes; k += blockDim.x)
      grad_x[at + k] = (std::exp(log_probs[at + k]) - grad_x[at + k]) * grad[n];
  }
}

constexpr int kPositions = 128;

template <class C>
void forward(const CtcTargets& t, const void* log_probs, void* alpha, void* loss) {
  const DeviceBatch batch(t);
  HB_LAUNCH(beginnings<C>, static_cast<unsigned>(t.batch), kPositions, 0, current_stream(), batch.value,
            static_cast<const C*>(log_probs), static_cast<C*>(alpha), static_cast<C*>(loss));
}
template <class C>
void backward(const CtcTargets& t, const void* log_probs, const void* alpha, const void* loss, const void* grad,
              void* grad_log_probs) {
  const DeviceBatch batch(t);
  const Scratch<C> endings(2 * t.batch * (t.width + 2));
  HB_LAUNCH(gradient<C>, static_cast<unsigned>(t.batch), kPositions, 0, current_stream(), batch.value,
            static_cast<const C*>(log_probs), static_cast<const C*>(alpha), static_cast<const C*>(loss),
            static_cast<const C*>(grad), static_cast<C*>(grad_log_probs), endings.get());
}

void ctc(ScalarType dtype, const CtcTargets& t, const void* log_probs, void* alpha, void* loss) {
  if (t.batch == 0) return;
  dtype == kDouble ? forward<double>(t, log_probs, alpha, loss) : forward<float>(t, log_probs, alpha, loss);
}
void ctc_backward(ScalarType dtype, const CtcTargets& t, const void* log_probs, const void* alpha, const void* loss,
                  const void* grad, void* grad_log_probs) {
  if (t.batch == 0) return;
  dtype == kDouble ? backward<double>(t, log_probs, alpha, loss, grad, grad_log_probs)
                   : backward<float>(t, log_probs, alpha, loss, grad, grad_log_probs);
}
HB_REGISTER_CUDA(ctc_kernel, ctc);
HB_REGISTER_CUDA(ctc_backward_kernel, ctc_backward);

}  // namespace
}  // namespace hb::cuda
