// Linear algebra of well-conditioned matrices, and Fourier transforms.
#include "calls.h"

using random_calls::Inputs;
using random_calls::joined;
using random_calls::Shape;
using random_calls::Tensors;
using torch::Tensor;

namespace {

/// None, one or two dimensions of matrices.
Shape stack(Inputs& in) { return in.numbers(in.one_of(3) ? in.between(1, 2) : 0, 1, 3); }

/// f64, now and then complex: in f32 the libraries' rounding errors differ too much to be compared.
void full(Inputs& in) {
  in.dtype = in.one_of(3) ? torch::kComplexDouble : torch::kDouble;
  in.repeats = false;
}

Tensor general(Inputs& in, const Shape& batch, int64_t rows, int64_t columns) {
  return in.tensor(joined(batch, {rows, columns}));
}
Tensor general_square(Inputs& in, const Shape& batch, int64_t n) { return general(in, batch, n, n); }
/// With a large diagonal.
Tensor regular(Inputs& in, const Shape& batch, int64_t n) {
  return general(in, batch, n, n) + 9 * torch::eye(n, torch::TensorOptions(in.dtype));
}
Tensor hermitian(Inputs& in, const Shape& batch, int64_t n) {
  const Tensor a = general(in, batch, n, n);
  return a + a.mH();
}
Tensor positive(Inputs& in, const Shape& batch, int64_t n) {
  const Tensor a = general(in, batch, n, n);
  return torch::matmul(a, a.mH()) + torch::eye(n, torch::TensorOptions(in.dtype));
}

/// f(matrix) of a matrix, or a stack of them, that `make` makes.
template <class Make, class Function>
Tensors of(Inputs& in, Make make, Function f) {
  full(in);
  const Shape batch = stack(in);
  return random_calls::results(f(make(in, batch, in.between(1, 4))));
}

Tensor tall_or_wide(Inputs& in, const Shape& batch, int64_t n) { return general(in, batch, n, in.between(1, 4)); }

template <class Make, class Function>
Tensor solved(Inputs& in, Make make, Function f) {
  full(in);
  const Shape batch = stack(in);
  const int64_t n = in.between(1, 4);
  const Tensor a = make(in, batch, n), b = general(in, batch, n, in.between(1, 3));
  return f(a, b);
}

Tensor left_or_right(Inputs& in) {
  full(in);
  const bool left = in.coin(), upper = in.coin(), unit = in.coin();
  const int64_t n = in.between(1, 4), k = in.between(1, 3);
  const Tensor a = regular(in, {}, n), b = left ? general(in, {}, n, k) : general(in, {}, k, n);
  return torch::linalg_solve_triangular(a, b, upper, left, unit);
}

/// What the factors make again: they themselves are defined up to signs.
Tensor again(const std::tuple<Tensor, Tensor>& factors) {
  return torch::matmul(std::get<0>(factors), std::get<1>(factors));
}
Tensor again(const std::tuple<Tensor, Tensor, Tensor>& factors) {
  const auto& [u, s, v] = factors;
  return torch::matmul(u * s.to(u.scalar_type()).unsqueeze(-2), v);
}

Tensor cross(Inputs& in) {
  full(in);
  const Shape batch = stack(in);
  const Shape shape = joined(batch, {3});
  const Tensor x = in.tensor(shape), y = in.tensor(shape);
  return torch::linalg_cross(x, y);
}

Tensor chain(Inputs& in) {
  full(in);
  const Shape sizes = in.numbers(5, 1, 4);
  std::vector<Tensor> all;
  for (int64_t i = 0; i < in.between(2, 4); ++i) all.push_back(general(in, {}, sizes[i], sizes[i + 1]));
  return torch::linalg_multi_dot(all);
}

Tensor einsum(Inputs& in) {
  const Shape n = in.numbers(4, 1, 4);  // i, j, k, b
  const Tensor a = in.tensor({n[3], n[0], n[1]}), b = in.tensor({n[3], n[1], n[2]});
  const std::string out = in.of<std::string>({"bik", "bki", "ik", "bj", "kib", "", "b", "j", "ijk", "bijk"});
  return torch::einsum("bij,bjk->" + out, {a, b});
}

Tensor tensordot(Inputs& in) {
  const Shape n = in.numbers(4, 1, 4);
  const Tensor a = in.tensor({n[0], n[1], n[2]}), b = in.tensor({n[2], n[3], n[1]});
  return torch::tensordot(a, b, {2, 1}, {0, 2});
}

template <class Function>
Tensor added(Inputs& in, bool batched, Function f) {
  const Shape n = in.numbers(4, 1, 5);
  const Shape batch = batched ? Shape{n[3]} : Shape{};
  const Tensor a = general(in, batch, n[0], n[1]), b = general(in, batch, n[1], n[2]);
  const Tensor c = in.tensor(in.of<Shape>({joined(batch, {n[0], n[2]}), {n[2]}, {1, n[2]}, {}, {n[0], 1}}));
  return f(c, a, b, 0.5 * in.between(-1, 2), 0.5 * in.between(-1, 2));
}

const std::vector<std::optional<c10::string_view>> kNorms = {std::nullopt, "forward", "backward", "ortho"};

struct Transform {
  Tensor x;
  int64_t dim;
  std::optional<int64_t> n;
  std::optional<c10::string_view> norm;
};
Transform transform(Inputs& in, bool complex_numbers) {
  in.dtype = complex_numbers ? in.of<torch::ScalarType>({torch::kComplexFloat, torch::kComplexDouble})
                             : in.of<torch::ScalarType>({torch::kFloat, torch::kDouble});
  const int64_t dims = in.between(1, 3);
  Transform t;
  t.x = in.tensor(in.numbers(dims, 2, 6));
  t.dim = in.between(-dims, dims - 1);
  if (in.coin()) t.n = in.between(2, 8);
  t.norm = in.of(kNorms);
  return t;
}
template <class Function>
Tensor transformed(Inputs& in, bool complex_numbers, Function f) {
  const Transform t = transform(in, complex_numbers);
  return f(t.x, t.n, t.dim, t.norm);
}
template <class Function>
Tensor transformed_all(Inputs& in, bool complex_numbers, Function f) {
  const Transform t = transform(in, complex_numbers);
  std::optional<Shape> dims;
  if (in.coin()) dims = Shape{t.dim};
  std::optional<Shape> sizes;
  if (dims && t.n) sizes = Shape{*t.n};
  return f(t.x, sizes ? at::OptionalIntArrayRef(*sizes) : at::OptionalIntArrayRef(),
           dims ? at::OptionalIntArrayRef(*dims) : at::OptionalIntArrayRef(), t.norm);
}

Tensor stft(Inputs& in, bool back) {
  in.full_precision();
  const int64_t n = 2 * in.between(2, 4);
  const Tensor x = in.tensor({in.between(1, 2), 20});
  const Tensor window = in.coin() ? torch::hann_window(n, torch::TensorOptions(in.dtype)) + 0.2 : Tensor();
  const bool normalized = in.coin(), onesided = in.coin();
  const Tensor s = torch::stft(x, n, n / 2, n, window, true, "reflect", normalized, onesided, true);
  return back ? torch::istft(s, n, n / 2, n, window, true, normalized, onesided) : s;
}

}  // namespace

