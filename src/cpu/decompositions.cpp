#include "backend/decompositions.h"

#include <algorithm>
#include <vector>

#include "cpu/dense_matrix.h"
#include "cpu/parallel.h"

namespace hb::cpu {

namespace {

/// One matrix of a batch, in double: what is computed in double needs no second set of algorithms, and is
/// exact enough for float.
class Matrix {
 public:
  Matrix(const Tensor& t, int64_t index) : t_(t), count_(t.numel() / t.size(0)), offset_(index * count_) {
    if (t.scalar_type() == kDouble) {
      data_ = t.data_ptr<double>() + offset_;
    } else {
      copy_.assign(t.data_ptr<float>() + offset_, t.data_ptr<float>() + offset_ + count_);
      data_ = copy_.data();
    }
  }
  double* data() { return data_; }
  int64_t count() const { return count_; }
  /// Writes the values back to the tensor.
  void store() {
    if (t_.scalar_type() == kFloat) std::copy(copy_.begin(), copy_.end(), t_.data_ptr<float>() + offset_);
  }

 private:
  const Tensor& t_;
  int64_t count_, offset_;
  std::vector<double> copy_;
  double* data_;
};

template <typename F>
void each_matrix(const Tensor& batch, F f) {
  parallel_for(0, batch.size(0), 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) f(i);
  });
}

void qr(const Tensor& a, const Tensor& q, const Tensor& r) {
  const int64_t m = a.size(1), n = a.size(2), reflectors = std::min(m, n);
  const int64_t columns = q.size(2), rows = r.size(1);
  each_matrix(a, [&](int64_t i) {
    Matrix input(a, i), qi(q, i), ri(r, i);
    std::vector<double> work(input.data(), input.data() + m * n), tau(reflectors);
    dense::qr_in_place(work.data(), m, n, tau.data());
    dense::form_q(work.data(), m, n, tau.data(), reflectors, qi.data(), columns);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < n; ++column)
        ri.data()[row * n + column] = row <= column ? work[row * n + column] : 0.0;
    qi.store();
    ri.store();
  });
}

void lu(const Tensor& a, const Tensor& pivots, const Tensor& info) {
  const int64_t n = a.size(1);
  each_matrix(a, [&](int64_t i) {
    Matrix ai(a, i);
    info.data_ptr<int64_t>()[i] = dense::lu_in_place(ai.data(), n, pivots.data_ptr<int64_t>() + i * n);
    ai.store();
  });
}

void lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& x) {
  const int64_t n = lu.size(1);
  each_matrix(lu, [&](int64_t i) {
    Matrix factors(lu, i), xi(x, i);
    dense::lu_solve(factors.data(), n, pivots.data_ptr<int64_t>() + i * n, xi.data(), x.size(2));
    xi.store();
  });
}

void cholesky(const Tensor& a, const Tensor& info) {
  each_matrix(a, [&](int64_t i) {
    Matrix ai(a, i);
    info.data_ptr<int64_t>()[i] = dense::cholesky_in_place(ai.data(), a.size(1));
    ai.store();
  });
}

void eigh(const Tensor& a, const Tensor& values) {
  each_matrix(a, [&](int64_t i) {
    Matrix ai(a, i), vi(values, i);
    dense::symmetric_eigen(ai.data(), a.size(1), vi.data());
    ai.store();
    vi.store();
  });
}

void eig(const Tensor& a, bool real, const Tensor& values, const Tensor& vectors, const Tensor& info) {
  const int64_t n = a.size(1);
  each_matrix(a, [&](int64_t i) {
    auto* ai = a.data_ptr<Complex<double>>() + i * n * n;
    info.data_ptr<int64_t>()[i] = !dense::general_eigen(ai, n, real, values.data_ptr<Complex<double>>() + i * n,
                                                        vectors.data_ptr<Complex<double>>() + i * n * n);
  });
}

void svd(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& v) {
  each_matrix(a, [&](int64_t i) {
    Matrix ai(a, i), ui(u, i), si(s, i), vi(v, i);
    dense::svd(ai.data(), a.size(1), a.size(2), ui.data(), si.data(), vi.data());
    ui.store();
    si.store();
    vi.store();
  });
}

HB_REGISTER_CPU(qr_kernel, qr);
HB_REGISTER_CPU(lu_kernel, lu);
HB_REGISTER_CPU(lu_solve_kernel, lu_solve);
HB_REGISTER_CPU(cholesky_kernel, cholesky);
HB_REGISTER_CPU(eigh_kernel, eigh);
HB_REGISTER_CPU(eig_kernel, eig);
HB_REGISTER_CPU(svd_kernel, svd);

}  // namespace

}  // namespace hb::cpu
