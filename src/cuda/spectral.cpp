// Eigenvalues and singular values: of small matrices by kernels, of others by cuSOLVER.
#include <halfbridge/error.h>

#include "backend/decompositions.h"
#include "cuda/matrices.h"
#include "cuda/register.h"
#include "cuda/small_matrices.h"

namespace hb::cuda {
namespace {

cudaDataType_t real_type(const Tensor& t) { return data_type(to_real_type(t.scalar_type())); }

void eigh_of_each(const Tensor& matrices, bool upper, const Tensor& values, bool vectors, const Tensor& info) {
  const Stack to(matrices);
  const cudaDataType_t type = data_type(matrices.scalar_type()), real = real_type(matrices);
  const auto job = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const auto fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const cusolverDnHandle_t handle = cusolver_handle();
  Workspace work;
  HB_CUSOLVER(cusolverDnXsyevd_bufferSize, handle, cusolver_params(), job, fill, to.rows, type, to.data, to.leading,
              real, element(values, 0), type, &work.device, &work.host);
  work.make();
  for (int64_t i = 0; i < to.count; ++i)
    HB_CUSOLVER(cusolverDnXsyevd, handle, cusolver_params(), job, fill, to.rows, type, to.at(i), to.leading, real,
                element(values, i * to.rows), type, work.on_device(), work.device, work.on_host(), work.host,
                static_cast<int*>(element(info, i)));
}
void eigh(const Tensor& a, bool upper, const Tensor& values, const Tensor& vectors, const Tensor& info) {
  const Tensor matrices = vectors.defined() ? vectors : new_columns(a, a.size(1), a.size(2));
  copy_values(matrices, a);
  const Scratch<int32_t> bad(matrices.size(0));
  set_aside_not_finite(matrices, upper, bad.get());
  if (!small_eigh(matrices, upper, values, vectors.defined(), info))
    eigh_of_each(matrices, upper, values, vectors.defined(), info);
  put_nan(values, vectors, info, bad.get());
}

/// Of real matrices cuSOLVER gives real columns, as LAPACK does.
void eig(const Tensor& a, const Tensor& values, const Tensor& vectors, const Tensor& info) {
  const Tensor matrices = copied_columns(a);
  const Stack from(matrices);
  const bool packs = vectors.defined() && !a.is_complex();
  const Tensor packed = packs ? new_columns(a, a.size(1), a.size(2)) : vectors;
  const auto job = vectors.defined() ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const cudaDataType_t type = data_type(a.scalar_type()), complex = data_type(values.scalar_type());
  const auto to = [&](int64_t i) { return packed.defined() ? Stack(packed).at(i) : nullptr; };
  const int64_t n = from.rows;
  const cusolverDnHandle_t handle = cusolver_handle();
  Workspace work;
  HB_CUSOLVER(cusolverDnXgeev_bufferSize, handle, cusolver_params(), CUSOLVER_EIG_MODE_NOVECTOR, job, n, type,
              from.data, from.leading, complex, element(values, 0), type, nullptr, n, type, to(0), n, type,
              &work.device, &work.host);
  work.make();
  for (int64_t i = 0; i < from.count; ++i)
    HB_CUSOLVER(cusolverDnXgeev, handle, cusolver_params(), CUSOLVER_EIG_MODE_NOVECTOR, job, n, type, from.at(i),
                from.leading, complex, element(values, i * n), type, nullptr, n, type, to(i), n, type, work.on_device(),
                work.device, work.on_host(), work.host, static_cast<int*>(element(info, i)));
  if (packs) pair_columns(vectors, packed, values);
}

/// The routine wants no more columns than rows: else the adjoint is decomposed.
void svd(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& info) {
  if (small_svd(a, u, s, vh, info)) return;
  const bool turned = a.size(1) < a.size(2), wanted = u.defined();
  const Tensor matrices = copied_columns(turned ? adjoint_of(a) : a);
  const Stack from(matrices);
  const int64_t m = from.rows, n = from.columns, k = n;
  // A^H = V S U^H: u of A^H is V, its vh is U^H.
  const Tensor left = !wanted || !turned ? u : new_columns(a, m, vh.size(1));
  const Tensor right = !wanted || !turned ? vh : new_columns(a, u.size(2), n);
  const signed char job = !wanted ? 'N' : left.size(2) == k ? 'S' : 'A';
  const auto at = [&](const Tensor& t, int64_t i) { return wanted ? Stack(t).at(i) : nullptr; };
  const int64_t right_rows = wanted ? right.size(1) : k;
  const cudaDataType_t type = data_type(a.scalar_type()), real = real_type(a);
  const cusolverDnHandle_t handle = cusolver_handle();
  Workspace work;
  HB_CUSOLVER(cusolverDnXgesvd_bufferSize, handle, cusolver_params(), job, job, m, n, type, from.data, from.leading,
              real, element(s, 0), type, at(left, 0), m, type, at(right, 0), right_rows, type, &work.device,
              &work.host);
  work.make();
  for (int64_t i = 0; i < from.count; ++i)
    HB_CUSOLVER(cusolverDnXgesvd, handle, cusolver_params(), job, job, m, n, type, from.at(i), from.leading, real,
                element(s, i * k), type, at(left, i), m, type, at(right, i), right_rows, type, work.on_device(),
                work.device, work.on_host(), work.host, static_cast<int*>(element(info, i)));
  if (!wanted || !turned) return;
  copy_values(vh, adjoint_of(left));
  copy_values(u, adjoint_of(right));
}

HB_REGISTER_CUDA(eigh_kernel, eigh);
HB_REGISTER_CUDA(eig_kernel, eig);
HB_REGISTER_CUDA(svd_kernel, svd);

}  // namespace
}  // namespace hb::cuda
