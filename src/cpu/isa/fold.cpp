#include "backend/fold.h"

#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

/// The windows [first, last) whose element at `offset` from the window's begin lies within a dimension of `size`.
struct Inside {
  int64_t first, last;
  Inside(const Windows& w, int64_t offset, int64_t size) {
    const int64_t from = w.padding - offset, to = size + w.padding - offset;  // where a window may begin
    first = from > 0 ? (from + w.stride - 1) / w.stride : 0;
    last = std::min(w.out, to > 0 ? (to + w.stride - 1) / w.stride : 0);
  }
};

// Adds one kernel element's plane (h.out, w.out) where it belongs.
template <class C>
void add_element(const Fold& f, int64_t i, int64_t j, C* __restrict image, const C* columns) {
  const Inside rows(f.h, i * f.h.step, f.height), in_row(f.w, j * f.w.step, f.width);
  const int64_t count = in_row.last - in_row.first, stride = f.w.stride;
  for (int64_t r = rows.first; r < rows.last; ++r) {
    const int64_t y = r * f.h.stride - f.h.padding + i * f.h.step;
    C* to = image + y * f.width + in_row.first * stride - f.w.padding + j * f.w.step;
    const C* from = columns + r * f.w.out + in_row.first;
    if (stride == 1)
      for (int64_t k = 0; k < count; ++k) to[k] += from[k];
    else
      for (int64_t k = 0; k < count; ++k) to[k * stride] += from[k];
  }
}

template <class T>
void fold_planes(const Fold& f, T* image, const T* columns) {
  using C = compute_t<T>;
  const int64_t pixels = f.height * f.width, windows = f.h.out * f.w.out, elements = f.h.kernel * f.w.kernel;
  parallel_for(0, f.planes, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, windows * elements)),
               [&](int64_t from, int64_t to) {
                 RunBuffer<T> sums(pixels), wide(windows);
                 for (int64_t p = from; p < to; ++p) {
                   C* sum = results(image + p * pixels, sums.data());
                   std::fill(sum, sum + pixels, C(0));
                   for (int64_t e = 0; e < elements; ++e)
                     add_element(f, e / f.w.kernel, e % f.w.kernel, sum,
                                 computable(columns + (p * elements + e) * windows, wide.data(), windows));
                   finish(sum, image + p * pixels, pixels);
                 }
               });
}

void fold(ScalarType dtype, const Fold& f, void* image, const void* columns) {
  HB_FLOATING_SWITCH("col2im", dtype, [&](auto type) {
    using T = decltype(type);
    fold_planes(f, static_cast<T*>(image), static_cast<const T*>(columns));
  });
}
HB_REGISTER_ISA(fold_kernel, fold);

}  // namespace
}  // namespace hb::cpu::HB_ISA
