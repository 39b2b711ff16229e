// Statistics and transforms per channel.
#include <tuple>
#include <vector>

#include "backend/norm.h"
#include "cpu/isa/map_pairs.h"
#include "cpu/isa/row_sums.h"
#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kRun = 64;               // channels at a time
constexpr int64_t kJoined = 512;           // elements of rows that are computed as one
constexpr int64_t kStretch = 256;          // values summed in float before they join the double sums
constexpr int64_t kPlane = 16 * kStretch;  // the same where they lie side by side, in partial sums

/// Rows of few channels go several at a time, as one row of so many: the loops around short ones would cost more than
/// they do. A few rows are not worth it.
int64_t joined_rows(const NormShape& s, int64_t width) {
  return std::clamp<int64_t>(width / std::max<int64_t>(s.channels, 1), 1, std::max<int64_t>(s.outer / 16, 1));
}
/// What belongs to the channels, for each row of `rows` joined ones: `values` themselves where there is one.
template <class C>
class Repeated {
 public:
  Repeated(const C* values, int64_t channels, int64_t rows) : values_(values), all_(rows > 1 ? channels * rows : 0) {
    if (rows == 1) return;
    for (int64_t r = 0; r < rows; ++r) std::copy_n(values, channels, all_.data() + r * channels);
  }
  const C* data() const { return all_.empty() ? values_ : all_.data(); }

 private:
  const C* values_;
  std::vector<C> all_;
};

// For each channel the sums of f(i, c) and h(i, c) over all values, in double. `each` fills two partial sums of one
// stretch: each(at, rows, width, c0, run, a, b) over values [c0, c0 + run) of rows, the first of which begins at
// element `at`, and each of which has `width` elements, joined_rows(s, kRun) rows of channels or one.
template <class C, class Rows>
void sum_rows_of(const NormShape& s, double* a, double* b, const Rows& each) {
  const int64_t channels = s.channels, together = joined_rows(s, kRun), width = channels * together,
                rows = s.outer / together;
  const int threads = threads_for(s.outer * channels, kGrain);
  std::vector<double> partial(2 * width * threads, 0.0);
  const auto add = [&](double* to, int64_t at, int64_t count, int64_t elements) {
    for (int64_t c0 = 0; c0 < elements; c0 += kRun) {
      const int64_t run = std::min(kRun, elements - c0);
      C x[kRun] = {}, y[kRun] = {};
      each(at, count, elements, c0, run, x, y);
      for (int64_t c = 0; c < run; ++c) to[c0 + c] += x[c], to[width + c0 + c] += y[c];
    }
  };
  parallel_ranges(0, rows, threads, [&](int64_t from, int64_t to, int thread) {
    for (int64_t first = from; first < to; first += kStretch)
      add(partial.data() + 2 * width * thread, first * width, std::min(kStretch, to - first), width);
  });
  add(partial.data(), rows * width, s.outer % together, channels);
  for (int64_t c = 0; c < channels; ++c) a[c] = b[c] = 0;
  for (int t = 0; t < threads; ++t)
    for (int64_t c = 0; c < width; ++c)
      a[c % channels] += partial[2 * width * t + c], b[c % channels] += partial[2 * width * t + width + c];
}

template <class C, class Planes>
void sum_planes_of(const NormShape& s, double* a, double* b, const Planes& each) {
  parallel_for(0, s.channels, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, s.count())),
               [&](int64_t from, int64_t to) {
                 for (int64_t c = from; c < to; ++c) {
                   a[c] = b[c] = 0;
                   for (int64_t n = 0; n < s.outer; ++n)
                     for (int64_t i = 0; i < s.inner; i += kPlane)
                       each(n, c, i, std::min(kPlane, s.inner - i), a[c], b[c]);
                 }
               });
}

// The mean of the first few values of channel c: near the channel's mean, whatever the first value is.
template <class T>
compute_t<T> shift_of(const NormShape& s, const T* x, int64_t c) {
  const int64_t n = std::min<int64_t>(8, s.inner == 1 ? s.outer : s.inner), step = s.inner == 1 ? s.channels : 1;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += widen(x[c * s.inner + i * step]);
  return static_cast<compute_t<T>>(sum / static_cast<double>(n));
}

