// Eigenvalues of any matrix, singular values, least squares.

#include "backend/decompositions.h"
#include "cpu/lapack/work.h"

namespace hb::cpu::lapack {
namespace {

/// Columns of real parts, with those of imaginary parts beside them where values come in pairs, as complex columns.
template <class R>
void pair_columns(const R* packed, const R* imaginary, int64_t n, Complex<R>* out) {
  for (int64_t c = 0; c < n; ++c) {
    const R* re = packed + c * n;
    if (imaginary[c] == 0 || c + 1 == n) {
      for (int64_t i = 0; i < n; ++i) out[c * n + i] = {re[i], R(0)};
      continue;
    }
    const R* im = re + n;
    for (int64_t i = 0; i < n; ++i) out[c * n + i] = {re[i], im[i]}, out[(c + 1) * n + i] = {re[i], -im[i]};
    ++c;
  }
}

template <class T>
class Eigen {
 public:
  Eigen(int64_t n, bool wanted)
      : n_(static_cast<Int>(n)),
        job_(wanted ? "V" : "N"),
        matrix_(matrix_room<T>(n, n)),
        packed_(matrix_room<T>(wanted ? n : 0, n)),
        parts_(room<Real<T>>(2 * n)) {
    Int unused;
    run(nullptr, &unused);
    work_.make(2 * n, 0);
  }
  void operator()(const Stack<T>& a, int64_t i, Complex<Real<T>>* values, Complex<Real<T>>* vectors, Int* info) {
    a.pack(i, matrix_.get());
    run(values, info);
    if constexpr (kIsComplex<T>) {
      if (vectors) std::copy_n(packed_.get(), int64_t{n_} * n_, vectors);
    } else {
      for (Int k = 0; k < n_; ++k) values[k] = {parts_[k], parts_[n_ + k]};
      if (vectors) pair_columns(packed_.get(), parts_.get() + n_, n_, vectors);
    }
  }

 private:
  void run(Complex<Real<T>>* values, Int* info) {
    const auto& r = routines<T>("linalg.eig");
    const Int one = 1;
    T none;
    if constexpr (kIsComplex<T>)
      r.geev("N", job_, &n_, matrix_.get(), &n_, values, &none, &one, packed_.get(), &n_, work_.work.get(),
             &work_.lwork, work_.real.get(), info, 1, 1);
    else
      r.geev("N", job_, &n_, matrix_.get(), &n_, parts_.get(), parts_.get() + n_, &none, &one, packed_.get(), &n_,
             work_.work.get(), &work_.lwork, info, 1, 1);
  }
  Int n_;
  const char* job_;
  std::unique_ptr<T[]> matrix_, packed_;
  std::unique_ptr<Real<T>[]> parts_;
  Work<T> work_;
};

void eig(const Tensor& a, const Tensor& values, const Tensor& vectors, const Tensor& info) {
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    using C = Complex<Real<T>>;
    const Stack<T> from(a);
    const int64_t n = from.rows;
    each_range(from.count, n * n * n * 10 + 1000, [&](int64_t first, int64_t last) {
      Eigen<T> eigen(n, vectors.defined());
      for (int64_t i = first; i < last; ++i)
        eigen(from, i, elements<C>(values) + i * n, vectors.defined() ? Stack<C>(vectors).at(i) : nullptr,
              elements<int32_t>(info) + i);
    });
  });
}

template <class T>
void gesdd(const Routines<T>& r, const char* job, Int m, Int n, T* a, Real<T>* s, T* u, T* vh, Int vh_rows, Work<T>& w,
           Int* info) {
  if constexpr (kIsComplex<T>)
    r.gesdd(job, &m, &n, a, &m, s, u, &m, vh, &vh_rows, w.work.get(), &w.lwork, w.real.get(), w.ints.get(), info, 1);
  else
    r.gesdd(job, &m, &n, a, &m, s, u, &m, vh, &vh_rows, w.work.get(), &w.lwork, w.ints.get(), info, 1);
}