DRAWN(of(in, regular, [](auto a) { return torch::linalg_inv(a); }))
DRAWN(of(in, regular, [](auto a) { return torch::linalg_det(a); }))
DRAWN(of(in, regular, [](auto a) { return torch::linalg_slogdet(a); }))
DRAWN(of(in, tall_or_wide, [](auto a) { return torch::linalg_lu(a); }))
DRAWN(of(in, tall_or_wide, [](auto a) { return torch::linalg_lu_factor(a); }))
DRAWN(of(in, tall_or_wide, [](auto a) { return again(torch::linalg_qr(a)); }))
DRAWN(of(in, tall_or_wide, [](auto a) { return torch::linalg_svdvals(a); }))
DRAWN(of(in, tall_or_wide, [](auto a) { return again(torch::linalg_svd(a, false)); }))
DRAWN(of(in, tall_or_wide, [](auto a) { return torch::linalg_pinv(a, 1e-3); }))
DRAWN(of(in, tall_or_wide, [](auto a) { return torch::linalg_matrix_rank(a, 0.1); }))
DRAWN(of(in, tall_or_wide, [&](auto a) {
  return torch::linalg_matrix_norm(a, in.between(-2, 2), {-2, -1}, in.coin());
}))
DRAWN(of(in, tall_or_wide, [&](auto a) {
  return torch::linalg_matrix_norm(a, in.of<std::string>({"fro", "nuc"}), {-2, -1}, in.coin());
}))
DRAWN(of(in, tall_or_wide, [](auto a) { return torch::linalg_cond(a, 2); }))
DRAWN(of(in, hermitian, [](auto a) { return torch::linalg_eigvalsh(a); }))
DRAWN(of(in, hermitian, [](auto a) {
  const auto [values, vectors] = torch::linalg_eigh(a);
  return torch::matmul(vectors * values.unsqueeze(-2), vectors.mH());
}))
DRAWN(of(in, positive, [&](auto a) { return torch::linalg_cholesky(a, in.coin()); }))
DRAWN(of(in, positive, [](auto a) { return torch::cholesky_inverse(torch::linalg_cholesky(a)); }))
DRAWN(of(in, regular, [](auto a) { return torch::linalg_matrix_exp(a * 0.1); }))
DRAWN(of(in, regular, [&](auto a) { return torch::linalg_matrix_power(a, in.between(-3, 4)); }))
DRAWN(of(in, general_square, [](auto a) { return std::get<0>(torch::linalg_eig(a)).abs().sum(-1); }))
DRAWN(of(in, general_square, [&](auto a) { return torch::linalg_diagonal(a, in.between(-2, 2)); }))
DRAWN(solved(in, regular, [](auto& a, auto& b) { return torch::linalg_solve(a, b); }))
DRAWN(solved(in, regular, [](auto& a, auto& b) {
  const auto [lu, pivots] = torch::linalg_lu_factor(a);
  return torch::linalg_lu_solve(lu, pivots, b);
}))
DRAWN(solved(in, positive, [&](auto& a, auto& b) {
  const bool upper = in.coin();
  return torch::cholesky_solve(b, torch::linalg_cholesky(a, upper), upper);
}))
DRAWN(solved(in, regular, [](auto& a, auto& b) { return std::get<0>(torch::linalg_lstsq(a, b)); }))
DRAWN(solved(in, regular, [&](auto& a, auto& b) {
  return std::get<0>(torch::triangular_solve(b, a, in.coin(), in.coin(), in.coin()));
}))
DRAWN(solved(in, positive, [](auto& a, auto& b) {
  return torch::linalg_ldl_solve(std::get<0>(torch::linalg_ldl_factor(a)), std::get<1>(torch::linalg_ldl_factor(a)), b);
}))
DRAWN(left_or_right(in))
DRAWN(cross(in))
DRAWN(chain(in))
DRAWN(einsum(in))
DRAWN(tensordot(in))
DRAWN(added(in, false,
            [](auto& c, auto& a, auto& b, double beta, double alpha) { return torch::addmm(c, a, b, beta, alpha); }))
