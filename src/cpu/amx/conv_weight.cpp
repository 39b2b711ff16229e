// The gradient of a convolution's weights: the product of the output's gradient with patches, as deep as there are
// pixels.
#include <halfbridge/ops.h>

#include "cpu/amx/convolution.h"

namespace hb::cpu::amx {

bool conv_backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x, const Tensor& grad_y,
                          const ConvParams& p) {
  if (!can_be_tiled(grad_weight, p)) return false;
  const Convolution c(x, grad_y, grad_weight, p);
  const int64_t pixels = c.batch * c.y.area(), positions = c.kernel.area();
  const MatrixRows rows{data(grad_y), 1, c.outputs};
  const PatchColumns columns{c.of_input(data(x))};
  BFloat16* out = positions == 1 ? data(grad_weight) : scratch<BFloat16>(Scratch::weights, c.outputs * c.columns());
  multiply(c.outputs, c.columns(), pixels, rows, columns, MatrixStore{out, c.columns()});
  if (positions > 1) transpose_kernel(kCPU)(sizeof(BFloat16), c.outputs, positions, c.inputs, data(grad_weight), out);
  if (grad_bias.defined())
    column_sum_kernel(kCPU)(kBFloat16, data(grad_bias), data(grad_y), pixels, c.outputs, c.outputs);
  return true;
}

}  // namespace hb::cpu::amx