void svd(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& info) {
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const auto& r = routines<T>("linalg.svd");
    const Stack<T> from(a);
    const Int m = static_cast<Int>(from.rows), n = static_cast<Int>(from.columns);
    const int64_t k = std::min(m, n), most = std::max(m, n);
    const char* job = !u.defined() ? "N" : u.size(2) == k && vh.size(1) == k ? "S" : "A";
    const Int vh_rows = static_cast<Int>(vh.defined() ? vh.size(1) : 1);
    const int64_t reals = !kIsComplex<T> ? 0 : u.defined() ? k * std::max(5 * k + 7, 2 * most + 2 * k + 1) : 7 * k;
    each_range(from.count, k * k * most * 4 + 1000, [&](int64_t first, int64_t last) {
      Work<T> w;
      Int unused;
      T* const none = nullptr;
      gesdd(r, job, m, n, none, static_cast<Real<T>*>(nullptr), none, none, vh_rows, w, &unused);
      w.make(reals, 8 * k);
      auto matrix = matrix_room<T>(m, n);
      for (int64_t i = first; i < last; ++i) {
        from.pack(i, matrix.get());
        Real<T>* values = elements<Real<T>>(s) + i * k;
        Int* state = elements<int32_t>(info) + i;
        if (!u.defined()) {
          gesdd(r, job, m, n, matrix.get(), values, none, none, vh_rows, w, state);
          continue;
        }
        const Written<T> left(Stack<T>(u), i), right(Stack<T>(vh), i);
        gesdd(r, job, m, n, matrix.get(), values, left.data(), right.data(), vh_rows, w, state);
      }
    });
  });
}

/// One call of a driver; its workspaces are in w.
template <class T>
struct Solver {
  const Routines<T>& r;
  LeastSquares driver;
  Int m, n, columns, leading;
  Real<T> rcond;

  void operator()(T* a, T* x, Real<T>* values, Int* jpvt, Int* rank, Work<T>& w, Int* info) const {
    T* work = w.work.get();
    Real<T>* real = w.real.get();
    (void)real;
    if (driver == LeastSquares::gels) return r.gels("N", &m, &n, &columns, a, &m, x, &leading, work, &w.lwork, info, 1);
    if constexpr (kIsComplex<T>) {
      if (driver == LeastSquares::gelsy)
        return r.gelsy(&m, &n, &columns, a, &m, x, &leading, jpvt, &rcond, rank, work, &w.lwork, real, info);
      if (driver == LeastSquares::gelsd)
        return r.gelsd(&m, &n, &columns, a, &m, x, &leading, values, &rcond, rank, work, &w.lwork, real, w.ints.get(),
                       info);
      r.gelss(&m, &n, &columns, a, &m, x, &leading, values, &rcond, rank, work, &w.lwork, real, info);
    } else {
      if (driver == LeastSquares::gelsy)
        return r.gelsy(&m, &n, &columns, a, &m, x, &leading, jpvt, &rcond, rank, work, &w.lwork, info);
      if (driver == LeastSquares::gelsd)
        return r.gelsd(&m, &n, &columns, a, &m, x, &leading, values, &rcond, rank, work, &w.lwork, w.ints.get(), info);
      r.gelss(&m, &n, &columns, a, &m, x, &leading, values, &rcond, rank, work, &w.lwork, info);
    }
  }
};

void least_squares(const Tensor& a, const Tensor& x, LeastSquares driver, double rcond, const Tensor& rank,
                   const Tensor& values, const Tensor& info) {
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const Stack<T> from(a), to(x);
    const Int m = static_cast<Int>(from.rows), n = static_cast<Int>(from.columns);
    const int64_t k = std::min(m, n);
    const Solver<T> solve{
        routines<T>("linalg.lstsq"), driver, m, n, static_cast<Int>(to.columns), static_cast<Int>(to.rows),
        static_cast<Real<T>>(rcond)};
    each_range(from.count, k * m * n * 2 + 1000, [&](int64_t first, int64_t last) {
      Work<T> w;
      auto matrix = matrix_room<T>(m, n);
      auto s = room<Real<T>>(k);
      auto columns = room<Int>(n);
      Int found = 0, unused;
      solve(matrix.get(), to.data, s.get(), columns.get(), &found, w, &unused);
      w.make(std::max<int64_t>(5 * k, 2 * n), 0);
      for (int64_t i = first; i < last; ++i) {
        from.pack(i, matrix.get());
        std::fill_n(columns.get(), n, 0);  // all may be exchanged
        const Written<T> out(to, i);
        to.pack(i, out.data());
        solve(matrix.get(), out.data(), s.get(), columns.get(), &found, w, elements<int32_t>(info) + i);
        elements<int64_t>(rank)[i] = found;
        std::copy_n(s.get(), k, elements<Real<T>>(values) + i * k);
      }
    });
  });
}

HB_REGISTER_CPU(eig_kernel, eig);
HB_REGISTER_CPU(svd_kernel, svd);
HB_REGISTER_CPU(least_squares_kernel, least_squares);

}  // namespace
}  // namespace hb::cpu::lapack