DRAWN(added(in, true,
            [](auto& c, auto& a, auto& b, double beta, double alpha) { return torch::baddbmm(c, a, b, beta, alpha); }))
DRAWN(added(in, true,
            [](auto& c, auto& a, auto& b, double beta, double alpha) { return torch::addbmm(c, a, b, beta, alpha); }))
DRAWN(transformed(in, true, [](auto&... args) { return torch::fft_fft(args...); }))
DRAWN(transformed(in, false, [](auto&... args) { return torch::fft_fft(args...); }))
DRAWN(transformed(in, true, [](auto&... args) { return torch::fft_ifft(args...); }))
DRAWN(transformed(in, false, [](auto&... args) { return torch::fft_rfft(args...); }))
DRAWN(transformed(in, true, [](auto&... args) { return torch::fft_irfft(args...); }))
DRAWN(transformed(in, true, [](auto&... args) { return torch::fft_hfft(args...); }))
DRAWN(transformed(in, false, [](auto&... args) { return torch::fft_ihfft(args...); }))
DRAWN(transformed_all(in, true, [](auto x, auto s, auto d, auto norm) { return torch::fft_fftn(x, s, d, norm); }))
DRAWN(transformed_all(in, true, [](auto x, auto s, auto d, auto norm) { return torch::fft_ifftn(x, s, d, norm); }))
DRAWN(transformed_all(in, false, [](auto x, auto s, auto d, auto norm) { return torch::fft_rfftn(x, s, d, norm); }))
DRAWN(transformed_all(in, true, [](auto x, auto s, auto d, auto norm) { return torch::fft_irfftn(x, s, d, norm); }))
DRAWN(stft(in, false))
DRAWN(stft(in, true))
