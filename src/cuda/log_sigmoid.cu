#include "backend/log_sigmoid.h"

#include "cuda/formula_kernel.h"
#include "formulas/log_sigmoid.h"

namespace hb::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) values_and_slopes(HB_ARGUMENT(Walk) walk) {
  HB_GRID_LOOP(i, walk.numel) {
    int32_t offset[3];
    walk.offsets<3>(static_cast<uint32_t>(i), offset);
    const T x = load_as<T>(walk.data[2] + offset[2], walk.dtype[2]);
    store_as<T>(walk.data[0] + offset[0], walk.dtype[0], formula::log_sigmoid::apply<T>(nullptr, x));
    store_as<T>(walk.data[1] + offset[1], walk.dtype[1], formula::log_sigmoid_slope(x));
  }
}

template <class T>
void launch_values_and_slopes(const Walk& walk, const void*) {
  HB_LAUNCH(values_and_slopes<T>, blocks_for(walk.numel), kThreads, 0, current_stream(), walk);
}

void log_sigmoid_slope(const Loop& loop) {
  const bool wide = loop.op[0].dtype == kDouble;
  for_walks("log_sigmoid", loop, wide ? launch_values_and_slopes<double> : launch_values_and_slopes<float>, nullptr);
}
HB_REGISTER_CUDA(log_sigmoid_slope_kernel, log_sigmoid_slope);

}  // namespace
}  // namespace hb::cuda
