// Optimizers' steps: all tensors of a list in one launch. Whether a step counts, and its number, only the device knows.
#include "backend/optim.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "cuda/graph.h"
#include "cuda/last_block.h"
#include "cuda/register.h"
#include "cuda/tensor_list.h"
#include "cuda/update_values.h"

namespace hb::cuda {
namespace {

template <unsigned used, class T, class Formula>
__device__ void update_element(const UpdateCall& call, const UpdateTensor& t, const Formula& formula, T factor,
                               int64_t i) {
  T param = param_value<T>(call, t, i), s[UpdateTensor::kMaxStates] = {};
#pragma unroll
  for (int k = 0; k < UpdateTensor::kMaxStates; ++k)
    if (used >> k & 1) s[k] = load_floating<T>(t.state[k], i, call.state);
  formula(param, load_floating<T>(t.grad, i, call.grad) * factor, s);
  store_param<T>(call, t, i, param);
#pragma unroll
  for (int k = 0; k < UpdateTensor::kMaxStates; ++k)
    if (used >> k & 1) store_floating<T>(t.state[k], i, call.state, s[k]);
}

/// The tensor's rule at its next step, begun by one thread of the block; `carried` is the number to keep.
template <class Rule>
__device__ void begin(Rule& rule, const UpdateTensor& t, double& carried) {
  carried = t.scalar ? *t.scalar : 0;
  if constexpr (requires { rule.begin(int64_t{}, 0.0); }) carried = rule.begin(t.step ? *t.step + 1 : 1, carried);
}

/// `ended` counts the blocks of each tensor that have read the number of the step: the last one writes the next.
template <class Rule, class T, unsigned flags>
__global__ void __launch_bounds__(kThreads, std::is_same_v<T, double> ? 1 : 0)  // doubles want more registers
    update_kernel_of(HB_ARGUMENT(TensorList<UpdateTensor>) list, HB_ARGUMENT(UpdateCall) call, HB_ARGUMENT(Rule) rule,
                     const Rule* recorded, int* ended) {
  if (call.found_inf && *call.found_inf != 0) return;
  HB_SHARED(Rule, begun, 1);
  HB_SHARED(double, carried, 1);
  const int tensor = list.of_block(static_cast<int>(blockIdx.x)), blocks = list.blocks_of(tensor);
  const UpdateTensor& t = list.item[tensor];
  if (threadIdx.x == 0) {
    Rule mine = recorded ? *recorded : rule;
    begin(mine, t, *carried);
    *begun = mine;
  }
  __syncthreads();
  const typename Rule::template Formula<T, flags> formula(*begun);
  const T factor = grad_factor<T>(call);
  const int64_t step = int64_t{blocks} * kThreads;
  for (int64_t i = (blockIdx.x - list.first[tensor]) * int64_t{kThreads} + threadIdx.x; i < t.numel; i += step)
    update_element<Rule::states(flags), T>(call, t, formula, factor, i);
  if (threadIdx.x != 0 || (!t.step && !t.scalar)) return;
  __threadfence();
  if (blocks > 1 && atomicAdd(ended + tensor, 1) + 1 < blocks) return;
  if (blocks > 1) ended[tensor] = 0;
  if (t.scalar) *t.scalar = *carried;
  if (t.step) ++*t.step;
}

static_assert(kMostTensors <= kBlockCounters);

// In a recorded graph the rule is read from memory, as the learning rate may change from launch to launch.
template <class Rule, class T, unsigned flags>
void update_list(const UpdateCall& call, ArrayRef<UpdateTensor> tensors, const Rule& rule) {
  const cudaStream_t stream = current_stream();
  static_assert(std::is_trivially_copyable_v<Rule>);
  for_lists(tensors, [&](const TensorList<UpdateTensor>& list, unsigned blocks) {
    if (Graph* const graph = Graph::updated()) return graph->write_numbers(&rule, sizeof rule);
    Graph* const graph = Graph::recorded();
    const auto* const recorded = graph ? static_cast<const Rule*>(graph->add_numbers(&rule, sizeof rule)) : nullptr;
    HB_LAUNCH((update_kernel_of<Rule, T, flags>), blocks, kThreads, 0, stream, list, call, rule, recorded,
              block_counters(stream));
  });
}

template <class Rule, class T>
void update_all(const UpdateCall& call, ArrayRef<UpdateTensor> tensors, const Rule& rule) {
  using Function = void (*)(const UpdateCall&, ArrayRef<UpdateTensor>, const Rule&);
  static constexpr auto table = []<unsigned... f>(std::integer_sequence<unsigned, f...>) {
    return std::array<Function, sizeof...(f)>{update_list<Rule, T, f>...};
  }
  (std::make_integer_sequence<unsigned, Rule::kFlagSets>());
  const Function fn = table[call.flags];
  if (!overlap(tensors, element_size(call.param))) return fn(call, tensors, rule);
  for (const UpdateTensor& t : tensors) fn(call, ArrayRef<UpdateTensor>(t), rule);
}

template <class Rule>
void update(const UpdateCall& call, ArrayRef<UpdateTensor> tensors, const Rule& rule) {
  if (call.param == kDouble) return update_all<Rule, double>(call, tensors, rule);
  update_all<Rule, float>(call, tensors, rule);
}

#define HB_SET_UPDATE(Rule, kernel, name) HB_REGISTER_CUDA(kernel, update<Rule>);
HB_FORALL_UPDATE_RULES(HB_SET_UPDATE)
#undef HB_SET_UPDATE

}  // namespace
}  // namespace hb::cuda
