// Products, distances, decompositions and transforms.
#include <halfbridge/bridge/underscored.h>

#include <halfbridge/ops.h>

namespace hb::bridge {
inline namespace api {

namespace {
void check_add_relu(ScalarType dtype) {
  HB_CHECK(dtype == kFloat || dtype == kDouble || is_integral_type(dtype, /*includeBool=*/false),
           "[_add_relu] Unsupported datatype for add_relu: ", dtype);
}
}  // namespace
Tensor _add_relu(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  check_add_relu(result_type(self, other));
  return relu(add(self, other, alpha));
}
Tensor _add_relu(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  check_add_relu(result_type(self, other));
  return relu(add(self, other, alpha));
}
Tensor& _add_relu_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  check_add_relu(result_type(self, other));
  return self.add_(other, alpha).relu_();
}
Tensor& _add_relu_(Tensor& self, const Scalar& other, const Scalar& alpha) {
  check_add_relu(result_type(self, other));
  return self.add_(other, alpha).relu_();
}
Tensor _linalg_eigvals(const Tensor& self) { return linalg_eigvals(self); }
Tensor _compute_linear_combination(const Tensor& input, const Tensor& coefficients) {
  HB_CHECK(input.dim() >= 1 && coefficients.dim() == 2,
           "[_compute_linear_combination] expected input (n, ...) and "
           "coefficients (m, n), got sizes ",
           input.sizes(), " and ", coefficients.sizes());
  return tensordot(coefficients, input, {1}, {0});
}
Tensor _int_mm(const Tensor& self, const Tensor& mat2) {
  HB_CHECK(self.dim() == 2, "Expected self to be of dimension 2 but got ", self.dim());
  HB_CHECK(mat2.dim() == 2, "Expected mat2 to be of dimension 2 but got ", mat2.dim());
  HB_CHECK(self.scalar_type() == kChar, "Expected self dtype to be of type int8 but got ", self.scalar_type());
  HB_CHECK(mat2.scalar_type() == kChar, "Expected mat2 dtype to be of type int8 but got ", mat2.scalar_type());
  return mm(self.to(kInt), mat2.to(kInt));
}

// |a - b|^2 = |a|^2 - 2ab + |b|^2: the product of (-2a, |a|^2, 1) and (b, 1, |b|^2).
Tensor _euclidean_dist(const Tensor& x1, const Tensor& x2) {
  const Tensor norm1 = x1.pow(2).sum(-1, true), norm2 = x2.pow(2).sum(-1, true);
  const Tensor left = cat({x1.mul(-2), norm1, ones_like(norm1)}, -1);
  const Tensor right = cat({x2, ones_like(norm2), norm2}, -1);
  return left.matmul(right.mT()).clamp_min(0).sqrt();
}

namespace {
Tensor with_dimensions(Tensor t, IntArrayRef places) {
  for (const int64_t place : places) t = t.unsqueeze(place);
  return t;
}
}  // namespace

Tensor _trilinear(const Tensor& i1, const Tensor& i2, const Tensor& i3, IntArrayRef expand1, IntArrayRef expand2,
                  IntArrayRef expand3, IntArrayRef sumdim, int64_t) {
  const Tensor product = with_dimensions(i1, expand1) * with_dimensions(i2, expand2) * with_dimensions(i3, expand3);
  return sumdim.empty() ? product : product.sum(sumdim);
}

std::tuple<Tensor, Tensor> _linalg_eigh(const Tensor& A, std::string_view UPLO, bool compute_v) {
  if (compute_v) return linalg_eigh(A, UPLO);
  return {linalg_eigvalsh(A, UPLO), empty({0}, A.options())};
}
std::tuple<Tensor, Tensor, Tensor> _linalg_svd(const Tensor& A, bool full_matrices, bool compute_uv,
                                               std::optional<std::string_view> driver) {
  if (compute_uv) return linalg_svd(A, full_matrices, driver);
  return {empty({0}, A.options()), linalg_svdvals(A, driver), empty({0}, A.options())};
}
std::tuple<Tensor, Tensor, Tensor> _lu_with_info(const Tensor& self, bool pivot, bool check_errors) {
  return linalg_lu_factor_ex(self, pivot, check_errors);
}

namespace {
// What torch::fft calls it: a transform is divided where its `norm` says so.
std::string_view norm_of(const char* name, int64_t normalization, bool forward) {
  switch (normalization) {
    case 0:
      return forward ? "backward" : "forward";
    case 1:
      return "ortho";
    case 2:
      return forward ? "forward" : "backward";
    default:
      HB_CHECK(false, "[", name, "] expected a normalization of 0, 1 or 2, got ", normalization);
  }
}
}  // namespace

Tensor _fft_c2c(const Tensor& self, IntArrayRef dim, int64_t normalization, bool forward) {
  HB_CHECK(self.is_complex(), "[_fft_c2c] expected a complex tensor, got ", self.scalar_type());
  const auto norm = norm_of("_fft_c2c", normalization, forward);
  return forward ? fft_fftn(self, std::nullopt, dim, norm) : fft_ifftn(self, std::nullopt, dim, norm);
}
Tensor _fft_r2c(const Tensor& self, IntArrayRef dim, int64_t normalization, bool onesided) {
  HB_CHECK(self.is_floating_point(), "[_fft_r2c] expected a floating-point tensor, got ", self.scalar_type());
  const auto norm = norm_of("_fft_r2c", normalization, true);
  return onesided ? fft_rfftn(self, std::nullopt, dim, norm) : fft_fftn(self, std::nullopt, dim, norm);
}
Tensor _fft_c2r(const Tensor& self, IntArrayRef dim, int64_t normalization, int64_t last_dim_size) {
  HB_CHECK(self.is_complex(), "[_fft_c2r] expected a complex tensor, got ", self.scalar_type());
  HB_CHECK(!dim.empty(), "[_fft_c2r] expected a dimension, got none");
  std::vector<int64_t> sizes;
  for (const int64_t d : dim) sizes.push_back(self.size(d));
  sizes.back() = last_dim_size;
  return fft_irfftn(self, sizes, dim, norm_of("_fft_c2r", normalization, false));
}
std::tuple<Tensor, Tensor> _aminmax(const Tensor& self) { return self.aminmax(); }
std::tuple<Tensor, Tensor> _aminmax(const Tensor& self, int64_t dim, bool keepdim) {
  return self.aminmax(dim, keepdim);
}
Tensor _logcumsumexp(const Tensor& self, int64_t dim) { return self.logcumsumexp(dim); }

}  // namespace api
}  // namespace hb::bridge
