// L D L^T of symmetric and hermitian matrices, and what is solved with it.
#include "backend/decompositions.h"
#include "cpu/lapack/stack.h"
#include "cpu/lapack/work.h"

namespace hb::cpu::lapack {
namespace {

constexpr const char* kLower = "L";

void ldl_factor(const Tensor& a, const Tensor& ld, const Tensor& pivots, bool hermitian, const Tensor& info) {
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const auto& r = routines<T>("linalg.ldl_factor");
    const auto factor = hermitian ? r.hetrf : r.sytrf;
    const Stack<T> from(a), to(ld);
    const Int n = static_cast<Int>(to.rows);
    int32_t *where = elements<int32_t>(pivots), *state = elements<int32_t>(info);
    each_range(to.count, int64_t{n} * n * n / 6, [&](int64_t first, int64_t last) {
      Work<T> w;
      Int unused_pivot, unused_info;
      T unused;
      factor(kLower, &n, &unused, &n, &unused_pivot, w.work.get(), &w.lwork, &unused_info, 1);
      w.make(0, 0);
      for (int64_t i = first; i < last; ++i) {
        const Written<T> out(to, i);
        from.pack(i, out.data());
        for (Int c = 1; c < n; ++c) std::fill_n(out.data() + int64_t{c} * n, c, T(0));  // what is above is not read
        factor(kLower, &n, out.data(), &n, where + i * n, w.work.get(), &w.lwork, state + i, 1);
      }
    });
  });
}

void ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& right, const Tensor& x, bool hermitian) {
  with_matrix_type(ld, [&](auto zero) {
    using T = decltype(zero);
    const auto& r = routines<T>("linalg.ldl_solve");
    const auto solve = hermitian ? r.hetrs : r.sytrs;
    const Stack<T> factors(ld), from(right), to(x);
    const Int n = static_cast<Int>(to.rows);
    const int32_t* const where = elements<int32_t>(pivots);
    each_block(to.count, to.columns, n * n * to.columns, [&](int64_t i, int64_t first, int64_t many) {
      std::unique_ptr<T[]> space;
      const Readable<T> f(factors, i, space);
      T* out = to.at(i) + first * n;
      from.pack(i, out, n, first, many);
      const Int columns = static_cast<Int>(many);
      Int info;
      solve(kLower, &n, &columns, f.data, &f.leading, where + i * n, out, &n, &info, 1);
    });
  });
}

HB_REGISTER_CPU(ldl_factor_kernel, ldl_factor);
HB_REGISTER_CPU(ldl_solve_kernel, ldl_solve);

}  // namespace
}  // namespace hb::cpu::lapack
