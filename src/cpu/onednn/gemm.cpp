#include "cpu/gemm.h"

#include "cpu/onednn/describe.h"
#include "cpu/onednn/primitive.h"
#include "cpu/parallel.h"
#include "cpu/pool.h"

namespace hb::cpu {
namespace {

using dnnl::memory;

// Everything but the addresses.
struct Shape {
  int64_t m, n, k;
  int64_t a[2], b[2], ldc;
  bool bias;
  ScalarType dtype;
  float alpha, beta;
};

int64_t bits(float f) {
  int32_t i;
  std::memcpy(&i, &f, 4);
  return i;
}

// Strides of dimensions of size 1 are free: the ones that a dense matrix would have keep the fast kernels in play.
void tidy(int64_t rows, int64_t cols, int64_t (&stride)[2]) {
  if (rows == 1 && stride[1] == 1) stride[0] = cols;
  if (cols == 1 && stride[0] == 1) stride[1] = rows;
  if (rows == 1 && stride[1] != 1) stride[0] = 1;
  if (cols == 1 && stride[0] != 1) stride[1] = 1;
}

Shape shape_of(const Gemm& g) {
  Shape s{g.m,
          g.n,
          g.k,
          {g.a.row, g.a.col},
          {g.b.row, g.b.col},
          g.c.row,
          g.bias != nullptr,
          g.dtype,
          static_cast<float>(g.alpha),
          static_cast<float>(g.beta)};
  tidy(s.m, s.k, s.a);
  tidy(s.k, s.n, s.b);
  if (s.m == 1) s.ldc = s.n;
  return s;
}

Prepared make(const Shape& s) {
  const auto type = onednn_type(s.dtype);
  const memory::desc a({s.m, s.k}, type, memory::dims{s.a[0], s.a[1]});
  const memory::desc b({s.k, s.n}, type, memory::dims{s.b[0], s.b[1]});
  const memory::desc c({s.m, s.n}, type, memory::dims{s.ldc, 1});
  const memory::desc bias({1, s.n}, type, memory::dims{s.n, 1});
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (s.alpha != 1 || s.beta != 0) scale_and_add(attr, s.alpha, s.beta);
  Prepared p;
  HB_ONEDNN("matmul", {
    const auto pd = s.bias ? describe<dnnl::matmul>(onednn_engine(), attr, a, b, bias, c)
                           : describe<dnnl::matmul>(onednn_engine(), attr, a, b, c);
    p.primitive = dnnl::matmul(pd);
    p.bind(DNNL_ARG_SRC, a);
    p.bind(DNNL_ARG_WEIGHTS, b);
    p.bind(DNNL_ARG_DST, c);
    if (s.bias) p.bind(DNNL_ARG_BIAS, bias);
    p.finish(pd.scratchpad_desc());
  });
  return p;
}

Prepared& lookup(const Gemm& g) {
  const Shape s = shape_of(g);
  const PrimitiveKey key{1,
                         s.m,
                         s.n,
                         s.k,
                         s.a[0],
                         s.a[1],
                         s.b[0],
                         s.b[1],
                         s.ldc,
                         s.bias,
                         static_cast<int64_t>(s.dtype),
                         bits(s.alpha),
                         bits(s.beta)};
  return prepared(key, [&] { return make(s); });
}

void run(Prepared& p, const Gemm& g, const char* a, const char* b, char* c) {
  if (g.bias) {
    p.run("matmul", {a, b, c, g.bias});
  } else {
    p.run("matmul", {a, b, c});
  }
}

}  // namespace

void onednn_gemm(const Gemm& g) {
  OneThread one;
  run(lookup(g), g, static_cast<const char*>(g.a.data), static_cast<const char*>(g.b.data),
      static_cast<char*>(g.c.data));
}

void onednn_gemm_stack(const Gemm& g) {
  const int64_t size = static_cast<int64_t>(element_size(g.dtype));
  const auto range = [&](int64_t from, int64_t to) {
    OneThread one;
    Prepared& p = lookup(g);
    for (int64_t i = from; i < to; ++i) {
      const int64_t outer = i / g.batch[1], inner = i % g.batch[1];
      const auto at = [&](const GemmMatrix& x) {
        return static_cast<char*>(x.data) + (outer * x.batch[0] + inner * x.batch[1]) * size;
      };
      run(p, g, at(g.a), at(g.b), at(g.c));
    }
  };
  const int64_t work = g.m * g.n * g.k;
  parallel_for(0, g.batch_count(), std::max<int64_t>(1, 100000 / std::max<int64_t>(work, 1)), range);
}

}  // namespace hb::cpu
