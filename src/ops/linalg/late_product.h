#pragma once
// On a GPU the product of a linear layer waits: a relu or gelu (by tanh) that follows is done in the same call of the
// library, and so is the gradient of either in the product for the gradient of a layer's input.

#include <halfbridge/tensor.h>

#include "backend/elementwise.h"
#include "backend/gemm_epilogue.h"

namespace hb::ops {

/// Nothing waits where every function is to be exact (CUDA_LAUNCH_BLOCKING=1).
bool may_wait();

/// What tells one place of a program from another: the weight's memory, and whether it is transposed.
using ProductPlace = std::pair<const StorageImpl*, bool>;

/// Leaves a product for later, which writes `out`, new memory whose rows are dense. `read` holds what it reads. False
/// where it has to be done now.
bool multiply_later(const Tensor& out, const Gemm& g, std::initializer_list<Tensor> read, const ProductPlace& place);

/// The result of an element-wise function of what a product would give; undefined where they do not fit together.
Tensor after_late_product(const FormulaKernel& formula, ScalarType result, ArrayRef<const Tensor*> inputs);
/// Which elements of relu(x) are positive, as bits; undefined where it was not computed with a product.
Tensor signs_of_relu(const Tensor& relu, const Tensor& x);
/// g where relu's result was positive, else 0, in g's product; undefined where g does not wait for one.
Tensor relu_gradient_of_product(const Tensor& g, const Tensor& signs);

}  // namespace hb::ops