// Shifted by about the mean of each channel, so that one pass loses little where the mean is far from zero.
template <class T>
void stats_of(const NormShape& s, const T* x, compute_t<T>* mean, compute_t<T>* var) {
  using C = compute_t<T>;
  std::vector<double> sum(s.channels), squares(s.channels);
  std::vector<C> first(s.channels);
  for (int64_t c = 0; c < s.channels; ++c) first[c] = shift_of(s, x, c);
  if (s.inner == 1) {
    const Repeated shifts(first.data(), s.channels, joined_rows(s, kRun));
    const auto each = [&](int64_t at, int64_t rows, int64_t width, int64_t c0, int64_t run, C* a, C* b) {
      const C* __restrict shift = shifts.data() + c0;
      C wide[kRun];
      for (int64_t r = 0; r < rows; ++r) {
        const C* __restrict row = computable(x + at + r * width + c0, wide, run);
        for (int64_t c = 0; c < run; ++c) {
          const C d = row[c] - shift[c];
          a[c] += d, b[c] += d * d;
        }
      }
    };
    sum_rows_of<C>(s, sum.data(), squares.data(), each);
  } else {
    sum_planes_of<C>(
        s, sum.data(), squares.data(), [&](int64_t n, int64_t c, int64_t at, int64_t len, double& a, double& b) {
          C wide[kPlane];
          const C* in = computable(x + (n * s.channels + c) * s.inner + at, wide, len);
          const C shift = first[c];
          const auto square = [](auto d) { return d * d; };
          a += sum_in_lanes<C>(
              len, [=](int64_t i) { return lanes_at(in + i) - shift; }, [=](int64_t i) { return in[i] - shift; });
          b += sum_in_lanes<C>(
              len, [=](int64_t i) { return square(lanes_at(in + i) - shift); },
              [=](int64_t i) { return square(in[i] - shift); });
        });
  }
  const double count = static_cast<double>(s.count());
  for (int64_t c = 0; c < s.channels; ++c) {
    const double m = sum[c] / count;
    mean[c] = static_cast<C>(m + first[c]);
    const double v = squares[c] / count - m * m;
    var[c] = static_cast<C>(v < 0 ? 0 : v);
  }
}

template <class T>
void grad_stats_of(const NormShape& s, const T* g, const T* x, const compute_t<T>* mean, compute_t<T>* sum_g,
                   compute_t<T>* sum_gx) {
  using C = compute_t<T>;
  std::vector<double> a(s.channels), b(s.channels);
  if (s.inner == 1) {
    const Repeated means(mean, s.channels, joined_rows(s, kRun));
    const auto each = [&](int64_t at, int64_t rows, int64_t width, int64_t c0, int64_t run, C* p, C* q) {
      const C* __restrict m = means.data() + c0;
      C wide_g[kRun], wide_x[kRun];
      for (int64_t r = 0; r < rows; ++r) {
        const C* __restrict grad = computable(g + at + r * width + c0, wide_g, run);
        const C* __restrict row = computable(x + at + r * width + c0, wide_x, run);
        for (int64_t c = 0; c < run; ++c) p[c] += grad[c], q[c] += grad[c] * (row[c] - m[c]);
      }
    };
    sum_rows_of<C>(s, a.data(), b.data(), each);
  } else {
    sum_planes_of<C>(s, a.data(), b.data(), [&](int64_t n, int64_t c, int64_t at, int64_t len, double& p, double& q) {
      C wide_g[kPlane], wide_x[kPlane];
      const int64_t from = (n * s.channels + c) * s.inner + at;
      const C *grad = computable(g + from, wide_g, len), *in = computable(x + from, wide_x, len);
      const C m = mean[c];
      p += sum_of_run(grad, len);
      q += sum_in_lanes<C>(
          len, [=](int64_t i) { return lanes_at(grad + i) * (lanes_at(in + i) - m); },
          [=](int64_t i) { return grad[i] * (in[i] - m); });
    });
  }
  for (int64_t c = 0; c < s.channels; ++c) sum_g[c] = static_cast<C>(a[c]), sum_gx[c] = static_cast<C>(b[c]);
}

/// out[i] = value(in[i]…) for n neighbours.
template <class T, class Value, class... In>
void map_run(int64_t n, T* out, const Value& value, const In*... in) {
  if constexpr (is_half_v<T>) {
    map_pairs(n, out, value, in...);
  } else {
    over_runs<T, sizeof...(In)>(n, out, {in...}, [&](auto* to, const auto& x, int64_t, int64_t count) {
      const auto at = [&](int64_t i) { return std::apply([&](auto*... p) { return value(p[i]...); }, x); };
      HB_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) to[i] = at(i);
    });
  }
}

/// fn(elements, the first of them) for rows of channels, several at a time.
template <class F>
void over_joined_rows(const NormShape& s, const F& fn) {
  const int64_t together = joined_rows(s, kJoined), width = s.channels * together;
  parallel_for(0, (s.outer + together - 1) / together, std::max<int64_t>(1, kGrain / std::max<int64_t>(width, 1)),
               [&](int64_t from, int64_t to) {
                 for (int64_t r = from; r < to; ++r)
                   fn(std::min(together, s.outer - r * together) * s.channels, r * width);
               });
}

/// y = x * a + b for n neighbours, each with numbers of its own.
template <class T>
void affine_run(int64_t n, T* y, const T* x, const compute_t<T>* a, const compute_t<T>* b) {
  int64_t done = 0;
  if constexpr (std::is_same_v<T, BFloat16>)
    done = store_bf16_runs(
        y, n, [=](int64_t i) __attribute__((always_inline)) { return widen(x[i]) * a[i] + b[i]; });
  over_runs<T, 1>(n - done, y + done, {x + done}, [&](auto* out, const auto& in, int64_t at, int64_t count) {
    const auto* __restrict v = in[0];
    const auto *scale = a + done + at, *shift = b + done + at;
    HB_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) out[i] = v[i] * scale[i] + shift[i];
  });
}

