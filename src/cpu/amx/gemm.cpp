#include "cpu/amx/amx.h"
#include "cpu/amx/split.h"

namespace hb::cpu::amx {
namespace {

const BFloat16* values(const void* data) { return static_cast<const BFloat16*>(data); }

template <class Store>
void multiply_into(const Gemm& g, const Store& store) {
  multiply(g.m, g.n, g.k, MatrixRows{values(g.a.data), g.a.row, g.a.col},
           MatrixColumns{values(g.b.data), g.b.row, g.b.col}, store);
}

// The parts of a matrix, line by line in its memory's order.
Parts split_matrix(const GemmMatrix& x, int64_t rows, int64_t cols, Scratch slot) {
  const auto* in = static_cast<const Half*>(x.data);
  return x.col == 1 ? split(in, rows, cols, x.row, slot) : split(in, cols, rows, x.col, slot);
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
  const Parts a = split_matrix(g.a, g.m, g.k, Scratch::convert_a), b = split_matrix(g.b, g.k, g.n, Scratch::convert_b);
  const auto rows = [&](const BFloat16* x) {
    return g.a.col == 1 ? MatrixRows{x, a.stride, 1} : MatrixRows{x, 1, a.stride};
  };
  const auto columns = [&](const BFloat16* x) {
    return g.b.col == 1 ? MatrixColumns{x, b.stride, 1} : MatrixColumns{x, 1, b.stride};
  };
  const int64_t depth = round_up(g.k, kDepth);
  std::atomic<bool> finite = true;
  multiply(g.m, g.n, kProducts * depth, SplitRows{rows(a.rounded), rows(a.rest), depth},
           SplitColumns{columns(b.rounded), columns(b.rest), depth},
           HalfStore{static_cast<Half*>(g.c.data), g.c.row, static_cast<const Half*>(g.bias),
                     static_cast<float>(g.alpha), finite});
  return finite;
}

}  // namespace hb::cpu::amx
