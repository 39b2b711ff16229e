#include <cmath>
#include <cstring>

#include <halfbridge/ops/factories.h>

#include "core/devices.h"
#include "core/value_range.h"

namespace hb {

namespace {
/// The larger magnitude; of two that are as large the positive one, as signed dtypes reach one further below zero.
bool is_harder(const Scalar& a, const Scalar& b) {
  const double x = a.to<double>(), y = b.to<double>();
  return std::isnan(x) || std::abs(x) > std::abs(y) || (x == -y && x > 0);
}
}  // namespace

void TensorData::copy(const void* values, size_t n, size_t itemsize, ScalarType stored) {
  is_list_ = true;
  sizes_ = {static_cast<int64_t>(n)};
  dtype_ = stored_ = stored;
  bytes_.resize(n * itemsize);
  if (n) std::memcpy(bytes_.data(), values, n * itemsize);
}

void TensorData::assemble(const TensorData* items, size_t n) {
  is_list_ = true;
  sizes_ = {static_cast<int64_t>(n)};
  if (n == 0) {
    dtype_ = stored_ = get_default_dtype();
    return;
  }
  dtype_ = items[0].dtype_;
  for (size_t i = 0; i < n; ++i) {
    HB_CHECK(items[i].sizes_ == items[0].sizes_,
             "[tensor] Expected all sub-lists to have sizes: ", IntArrayRef(items[0].sizes_), " (e.g. ",
             IntArrayRef(items[0].sizes_), "), but got sub-list with sizes: ", IntArrayRef(items[i].sizes_));
    HB_CHECK(items[i].dtype_ == dtype_,
             "[tensor] Expected all elements of the tensor to have the same scalar type: ", dtype_,
             ", but got element of scalar type: ", items[i].dtype_);
  }
  // Numbers are kept as double, integers as int64.
  stored_ = items[0].is_list_          ? items[0].stored_
            : is_complex_type(dtype_)  ? kComplexDouble
            : is_floating_type(dtype_) ? kDouble
            : dtype_ == kBool          ? kBool
                                       : kLong;
  for (size_t i = 0; i < n; ++i) {
    if (items[i].is_list_) {
      HB_CHECK(items[i].stored_ == stored_, "[tensor] expected sub-lists of one type");
      bytes_.insert(bytes_.end(), items[i].bytes_.begin(), items[i].bytes_.end());
      continue;
    }
    const size_t at = bytes_.size();
    bytes_.resize(at + element_size(stored_));
    if (stored_ == kComplexDouble) {
      const Complex<double> z = items[i].scalar_.toComplexDouble();
      std::memcpy(&bytes_[at], &z, sizeof z);
      continue;
    }
    const double d = items[i].scalar_.to<double>();
    const int64_t l = is_floating_type(dtype_) ? 0 : items[i].scalar_.to<int64_t>();
    if (stored_ == kDouble)
      std::memcpy(&bytes_[at], &d, sizeof d);
    else if (stored_ == kLong)
      std::memcpy(&bytes_[at], &l, sizeof l);
    else
      bytes_[at] = static_cast<char>(l != 0);
  }
  // Of a list, the number that is hardest to hold in another dtype.
  if (stored_ == kDouble || stored_ == kLong)
    for (size_t i = 0; i < n; ++i)
      if (is_harder(items[i].scalar_, scalar_)) scalar_ = items[i].scalar_;
  if (items[0].is_list_) sizes_.insert(sizes_.end(), items[0].sizes_.begin(), items[0].sizes_.end());
}

Tensor TensorData::to_tensor(const TensorOptions& options) const {
  const ScalarType natural = dtype_ == kDouble ? get_default_dtype().toScalarType() : dtype_;
  const TensorOptions o = options.has_dtype() ? options : options.dtype(natural);
  if (!is_list_) return full({}, scalar_, o);
  const ScalarType wanted = o.dtype().toScalarType();
  if (!is_half_type(wanted))
    check_value_fits("tensor", wanted, scalar_);  // too large a half is infinite, as LibTorch's
  const Tensor raw = from_blob(const_cast<char*>(bytes_.data()), sizes_, TensorOptions().dtype(stored_));
  const TensorOptions plain = TensorOptions().dtype(o.dtype()).device(detail::device_for(o));
  Tensor out = raw.to(plain, false, true);
  if (o.requires_grad()) out.requires_grad_(true);
  return out;
}

}  // namespace hb
