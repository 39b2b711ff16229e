#pragma once
// What the decompositions share: checks, and stacks of matrices as their kernels want them.
#include <vector>

#include <halfbridge/tensor.h>

namespace hb {

/// Who refuses other dtypes in LibTorch: the function before it begins, its kernel, whose error is NotImplementedError,
/// or the function integers and the kernel half types.
enum class Refused { by_function, by_kernel, halves_by_kernel };
/// Throws unless `a` is a batch of matrices of float, double or complex numbers; `square` also wants that.
void check_matrices(const char* name, const Tensor& a, bool square, Refused refused = Refused::by_function);
/// A tensor of matrices as a stack (b, m, n), without history; a copy only where its batch has no single stride.
Tensor as_stack(const Tensor& a);
/// A tensor (…, n) as (b, n), without history.
Tensor as_rows(const Tensor& a);
/// An empty tensor of `like`'s batch whose matrices (m, n) lie by columns, as kernels write them.
Tensor by_columns(const Tensor& like, int64_t m, int64_t n);
Tensor by_columns(const Tensor& like, int64_t m, int64_t n, ScalarType dtype);
/// Batch dimensions of `like`, then these.
std::vector<int64_t> batch_sizes(const Tensor& like, std::initializer_list<int64_t> last);
/// A with the batch that A and B have together.
Tensor with_batch_of(const Tensor& a, const Tensor& b);
/// LibTorch's rule for the right side of A X = B: one vector, or a batch of vectors exactly as large as A's batch.
bool is_vectors(const Tensor& a, const Tensor& b);
void check_same_matrices(const char* name, const Tensor& a, const Tensor& b);

/// No matrix failed: one number for each matrix of `like`.
Tensor no_info(const Tensor& like);
/// Throws with the first matrix whose info is not 0, which takes the place of each {} in the text.
void check_info(const char* name, const Tensor& info, const char* text);
/// The text for iterations that did not converge; `what`: "eigenvalues" or "singular values", a literal.
#define HB_NO_CONVERGENCE(what)                                                                                 \
  "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated " what \
  " (error code: {})."
/// Iterations do not converge on NaN and infinities.
void check_finite(const char* name, const Tensor& a, const char* text);

/// The gradient of a pseudo-inverse p of a.
Tensor pinv_gradient(const Tensor& grad, const Tensor& a, const Tensor& p);

}  // namespace hb
