#include "cpu/rows.h"
#include "kernels/rows.h"

namespace hb::cpu {
namespace {

template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, double>;

template <class T>
void scan_row(const T* in, T* out, int64_t n, Scan scan) {
  Sum<T> total = scan == Scan::prod ? 1 : 0;
  if (scan == Scan::sum) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(total += static_cast<Sum<T>>(in[i]));
  } else if (scan == Scan::prod) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(total *= static_cast<Sum<T>>(in[i]));
  } else if constexpr (!std::is_integral_v<T>) {
    double log_sum = -INFINITY;
    for (int64_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(in[i]), high = std::max(x, log_sum), low = std::min(x, log_sum);
      log_sum = std::isnan(x) || std::isnan(log_sum) ? NAN
                : low == -INFINITY || high == INFINITY ? high
                                                       : high + std::log1p(std::exp(low - high));
      out[i] = static_cast<T>(log_sum);
    }
  }
}

void scan_cpu(Tensor& out, const Tensor& in, Scan scan) {
  const Rows rows = rows_of(in);
  with_type("cumsum", in.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = in.data_ptr<T>();
    T* to = out.data_ptr<T>();
    for_rows(rows, [&](int64_t r) { scan_row(from + r * rows.length, to + r * rows.length, rows.length, scan); });
  });
}

void running_extremum_cpu(Tensor& values, Tensor& indices, const Tensor& in, bool largest) {
  const Rows rows = rows_of(in);
  with_type("cummax", in.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    for_rows(rows, [&](int64_t r) {
      const T* from = in.data_ptr<T>() + r * rows.length;
      T* best = values.data_ptr<T>() + r * rows.length;
      int64_t* where = indices.data_ptr<int64_t>() + r * rows.length;
      int64_t at = 0;
      for (int64_t i = 0; i < rows.length; ++i) {
        const bool better = largest ? widened(from[i]) >= widened(from[at]) : widened(from[i]) <= widened(from[at]);
        if (is_nan(from[i]) || (!is_nan(from[at]) && better)) at = i;
        best[i] = from[at], where[i] = at;
      }
    });
  });
}

HB_REGISTER_CPU(scan_kernel, scan_cpu);
HB_REGISTER_CPU(running_extremum_kernel, running_extremum_cpu);

}  // namespace
}  // namespace hb::cpu
