// Products of matrices and linear algebra used wrongly.
#include "parity/bad.h"

using torch::Tensor;
using Sizes = at::IntArrayRef;

PARITY_CASE(bad_products, products) {
  const Tensor a = c.randn({2, 3}), b = c.randn({3, 4}), v = c.randn({3}), i = c.randint(0, 5, {3, 4});
  const Tensor batch = c.randn({2, 3, 4}), number = c.randn({});
  SAYS("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", a.mm(a));
  SAYS("expected m1 and m2 to have the same dtype", a.mm(i));
  SAYS("mat2 must be a matrix", a.mm(v));
  SAYS("size mismatch, got", a.mv(c.randn({2})));
  SAYS("vector + matrix @ vector expected, got", a.mv(b));
  SAYS("inconsistent tensor size, expected tensor [3] and src [2] to have the same number of", v.dot(c.randn({2})));
  SAYS("1D tensors expected, but got 1D and 2D tensors", v.dot(b));
  SAYS("outer: Expected 1-D argument vec2, but got 2-D", v.outer(b));
  SAYS("Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3]", batch.bmm(batch));
  SAYS("batch2 must be a 3D tensor", batch.bmm(a));
  SAYS("Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [3, 4]",
       batch.bmm(c.randn({3, 4, 2})));
  SAYS("both arguments to matmul need to be at least 1D, but they are 2D and 0D", a.matmul(number));
  SAYS("The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
       batch.matmul(c.randn({3, 4, 2})));
  SAYS("expected m1 and m2 to have the same dtype", a.matmul(b.to(torch::kHalf)));
  SAYS("The expanded size of the tensor (4) must match the existing size (3) at non-singleton", torch::addmm(v, a, b));
  SAYS("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", torch::addmm(number, a, a));
  BAD(torch::addmv(v, a, v));
  SAYS("Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3]",
       torch::baddbmm(batch, batch, batch));
  BAD(torch::addbmm(a, batch, batch));
  SAYS("2) at non-singleton dimension 0", torch::addr(a, v, v));
  SAYS("fewer operands were provided than specified in the equation", torch::einsum("ij,jk->ik", {a}));
  SAYS("does not appear in the equation for any input operand", torch::einsum("ij,jk->il", {a, b}));
  SAYS("which does not broadcast with previously seen size 2", torch::einsum("ij,ij->", {a, b}));
  SAYS("the number of subscripts in the equation (3) does not match the number of dimensions (2)",
       torch::einsum("ijk->i", {a}));
  SAYS("in the equation string, subscripts must be in [a-zA-Z]", torch::einsum("i1->i", {a}));
  SAYS("appears more than once in the output", torch::einsum("ij->ii", {a}));
  SAYS("contracted dimensions need to match, but first has size 2 in dim 0 and second has size 3",
       torch::tensordot(a, b, {0}, {0}));
  SAYS("both dimension lists should have same length", torch::tensordot(a, b, {0, 1}, {0}));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)", torch::tensordot(a, b, {2}, {0}));
  SAYS("cannot be multiplied", torch::chain_matmul({a, a}));
  SAYS("X1 and X2 must have the same number of columns", torch::cdist(a, b));
  SAYS("cdist only supports non-negative p values", torch::cdist(a, a, -1));
  SAYS("pdist only supports 2D tensors, got: 1D", torch::pdist(v));
  SAYS("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
       torch::pairwise_distance(a, b));
  SAYS("Expected a proper Tensor but got None (or an undefined Tensor in C++)", torch::kron(a, Tensor()));
}

PARITY_CASE(bad_products, linear_algebra) {
  const Tensor a = c.randn({2, 3}), b = c.randn({3, 4}), v = c.randn({3});
  SAYS("linalg.inv: A must be batches of square matrices, but they are 2 by 3 matrices", torch::linalg_inv(a));
  SAYS("linalg.det: A must be batches of square matrices, but they are 2 by 3 matrices", torch::linalg_det(a));
  SAYS("linalg.det: Expected a floating point or complex tensor as input. Got Long",
       torch::linalg_det(torch::ones({2, 2}, torch::kLong)));
  SAYS("linalg.cholesky: The factorization could not be completed because the input is not",
       torch::linalg_cholesky(torch::full({2, 2}, -1.0f)));
  SAYS("linalg.solve: A must be batches of square matrices, but they are 2 by 3 matrices", torch::linalg_solve(a, b));
  SAYS("linalg.solve: Incompatible shapes of A and B for the equation AX = B (2x2 and 3x1)",
       torch::linalg_solve(torch::eye(2), c.randn({3})));
  SAYS("linalg.qr: The input tensor A must have at least 2 dimensions", torch::linalg_qr(v));
  SAYS("qr received unrecognized mode 'half' but expected one of 'reduced' (default), 'r', or",
       torch::linalg_qr(a, "half"));
  SAYS("linalg.svd: The input tensor A must have at least 2 dimensions", torch::linalg_svd(v));
  SAYS("linalg.eigh: A must be batches of square matrices, but they are 2 by 3 matrices", torch::linalg_eigh(a));
  SAYS("Expected UPLO argument to be 'L' or 'U', but got X", torch::linalg_eigh(torch::eye(2), "X"));
  SAYS("linalg.svd: The algorithm failed to converge because the input matrix contained",
       torch::linalg_svd(torch::full({2, 2}, NAN)));
  SAYS("linalg.cholesky: The factorization could not be completed because the input is not",
       torch::linalg_cholesky(torch::full({2, 2}, NAN)));
  SAYS("linalg.matrix_power: A must be batches of square matrices", torch::linalg_matrix_power(a, 2));
  SAYS("linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because",
       torch::linalg_matrix_power(torch::zeros({2, 2}), -1));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 2)",
       torch::linalg_vector_norm(a, 2, Sizes({2})));
  BAD(torch::bilinear(a, a, c.randn({4, 2, 2})));
  SAYS("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x3)", torch::linear(a, b));
  SAYS("3) at non-singleton dimension 1", torch::linear(a, c.randn({4, 3}), c.randn({3})));
  SAYS("expected m1 and m2 to have the same dtype", torch::linear(a, c.randn({4, 3}, torch::kDouble)));
  SAYS("x must be a one-dimensional tensor", torch::vander(a));
  BAD(torch::cross(v, c.randn({2})));
}
