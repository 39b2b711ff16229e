#include "cpu/amx/amx.h"
#include "cpu/amx/matrix.h"

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

}  // namespace hb::cpu::amx
