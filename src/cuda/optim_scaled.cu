// LAMB and Adafactor, whose steps depend on norms of whole tensors. Sums are made of one part a block, which are added
// in a fixed order.
#include "formulas/update_rules/scaled.h"

#include "cuda/kernel_file.h"
#include "cuda/tensor_list.h"
#include "cuda/update_values.h"

namespace hb::cuda {
namespace {

__device__ bool skipped(const UpdateCall& call) { return call.found_inf && *call.found_inf != 0; }

/// What a block found of its part of a tensor, and the number of the step that it saw.
struct Part {
  double weight, size;
  int64_t step;
};
/// The sums of a tensor's parts; all threads of the block call it.
__device__ Part sum_parts(const Part* parts, int count) {
  Part sum{0, 0, parts[0].step};
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads)
    sum.weight += parts[i].weight, sum.size += parts[i].size;
  sum.weight = team_sum(sum.weight);
  sum.size = team_sum(sum.size);
  return sum;
}

/// The part of a tensor that this block of a list has.
struct Share {
  int tensor, block, blocks;
  template <class Item>
  __device__ explicit Share(const TensorList<Item>& list)
      : tensor(list.of_block(static_cast<int>(blockIdx.x))),
        block(static_cast<int>(blockIdx.x) - list.first[tensor]),
        blocks(list.blocks_of(tensor)) {}
  template <class F>
  __device__ void each(int64_t n, const F& fn) const {
    for (int64_t i = block * int64_t{kThreads} + threadIdx.x; i < n; i += int64_t{blocks} * kThreads) fn(i);
  }
};

template <class T>
__device__ LambRule::Formula<T> lamb_formula(LambRule rule, int64_t step) {
  rule.begin(step, 0);
  return LambRule::Formula<T>(rule);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    lamb_moments(HB_ARGUMENT(TensorList<UpdateTensor>) list, HB_ARGUMENT(UpdateCall) call, LambRule rule, Part* parts) {
  if (skipped(call)) return;
  const Share share(list);
  const UpdateTensor& t = list.item[share.tensor];
  const int64_t step = *t.step + 1;
  const auto formula = lamb_formula<T>(rule, step);
  const T factor = grad_factor<T>(call);
  double weight = 0, size = 0;
  share.each(t.numel, [&](int64_t i) {
    T m = load_floating<T>(t.state[0], i, call.state), v = load_floating<T>(t.state[1], i, call.state);
    formula.moments(load_floating<T>(t.grad, i, call.grad) * factor, m, v);
    const T p = param_value<T>(call, t, i), direction = formula.direction(p, m, v);
    store_floating<T>(t.state[0], i, call.state, m), store_floating<T>(t.state[1], i, call.state, v);
    weight += static_cast<double>(p) * static_cast<double>(p);
    size += static_cast<double>(direction) * static_cast<double>(direction);
  });
  weight = team_sum(weight), size = team_sum(size);
  if (threadIdx.x == 0) parts[blockIdx.x] = {weight, size, step};
}

template <class T>
__global__ void __launch_bounds__(kThreads) lamb_apply(HB_ARGUMENT(TensorList<UpdateTensor>) list,
                                                       HB_ARGUMENT(UpdateCall) call, LambRule rule, const Part* parts) {
  if (skipped(call)) return;
  const Share share(list);
  const UpdateTensor& t = list.item[share.tensor];
  const Part sum = sum_parts(parts + list.first[share.tensor], share.blocks);
  const auto formula = lamb_formula<T>(rule, sum.step);
  const double weight = ::sqrt(sum.weight), size = ::sqrt(sum.size);
  const T by = static_cast<T>(rule.scale(weight, size));
  share.each(t.numel, [&](int64_t i) {
    const T m = load_floating<T>(t.state[0], i, call.state), v = load_floating<T>(t.state[1], i, call.state);
    const T p = param_value<T>(call, t, i);
    store_param<T>(call, t, i, std::fma(formula.direction(p, m, v), by, p));
  });
  if (share.block == 0 && threadIdx.x == 0) *t.step = sum.step;
}

template <class T>
void lamb_list(const UpdateCall& call, ArrayRef<UpdateTensor> tensors, const LambRule& rule) {
  for_lists(tensors, [&](const TensorList<UpdateTensor>& list, unsigned blocks) {
    const Scratch<Part> parts(blocks);
    HB_LAUNCH(lamb_moments<T>, blocks, kThreads, 0, current_stream(), list, call, rule, parts.get());
    HB_LAUNCH(lamb_apply<T>, blocks, kThreads, 0, current_stream(), list, call, rule, parts.get());
  });
}
void lamb(const UpdateCall& call, ArrayRef<UpdateTensor> tensors, const LambRule& rule) {
  const auto run = [&](ArrayRef<UpdateTensor> some) {
    call.param == kDouble ? lamb_list<double>(call, some, rule) : lamb_list<float>(call, some, rule);
  };
  if (!overlap(tensors, element_size(call.param))) return run(tensors);
  for (const UpdateTensor& t : tensors) run(ArrayRef<UpdateTensor>(t));
}
HB_REGISTER_CUDA(lamb_update, lamb);

/// How much of the second moment is new.
template <class T>
__device__ T gain_of(const UpdateTensor& t, const AdafactorRule& rule) {
  return static_cast<T>(rule.gain(static_cast<double>(*t.step + 1)));
}
template <class T>
__device__ double square_of_grad(const UpdateCall& call, const UpdateTensor& t, int64_t i, T factor) {
  const T g = load_floating<T>(t.grad, i, call.grad) * factor;
  return static_cast<double>(g * g);
}

/// A block for each row: the rows' share of the second moment, and what the row adds to the parameter's norm.
template <class T>
__global__ void __launch_bounds__(kThreads)
    factor_rows(HB_ARGUMENT(FactoredTensor) f, HB_ARGUMENT(UpdateCall) call, AdafactorRule rule) {
  if (skipped(call)) return;
  const T factor = grad_factor<T>(call);
  for (int64_t row = blockIdx.x; row < f.batch * f.rows; row += gridDim.x) {
    double sum = 0;
    for (int64_t c = threadIdx.x; c < f.cols; c += kThreads)
      sum += square_of_grad(call, f.tensor, row * f.cols + c, factor);
    sum = team_sum(sum);
    T& moment = static_cast<T*>(f.row_var)[row];
    if (threadIdx.x == 0)
      moment =
          AdafactorRule::moved(moment, static_cast<T>(sum / static_cast<double>(f.cols)), gain_of<T>(f.tensor, rule));
  }
}
template <class T>
__global__ void factor_columns(HB_ARGUMENT(FactoredTensor) f, HB_ARGUMENT(UpdateCall) call, AdafactorRule rule) {
  if (skipped(call)) return;
  const T factor = grad_factor<T>(call);
  HB_GRID_LOOP(i, f.batch * f.cols) {
    const int64_t first = i / f.cols * f.rows * f.cols + i % f.cols;
    double sum = 0;
    for (int64_t r = 0; r < f.rows; ++r) sum += square_of_grad(call, f.tensor, first + r * f.cols, factor);
    T& moment = static_cast<T*>(f.col_var)[i];
    moment =
        AdafactorRule::moved(moment, static_cast<T>(sum / static_cast<double>(f.rows)), gain_of<T>(f.tensor, rule));
  }
}
/// The mean of each matrix's row moments: a block for each.
template <class T>
__global__ void __launch_bounds__(kThreads)
    mean_of_rows(HB_ARGUMENT(FactoredTensor) f, HB_ARGUMENT(UpdateCall) call, AdafactorRule rule, T* means) {
  if (skipped(call)) return;
  for (int64_t matrix = blockIdx.x; matrix < f.batch; matrix += gridDim.x) {
    T sum = 0;
    for (int64_t r = threadIdx.x; r < f.rows; r += kThreads)
      sum += static_cast<const T*>(f.row_var)[matrix * f.rows + r];
    sum = team_sum(sum) / static_cast<T>(f.rows);
    const auto least = static_cast<T>(rule.eps1);
    if (threadIdx.x == 0) means[matrix] = sum > least ? sum : least;
  }
}
template <class T>
__global__ void moment_of_vector(HB_ARGUMENT(FactoredTensor) f, HB_ARGUMENT(UpdateCall) call, AdafactorRule rule) {
  if (skipped(call)) return;
  const T factor = grad_factor<T>(call);
  HB_GRID_LOOP(i, f.tensor.numel) {
    T& moment = static_cast<T*>(f.variance)[i];
    const T g = load_floating<T>(f.tensor.grad, i, call.grad) * factor;
    moment = AdafactorRule::moved(moment, g * g, gain_of<T>(f.tensor, rule));
  }
}

/// The update of element i.
template <class T>
__device__ T update_at(const FactoredTensor& f, const UpdateCall& call, const AdafactorRule& rule, const T* means,
                       T factor, int64_t i) {
  const auto floor = static_cast<T>(rule.eps1 * rule.eps1);
  T moment;
  if (f.variance) {
    moment = static_cast<const T*>(f.variance)[i];
  } else {
    const int64_t row = i / f.cols, matrix = row / f.rows;
    moment = static_cast<const T*>(f.row_var)[row] *
             static_cast<const T*>(f.col_var)[matrix * f.cols + (i - row * f.cols)] / means[matrix];
  }
  return load_floating<T>(f.tensor.grad, i, call.grad) * factor / std::sqrt(moment > floor ? moment : floor);
}
template <class T>
__global__ void __launch_bounds__(kThreads) measure(HB_ARGUMENT(FactoredTensor) f, HB_ARGUMENT(UpdateCall) call,
                                                    AdafactorRule rule, const T* means, Part* parts) {
  if (skipped(call)) return;
  const T factor = grad_factor<T>(call);
  double weight = 0, size = 0;
  HB_GRID_LOOP(i, f.tensor.numel) {
    const auto p = static_cast<double>(param_value<T>(call, f.tensor, i));
    const auto update = static_cast<double>(update_at(f, call, rule, means, factor, i));
    weight += p * p, size += update * update;
  }
  weight = team_sum(weight), size = team_sum(size);
  if (threadIdx.x == 0) parts[blockIdx.x] = {weight, size, *f.tensor.step + 1};
}
template <class T>
__global__ void __launch_bounds__(kThreads) apply(HB_ARGUMENT(FactoredTensor) f, HB_ARGUMENT(UpdateCall) call,
                                                  AdafactorRule rule, const T* means, const Part* parts) {
  if (skipped(call)) return;
  const Part sum = sum_parts(parts, static_cast<int>(gridDim.x));
  const double by = rule.scale(::sqrt(sum.weight), ::sqrt(sum.size), static_cast<double>(sum.step), f.tensor.numel);
  const T factor = grad_factor<T>(call), scale = static_cast<T>(by),
          shrink = static_cast<T>(1 - rule.lr * rule.weight_decay);
  HB_GRID_LOOP(i, f.tensor.numel)
  store_param<T>(
      call, f.tensor, i,
      std::fma(update_at(f, call, rule, means, factor, i), scale, param_value<T>(call, f.tensor, i) * shrink));
  if (blockIdx.x == 0 && threadIdx.x == 0) *f.tensor.step = sum.step;
}
__global__ void count_step(int64_t* step, HB_ARGUMENT(UpdateCall) call) {
  if (!skipped(call)) ++*step;
}

template <class T>
void adafactor_as(const UpdateCall& call, const FactoredTensor& f, const AdafactorRule& rule) {
  const cudaStream_t stream = current_stream();
  const int64_t n = f.tensor.numel;
  if (n == 0) {
    HB_LAUNCH(count_step, 1, 1, 0, stream, f.tensor.step, call);
    return;
  }
  const Scratch<T> means(f.batch);
  if (f.variance) {
    HB_LAUNCH(moment_of_vector<T>, blocks_for(n), kThreads, 0, stream, f, call, rule);
  } else {
    HB_LAUNCH(factor_rows<T>, blocks_for(f.batch * f.rows, 1), kThreads, 0, stream, f, call, rule);
    HB_LAUNCH(factor_columns<T>, blocks_for(f.batch * f.cols), kThreads, 0, stream, f, call, rule);
    HB_LAUNCH(mean_of_rows<T>, blocks_for(f.batch, 1), kThreads, 0, stream, f, call, rule, means.get());
  }
  const unsigned blocks = std::min(blocks_for(n, kPerBlock), 1024u);
  const Scratch<Part> parts(blocks);
  HB_LAUNCH(measure<T>, blocks, kThreads, 0, stream, f, call, rule, means.get(), parts.get());
  HB_LAUNCH(apply<T>, blocks, kThreads, 0, stream, f, call, rule, means.get(), parts.get());
}
void adafactor(const UpdateCall& call, const FactoredTensor& tensor, const AdafactorRule& rule) {
  call.param == kDouble ? adafactor_as<double>(call, tensor, rule) : adafactor_as<float>(call, tensor, rule);
}
HB_REGISTER_CUDA(adafactor_update, adafactor);

}  // namespace
}  // namespace hb::cuda
