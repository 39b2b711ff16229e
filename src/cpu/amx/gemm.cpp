#include "cpu/amx/amx.h"
#include "cpu/amx/split.h"

namespace hb::cpu::amx {
namespace {

const BFloat16* values(const void* data) { return static_cast<const BFloat16*>(data); }

template <class Store>
void multiply_into(const Gemm& g, const Store& store) {
  // A matrix of one row or column is dense in either direction.
  const MatrixRows a{values(g.a.data), g.a.row, g.k == 1 ? 1 : g.a.col};
  const MatrixColumns b{values(g.b.data), g.b.row, g.n == 1 ? 1 : g.b.col};
  multiply(g.m, g.n, g.k, a, b, store);
}

}  // namespace

void gemm(const Gemm& g) {
  multiply_into(g, MatrixStore{static_cast<BFloat16*>(g.c.data), g.c.row, values(g.bias), static_cast<float>(g.alpha),
                               static_cast<float>(g.beta)});
}

void gemm_to_float(const Gemm& g) {
  multiply_into(
      g, FloatStore{static_cast<float*>(g.c.data), g.c.row, static_cast<float>(g.alpha), static_cast<float>(g.beta)});
}

bool gemm_of_halves(const Gemm& g) {
  const auto halves = [](const void* data) { return static_cast<const Half*>(data); };
  const bool a_by_row = g.a.col == 1, b_by_row = g.b.col == 1;
  const Parts a = a_by_row ? split(halves(g.a.data), g.m, g.k, g.a.row, Scratch::convert_a)
                           : split(halves(g.a.data), g.k, g.m, g.a.col, Scratch::convert_a);
  const Parts b = b_by_row ? split(halves(g.b.data), g.k, g.n, g.b.row, Scratch::convert_b)
                           : split(halves(g.b.data), g.n, g.k, g.b.col, Scratch::convert_b);
  const auto rows = [&](const BFloat16* x) {
    return a_by_row ? MatrixRows{x, a.stride, 1} : MatrixRows{x, 1, a.stride};
  };
  const auto columns = [&](const BFloat16* x) {
    return b_by_row ? MatrixColumns{x, b.stride, 1} : MatrixColumns{x, 1, b.stride};
  };
  const int64_t depth = round_up(g.k, kDepth);
  std::atomic<bool> finite = true;
  multiply(g.m, g.n, kProducts * depth, SplitRows{rows(a.rounded), rows(a.rest), depth},
           SplitColumns{columns(b.rounded), columns(b.rest), depth},
           HalfStore{static_cast<Half*>(g.c.data), g.c.row, halves(g.bias), static_cast<float>(g.alpha), finite});
  return finite;
}

}  // namespace hb::cpu::amx
