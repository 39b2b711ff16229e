// QR and products of Householder reflections.
#include "backend/decompositions.h"
#include "cpu/lapack/own_loops.h"
#include "cpu/lapack/stack.h"

namespace hb::cpu::lapack {
namespace {

/// The workspace that geqrf wants for a matrix (m, n).
template <class T>
Int geqrf_room(const Routines<T>& r, Int m, Int n) {
  const Int ask = -1;
  Int info;
  T answer, none;
  r.geqrf(&m, &n, &none, &m, &none, &answer, &ask, &info);
  return asked(answer);
}
template <class T>
Int orgqr_room(const Routines<T>& r, Int m, Int columns, Int reflections) {
  const Int ask = -1;
  Int info;
  T answer, none;
  r.orgqr(&m, &columns, &reflections, &none, &m, &none, &answer, &ask, &info);
  return asked(answer);
}

/// The first `columns` columns of Q in q (m, columns), in whose first columns the reflections are.
template <class T>
void form_q(const Routines<T>& r, Int m, Int columns, Int reflections, T* q, const T* tau, T* work, Int room) {
  if constexpr (!kIsComplex<T>)
    if (m <= kLargestOwnQr) return own_loops<T>().form_q(m, columns, reflections, q, tau);
  Int info;
  r.orgqr(&m, &columns, &reflections, q, &m, tau, work, &room, &info);
}

/// Reflections and R by our own loops, if the matrix is one for them.
template <class T>
bool own_qr(const Stack<T>& from, int64_t i, T* factored, T* tau) {
  if constexpr (!kIsComplex<T>) {
    if (std::max(from.rows, from.columns) > kLargestOwnQr) return false;
    from.pack(i, factored);
    return own_loops<T>().qr(from.rows, from.columns, factored, tau);
  }
  return false;
}

void qr(const Tensor& a, const Tensor& q, const Tensor& r_out) {
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const auto& r = routines<T>("linalg.qr");
    const Stack<T> from(a), upper(r_out);
    const Int m = static_cast<Int>(from.rows), n = static_cast<Int>(from.columns), k = std::min(m, n);
    const Int columns = q.defined() ? static_cast<Int>(q.size(2)) : 0;
    const Int lwork = std::max(geqrf_room(r, m, n), columns ? orgqr_room(r, m, columns, k) : 0);
    each_range(from.count, int64_t{k} * m * n, [&](int64_t first, int64_t last) {
      auto factored = matrix_room<T>(m, n), tau = room<T>(k), work = room<T>(lwork);
      for (int64_t i = first; i < last; ++i) {
        if (!own_qr(from, i, factored.get(), tau.get())) {
          Int info;
          from.pack(i, factored.get());
          r.geqrf(&m, &n, factored.get(), &m, tau.get(), work.get(), &lwork, &info);
        }
        T* to = upper.at(i);
        for (int64_t c = 0; c < n; ++c) {
          const int64_t filled = std::min<int64_t>(c + 1, upper.rows);
          std::copy_n(factored.get() + c * m, filled, to + c * upper.rows);
          std::fill(to + c * upper.rows + filled, to + (c + 1) * upper.rows, T(0));
        }
        if (!columns) continue;
        const Written<T> vectors(Stack<T>(q), i);
        std::copy_n(factored.get(), int64_t{m} * k, vectors.data());
        form_q(r, m, columns, k, vectors.data(), tau.get(), work.get(), lwork);
      }
    });
  });
}

void geqrf(const Tensor& a, const Tensor& reflections, const Tensor& tau) {
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const auto& r = routines<T>("geqrf");
    const Stack<T> from(a), to(reflections);
    const Int m = static_cast<Int>(to.rows), n = static_cast<Int>(to.columns), lwork = geqrf_room(r, m, n);
    const int64_t k = std::min(m, n);
    each_range(to.count, k * m * n, [&](int64_t first, int64_t last) {
      auto work = room<T>(lwork);
      for (int64_t i = first; i < last; ++i) {
        Int info;
        const Written<T> out(to, i);
        from.pack(i, out.data());
        r.geqrf(&m, &n, out.data(), &m, elements<T>(tau) + i * k, work.get(), &lwork, &info);
      }
    });
  });
}

void householder(const Tensor& reflections, const Tensor& tau, const Tensor& q) {
  with_matrix_type(q, [&](auto zero) {
    using T = decltype(zero);
    const auto& r = routines<T>("linalg.householder_product");
    const Stack<T> from(reflections), to(q);
    const Int m = static_cast<Int>(to.rows), n = static_cast<Int>(to.columns), k = static_cast<Int>(tau.size(1));
    const Int lwork = orgqr_room(r, m, n, k);
    each_range(to.count, int64_t{k} * m * n, [&](int64_t first, int64_t last) {
      auto work = room<T>(lwork);
      for (int64_t i = first; i < last; ++i) {
        const Written<T> out(to, i);
        from.pack(i, out.data());
        form_q(r, m, n, k, out.data(), elements<T>(tau) + i * k, work.get(), lwork);
      }
    });
  });
}

void ormqr(const Tensor& reflections, const Tensor& tau, const Tensor& c, const Tensor& out, bool left, bool adjoint) {
  with_matrix_type(out, [&](auto zero) {
    using T = decltype(zero);
    const auto& r = routines<T>("ormqr");
    const Stack<T> vectors(reflections), from(c), to(out);
    const char *side = left ? "L" : "R", *form = !adjoint ? "N" : kIsComplex<T> ? "C" : "T";
    const Int m = static_cast<Int>(to.rows), n = static_cast<Int>(to.columns), k = static_cast<Int>(tau.size(1)),
              order = static_cast<Int>(vectors.rows), ask = -1;
    Int info;
    T answer, none;
    r.ormqr(side, form, &m, &n, &k, &none, &order, &none, &none, &m, &answer, &ask, &info, 1, 1);
    const Int lwork = asked(answer);
    each_range(to.count, int64_t{k} * m * n * 2, [&](int64_t first, int64_t last) {
      auto work = room<T>(lwork);
      std::unique_ptr<T[]> space;
      for (int64_t i = first; i < last; ++i) {
        const Readable<T> v(vectors, i, space);
        const Written<T> out(to, i);
        Int failed;
        from.pack(i, out.data());
        r.ormqr(side, form, &m, &n, &k, v.data, &v.leading, elements<T>(tau) + i * k, out.data(), &m, work.get(),
                &lwork, &failed, 1, 1);
      }
    });
  });
}

HB_REGISTER_CPU(qr_kernel, qr);
HB_REGISTER_CPU(geqrf_kernel, geqrf);
HB_REGISTER_CPU(householder_kernel, householder);
HB_REGISTER_CPU(ormqr_kernel, ormqr);

}  // namespace
}  // namespace hb::cpu::lapack
