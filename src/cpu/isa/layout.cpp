// Transposition between contiguous and channels-last, and the bias of channels-last results.
#include "backend/conv.h"
#include "cpu/isa/runs.h"
#include "cpu/isa/transpose.h"

namespace hb::cpu::HB_ISA {
namespace {

template <class T>
void transpose_of(int64_t batch, int64_t rows, int64_t cols, T* out, const T* in) {
  constexpr int64_t kTile = kTransposeTile;
  const int64_t bands = (cols + kTile - 1) / kTile;
  parallel_for(0, batch * bands, std::max<int64_t>(1, kGrain / (kTile * std::max<int64_t>(rows, 1))),
               [&](int64_t from, int64_t to) {
                 for (int64_t at = from; at < to; ++at) {
                   const int64_t first = at / bands * rows * cols;
                   transpose_band(out + first, in + first, rows, cols, at % bands * kTile);
                 }
               });
}

void transpose(size_t size, int64_t batch, int64_t rows, int64_t cols, void* out, const void* in) {
  switch (size) {
    case 1:
      return transpose_of(batch, rows, cols, static_cast<uint8_t*>(out), static_cast<const uint8_t*>(in));
    case 2:
      return transpose_of(batch, rows, cols, static_cast<uint16_t*>(out), static_cast<const uint16_t*>(in));
    case 4:
      return transpose_of(batch, rows, cols, static_cast<uint32_t*>(out), static_cast<const uint32_t*>(in));
    default:
      return transpose_of(batch, rows, cols, static_cast<uint64_t*>(out), static_cast<const uint64_t*>(in));
  }
}
HB_REGISTER_ISA(transpose_kernel, transpose);

void add_bias(ScalarType dtype, int64_t rows, int64_t cols, void* x_data, const void* bias_data) {
  HB_FLOATING_SWITCH("add_bias", dtype, [&](auto type) {
    using T = decltype(type);
    auto* x = static_cast<T*>(x_data);
    const auto* bias = static_cast<const T*>(bias_data);
    parallel_for(0, rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(cols, 1)), [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r) {
        T* row = x + r * cols;
        over_runs<T, 2>(cols, row, {row, bias}, [](auto* sum, const auto& in, int64_t, int64_t n) {
          HB_INDEPENDENT
          for (int64_t c = 0; c < n; ++c) sum[c] = in[0][c] + in[1][c];
        });
      }
    });
  });
}
HB_REGISTER_ISA(add_bias_kernel, add_bias);

}  // namespace
}  // namespace hb::cpu::HB_ISA
