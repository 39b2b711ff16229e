// Rows of zeros with a one at their class.
#include "backend/indexing.h"

#include "cuda/kernel_file.h"
#include "cuda/walk.h"

namespace hb::cuda {
namespace {

__global__ void __launch_bounds__(kThreads)
    one_hot_rows(int64_t* out, const int64_t* classes, int64_t n, Splitter row, Reporter low, Reporter high) {
  HB_GRID_LOOP(i, n) {
    int64_t at = i;
    const int64_t column = row.split(at), wanted = classes[at];
    out[i] = column == wanted;
    if (column == 0 && wanted < 0) low.out_of_range(wanted, row.size);
    if (column == 0 && wanted >= row.size) high.out_of_range(wanted, row.size);
  }
}

void one_hot(const Tensor& out, const Tensor& classes) {
  const int64_t n = out.numel();
  if (n == 0) return;
  HB_LAUNCH(one_hot_rows, blocks_for(n), kThreads, 0, current_stream(),
            static_cast<int64_t*>(out.impl().visible_data()),
            static_cast<const int64_t*>(classes.impl().visible_data()), n, Splitter(n / classes.numel(), n),
            reporter("one_hot", "Class values must be non-negative."),
            reporter("one_hot", "Class values must be smaller than num_classes. Got {value} of {limit}"));
}
HB_REGISTER_CUDA(one_hot_kernel, one_hot);

}  // namespace
}  // namespace hb::cuda
