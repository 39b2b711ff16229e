// Running sums, products and extrema along lines.
#include "backend/sort.h"

#include "cuda/kernel_file.h"
#include "formulas/carried.h"

namespace hb::cuda {
namespace {

template <ScanOp op, class C>
__device__ C combined(C a, C b) {
  if constexpr (op == ScanOp::sum) {
    return static_cast<C>(a + b);
  } else if constexpr (op == ScanOp::prod || std::is_integral_v<C>) {
    return static_cast<C>(a * b);
  } else {
    if (a != a || b != b) return a + b;
    const C low = a < b ? a : b, high = a < b ? b : a;
    return low == high && std::isinf(low) ? a : static_cast<C>(std::log1p(std::exp(low - high)) + high);
  }
}

// A thread for each line.
template <class T, ScanOp op>
__global__ void scan_columns(T* out, const T* in, Lines l) {
  using C = Carried<T>;
  HB_GRID_LOOP(line, l.outer * l.inner) {
    const int64_t from = line / l.inner * l.n * l.inner + line % l.inner;
    C carried = static_cast<C>(in[from]);
    out[from] = in[from];
    for (int64_t i = 1; i < l.n; ++i) {
      carried = combined<op>(carried, static_cast<C>(in[from + i * l.inner]));
      out[from + i * l.inner] = static_cast<T>(carried);
    }
  }
}

// A block for each line: a stretch at a time, of which each warp scans a part.
template <class T, ScanOp op>
__global__ void scan_rows(T* out, const T* in, Lines l) {
  using C = Carried<T>;
  HB_SHARED(C, of_warps, kWarp);
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  const int64_t line = blockIdx.x, base = line / l.inner * l.n * l.inner + line % l.inner;
  C before{};
  for (int64_t first = 0; first < l.n; first += blockDim.x) {
    const int64_t i = first + threadIdx.x;
    const bool there = i < l.n;
    C value = there ? static_cast<C>(in[base + i * l.inner]) : C{};
    for (unsigned by = 1; by < kWarp; by *= 2) {
      const C earlier = __shfl_up_sync(kFullWarp, value, by);
      if (lane >= by) value = combined<op>(earlier, value);
    }
    if (lane == kWarp - 1) of_warps[warp] = value;
    __syncthreads();
    C start = before;
    bool begun = first > 0;
    for (unsigned w = 0; w < warp; ++w) {
      start = begun ? combined<op>(start, of_warps[w]) : of_warps[w];
      begun = true;
    }
    if (begun) value = combined<op>(start, value);
    if (there) out[base + i * l.inner] = i == 0 ? in[base] : static_cast<T>(value);
    for (unsigned w = warp; w < warps; ++w) {  // what the next stretch begins with; not used after the last
      start = begun ? combined<op>(start, of_warps[w]) : of_warps[w];
      begun = true;
    }
    before = start;
    __syncthreads();
  }
}

template <class T>
__global__ void extrema(T* out, int64_t* at, const T* in, Lines l, bool largest) {
  using C = Compared<T>;
  HB_GRID_LOOP(line, l.outer * l.inner) {
    const int64_t from = line / l.inner * l.n * l.inner + line % l.inner;
    C best = static_cast<C>(in[from]);
    int64_t place = 0;
    for (int64_t i = 0; i < l.n; ++i) {
      const C v = static_cast<C>(in[from + i * l.inner]);
      const bool ordered = largest ? v >= best : v <= best;
      if (v != v || (best == best && ordered)) best = v, place = i;
      out[from + i * l.inner] = in[from + place * l.inner];
      if (at) at[from + i * l.inner] = place;
    }
  }
}

template <class T, ScanOp op>
void scan_as(T* out, const T* in, const Lines& l) {
  const int64_t lines = l.outer * l.inner;
  if (lines >= 4096 || l.n <= 64)
    HB_LAUNCH((scan_columns<T, op>), blocks_for(lines), kThreads, 0, current_stream(), out, in, l);
  else
    HB_LAUNCH((scan_rows<T, op>), static_cast<unsigned>(lines), kThreads, 0, current_stream(), out, in, l);
}

template <class T>
void scan_of(T* out, int64_t* at, const T* in, const Lines& l, ScanOp op) {
  switch (op) {
    case ScanOp::sum:
      return scan_as<T, ScanOp::sum>(out, in, l);
    case ScanOp::prod:
      return scan_as<T, ScanOp::prod>(out, in, l);
    case ScanOp::log_sum_exp:
      return scan_as<T, ScanOp::log_sum_exp>(out, in, l);
    default:
      HB_LAUNCH(extrema<T>, blocks_for(l.outer * l.inner), kThreads, 0, current_stream(), out, at, in, l,
                op == ScanOp::max);
  }
}

void scan(const Tensor& out, const Tensor& indices, const Tensor& in, Lines l, ScanOp op) {
  if (l.outer * l.n * l.inner == 0) return;
  auto* const at = indices.defined() ? static_cast<int64_t*>(indices.impl().raw_data()) : nullptr;
  switch (in.scalar_type()) {
#define HB_CASE(T, Name)                                                                                              \
  case ScalarType::Name:                                                                                              \
    if constexpr (!is_complex_v<T>)                                                                                   \
      return scan_of(static_cast<T*>(out.impl().raw_data()), at, static_cast<const T*>(in.impl().raw_data()), l, op); \
    break;
    HB_FORALL_COMPUTED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      break;
  }
  HB_NOT_SUPPORTED("[", current_function(), "] is not supported for dtype ", in.scalar_type());
}
HB_REGISTER_CUDA(scan_kernel, scan);

}  // namespace
}  // namespace hb::cuda
