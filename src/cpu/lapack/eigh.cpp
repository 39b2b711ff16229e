// Eigenvalues of symmetric and Hermitian matrices.
#include <limits>

#include "backend/decompositions.h"
#include "cpu/lapack/own_loops.h"
#include "cpu/lapack/work.h"

namespace hb::cpu::lapack {
namespace {

template <class T>
T sum_of_parts(const T& x) {
  return x;
}
template <class R>
R sum_of_parts(const Complex<R>& x) {
  return x.real() + x.imag();
}

/// 0, or infinity or NaN where an element of the triangle is one.
template <class T>
Real<T> not_finite(const T* a, int64_t n, bool upper) {
  Real<T> sum = 0;
  for (int64_t c = 0; c < n; ++c)
    for (int64_t r = upper ? 0 : c; r < (upper ? c + 1 : n); ++r) sum += std::fabs(sum_of_parts(a[c * n + r])) * 0;
  return sum;
}

template <class T>
void syevd(const Routines<T>& r, const char* job, bool upper, Int n, T* a, Real<T>* values, Work<T>& w, Int* info) {
  const char* triangle = upper ? "U" : "L";
  if constexpr (kIsComplex<T>)
    r.syevd(job, triangle, &n, a, &n, values, w.work.get(), &w.lwork, w.real.get(), &w.lreal, w.ints.get(), &w.lint,
            info, 1, 1);
  else
    r.syevd(job, triangle, &n, a, &n, values, w.work.get(), &w.lwork, w.ints.get(), &w.lint, info, 1, 1);
}

/// The results of a matrix that is not finite. As in LibTorch, NaN in more than two rows is no convergence.
template <class T>
void give_up(T* matrix, int64_t n, bool upper, Real<T>* values, Int* info) {
  bool nan = false;
  for (int64_t c = 0; c < n; ++c)
    for (int64_t r = upper ? 0 : c; r < (upper ? c + 1 : n); ++r) nan |= matrix[c * n + r] != matrix[c * n + r];
  constexpr auto none = std::numeric_limits<Real<T>>::quiet_NaN();
  std::fill_n(matrix, n * n, T(none)), std::fill_n(values, n, none);
  *info = nan && n > 2 ? static_cast<Int>(n - 1) : 0;
}

/// Eigenvalues of symmetric matrices of one size, and their vectors in their place where the job is "V".
template <class T>
class SymmetricEigen {
 public:
  SymmetricEigen(const char* job, bool upper, Int n)
      : routines_(routines<T>("linalg.eigh")), job_(job), upper_(upper), n_(n) {}
  void operator()(T* matrix, Real<T>* values, Int* info) {
    if (by_own_loops(matrix, values)) {
      *info = 0;
      return;
    }
    if (work_.lwork < 0) {
      Int unused;
      syevd(routines_, job_, upper_, n_, static_cast<T*>(nullptr), static_cast<Real<T>*>(nullptr), work_, &unused);
      work_.make(0, 0);
    }
    syevd(routines_, job_, upper_, n_, matrix, values, work_, info);
  }

 private:
  bool by_own_loops(T* matrix, Real<T>* values) const {
    if constexpr (kIsComplex<T>)
      return false;
    else
      return n_ <= kLargestOwnEigh && own_loops<T>().eigh(n_, matrix, upper_, *job_ == 'V', values);
  }

  const Routines<T>& routines_;
  const char* const job_;
  const bool upper_;
  const Int n_;
  Work<T> work_;
};

void eigh(const Tensor& a, bool upper, const Tensor& values, const Tensor& vectors, const Tensor& info) {
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const Stack<T> from(a);
    const Int n = static_cast<Int>(from.rows);
    each_range(from.count, int64_t{n} * n * n * 4 + 1000, [&](int64_t first, int64_t last) {
      SymmetricEigen<T> eigen(vectors.defined() ? "V" : "N", upper, n);
      const bool copied = !vectors.defined() || kReadsBeyond<T>;
      auto space = copied ? matrix_room<T>(n, n) : nullptr;
      for (int64_t i = first; i < last; ++i) {
        T* matrix = copied ? space.get() : Stack<T>(vectors).at(i);
        Real<T>* out = elements<Real<T>>(values) + i * n;
        Int& state = elements<int32_t>(info)[i];
        from.pack(i, matrix);
        if (not_finite(matrix, n, upper) == 0) {
          eigen(matrix, out, &state);
        } else {
          give_up(matrix, n, upper, out, &state);
        }
        if (copied && vectors.defined()) std::copy_n(matrix, int64_t{n} * n, Stack<T>(vectors).at(i));
      }
    });
  });
}

HB_REGISTER_CPU(eigh_kernel, eigh);

}  // namespace
}  // namespace hb::cpu::lapack