template <class T>
void affine_of(const NormShape& s, T* y, const T* x, const compute_t<T>* scale, const compute_t<T>* shift) {
  if (s.inner == 1) {
    const int64_t together = joined_rows(s, kJoined);
    const Repeated scales(scale, s.channels, together), shifts(shift, s.channels, together);
    return over_joined_rows(
        s, [&](int64_t len, int64_t first) { affine_run(len, y + first, x + first, scales.data(), shifts.data()); });
  }
  const int64_t rows = s.outer * s.channels, len = s.inner;
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(len, 1)), [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      const auto a = scale[r % s.channels], b = shift[r % s.channels];
      map_run(
          len, y + r * len, [=](auto v) __attribute__((always_inline)) { return v * a + b; }, x + r * len);
    }
  });
}

template <class T>
void grad_of(const NormShape& s, T* out_data, const T* g, const T* x, const compute_t<T>* mean, const compute_t<T>* a,
             const compute_t<T>* b, const compute_t<T>* c) {
  if (s.inner == 1) {
    const int64_t together = joined_rows(s, kJoined);
    const Repeated as(a, s.channels, together), bs(b, s.channels, together);
    const Repeated cs(c, s.channels, together), means(mean, s.channels, together);
    return over_joined_rows(s, [&](int64_t len, int64_t first) {
      const auto each = [&](auto* out, const auto& in, int64_t at, int64_t n) {
        const auto *grad = in[0], *v = in[1];
        const auto *ka = as.data() + at, *kb = bs.data() + at, *kc = cs.data() + at, *m = means.data() + at;
        HB_INDEPENDENT
        for (int64_t i = 0; i < n; ++i) out[i] = grad[i] * ka[i] + (v[i] - m[i]) * kb[i] + kc[i];
      };
      over_runs<T, 2>(len, out_data + first, {g + first, x + first}, each);
    });
  }
  const int64_t rows = s.outer * s.channels, len = s.inner;
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(len, 1)), [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      const int64_t k = r % s.channels;
      const auto ka = a[k], kb = b[k], kc = c[k], km = mean[k];
      const auto value = [=](auto grad, auto v) __attribute__((always_inline)) {
        return grad * ka + (v - km) * kb + kc;
      };
      map_run(len, out_data + r * len, value, g + r * len, x + r * len);
    }
  });
}

template <class T>
const T* in(const void* p) {
  return static_cast<const T*>(p);
}
template <class T>
T* out(void* p) {
  return static_cast<T*>(p);
}

void channel_stats(ScalarType dtype, const NormShape& s, const void* x, void* mean, void* var) {
  HB_FLOATING_SWITCH("batch_norm", dtype, [&](auto type) {
    using T = decltype(type);
    using C = compute_t<T>;
    stats_of<T>(s, in<T>(x), out<C>(mean), out<C>(var));
  });
}
void channel_affine(ScalarType dtype, const NormShape& s, void* y, const void* x, const void* scale,
                    const void* shift) {
  HB_FLOATING_SWITCH("batch_norm", dtype, [&](auto type) {
    using T = decltype(type);
    using C = compute_t<T>;
    affine_of<T>(s, out<T>(y), in<T>(x), in<C>(scale), in<C>(shift));
  });
}
void channel_grad_stats(ScalarType dtype, const NormShape& s, const void* g, const void* x, const void* mean,
                        void* sum_g, void* sum_gx) {
  HB_FLOATING_SWITCH("batch_norm_backward", dtype, [&](auto type) {
    using T = decltype(type);
    using C = compute_t<T>;
    grad_stats_of<T>(s, in<T>(g), in<T>(x), in<C>(mean), out<C>(sum_g), out<C>(sum_gx));
  });
}
void channel_grad(ScalarType dtype, const NormShape& s, void* grad_x, const void* g, const void* x, const void* mean,
                  const void* a, const void* b, const void* c) {
  HB_FLOATING_SWITCH("batch_norm_backward", dtype, [&](auto type) {
    using T = decltype(type);
    using C = compute_t<T>;
    grad_of<T>(s, out<T>(grad_x), in<T>(g), in<T>(x), in<C>(mean), in<C>(a), in<C>(b), in<C>(c));
  });
}
HB_REGISTER_ISA(channel_stats_kernel, channel_stats);
HB_REGISTER_ISA(channel_affine_kernel, channel_affine);
HB_REGISTER_ISA(channel_grad_stats_kernel, channel_grad_stats);
HB_REGISTER_ISA(channel_grad_kernel, channel_grad);

}  // namespace
}  // namespace hb::cpu::HB_ISA
