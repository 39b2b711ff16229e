// Running sums, products and extrema along lines.
#include "cuda/scan_rows.h"

namespace hb::cuda {
namespace {

constexpr int kColumnThreads = 512, kBatch = 8;  // elements that a thread loads before it computes

/// Lines whose elements are apart: neighbouring threads have neighbouring lines, and threadIdx.y counts stretches.
template <class S, class T>
__global__ void __launch_bounds__(kColumnThreads, S::kBlocks)
    scan_columns(S s, T* out, int64_t* places, const T* in, Lines l) {
  using Carried = typename S::Carried;
  HB_SHARED(Carried, of_stretches, kColumnThreads);
  const int across = static_cast<int>(blockDim.x), x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int64_t line = int64_t{blockIdx.x} * across + x;
  const bool there = line < l.outer * l.inner;
  const int64_t base = there ? line / l.inner * l.n * l.inner + line % l.inner : 0, end = there ? l.n : 0;
  Carried carry = S::none();
  for (int64_t first = 0; first < l.n; first += int64_t{blockDim.y} * kBatch) {
    const int64_t i = first + int64_t{y} * kBatch;
    T v[kBatch];
    Carried total = S::none();
#pragma unroll
    for (int k = 0; k < kBatch; ++k) v[k] = i + k < end ? in[base + (i + k) * l.inner] : T(0.f);
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      if (i + k < end) total = s.combined(total, S::of(v[k], i + k));
    __syncthreads();  // those of the round before were read
    of_stretches[y * across + x] = total;
    __syncthreads();
    Carried mine = carry;
    for (int k = 0; k < static_cast<int>(blockDim.y); ++k) {
      if (k == y) mine = carry;
      carry = s.combined(carry, of_stretches[k * across + x]);
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (i + k >= end) break;
      mine = s.combined(mine, S::of(v[k], i + k));
      out[base + (i + k) * l.inner] = S::value(mine);
      if constexpr (S::has_places)
        if (places) places[base + (i + k) * l.inner] = S::place(mine);
    }
  }
}

template <class S, class T>
void scan_as(const S& s, T* out, int64_t* places, const T* in, const Lines& l) {
  if (l.inner == 1) return launch_scan_rows(s, out, places, in, l.outer, l.n);
  unsigned stretches = 1;
  while (stretches < kColumnThreads / kWarp && stretches * kBatch < l.n) stretches *= 2;
  const dim3 block(kColumnThreads / stretches, stretches);
  const auto blocks = static_cast<unsigned>((l.outer * l.inner + block.x - 1) / block.x);
  HB_LAUNCH((scan_columns<S, T>), blocks, block, 0, current_stream(), s, out, places, in, l);
}

template <class T>
void scan_of(T* out, int64_t* at, const T* in, const Lines& l, ScanOp op) {
  if (op == ScanOp::max || op == ScanOp::min) return scan_as(Extremum<T>{op == ScanOp::max}, out, at, in, l);
  if constexpr (std::is_same_v<T, int8_t>) {  // the bits are those of unsigned numbers
    scan_of(reinterpret_cast<uint8_t*>(out), at, reinterpret_cast<const uint8_t*>(in), l, op);
  } else {
    if (op == ScanOp::sum) return scan_as(Total<T, ScanOp::sum>(), out, at, in, l);
    if (op == ScanOp::prod) return scan_as(Total<T, ScanOp::prod>(), out, at, in, l);
    if constexpr (!std::is_integral_v<T>) return scan_as(LogSum<T>(), out, at, in, l);
    HB_NOT_SUPPORTED("[", current_function(), "] is not supported for integers");
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
