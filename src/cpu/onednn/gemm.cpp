#include "cpu/gemm.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "cpu/onednn/describe.h"
#include "cpu/onednn/primitive.h"
#include "cpu/parallel.h"
#include "cpu/pool.h"
#include "cpu/scratch.h"

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
  int64_t count = 1, steps[3] = {0, 0, 0};  // of matrices that are multiplied together, and from one to the next
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

/// Of `count` products that follow each other.
Shape shape_of(const Gemm& g, int64_t count) {
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
  if (count > 1) s.count = count, s.steps[0] = g.a.batch[1], s.steps[1] = g.b.batch[1], s.steps[2] = g.c.batch[1];
  return s;
}

/// A matrix, or `count` of them; the same one for all where the step is 0.
memory::desc matrices(const Shape& s, int operand, int64_t rows, int64_t cols, int64_t row, int64_t col) {
  const auto type = onednn_type(s.dtype);
  if (s.count == 1) return {{rows, cols}, type, memory::dims{row, col}};
  const int64_t step = s.steps[operand];
  return {{step == 0 ? 1 : s.count, rows, cols}, type, memory::dims{step == 0 ? rows * cols : step, row, col}};
}

Prepared make(const Shape& s) {
  const memory::desc a = matrices(s, 0, s.m, s.k, s.a[0], s.a[1]), b = matrices(s, 1, s.k, s.n, s.b[0], s.b[1]),
                     c = matrices(s, 2, s.m, s.n, s.ldc, 1);
  const memory::desc bias({1, s.n}, onednn_type(s.dtype), memory::dims{s.n, 1});
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

Prepared& lookup(const Gemm& g, int64_t count = 1) {
  const Shape s = shape_of(g, count);
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
                         bits(s.beta),
                         s.count,
                         s.steps[0],
                         s.steps[1],
                         s.steps[2]};
  return prepared(key, [&] { return make(s); });
}

void run(Prepared& p, const Gemm& g, const char* a, const char* b, char* c) {
  if (g.bias) {
    p.run("matmul", {a, b, c, g.bias});
  } else {
    p.run("matmul", {a, b, c});
  }
}

void multiply(const Gemm& g) {
  OneThread one;
  run(lookup(g), g, static_cast<const char*>(g.a.data), static_cast<const char*>(g.b.data),
      static_cast<char*>(g.c.data));
}

// With AVX-512 oneDNN (2.6 and 3.2) has a kernel for results whose rows follow each other, and an older one for those
// with gaps between them, as the columns that one thread computes. Of a matrix times a transposed one, 16 rows take the
// older one 1.7 times as long, 64 rows 1.2 times; few rows of floats take it 0.4 (2 rows) to 0.8 (12) of the time.
constexpr int64_t kFewRows = 12;

/// Whether to compute the result without gaps and copy it.
bool closes_gaps(const Gemm& g) {
  constexpr int64_t kTerms = 128, kPlace = 1 << 18;  // what pays for the copy, and how much stays in the cache
  return g.c.row != g.n && g.beta == 0 && g.k >= kTerms && g.m * g.n <= kPlace && (g.dtype != kFloat || g.m > kFewRows);
}
void multiply_without_gaps(const Gemm& g) {
  const auto item = static_cast<int64_t>(element_size(g.dtype));
  Gemm dense = g;
  dense.c = GemmMatrix{scratch_buffer(Scratch::result, g.m * g.n * item), g.n, 1, {0, 0}};
  multiply(dense);
  const auto* const from = static_cast<const char*>(dense.c.data);
  for (int64_t i = 0; i < g.m; ++i)
    std::memcpy(static_cast<char*>(g.c.data) + i * g.c.row * item, from + i * g.n * item, g.n * item);
}

/// Whether two halves of the columns, between which are gaps, take less time.
bool divides_columns(const Gemm& g) {
  return g.dtype == kFloat && g.c.row == g.n && g.m <= kFewRows && g.n >= 64 && g.k >= 64;
}
void multiply_halves(const Gemm& g) {
  const int64_t half = g.n / 64 * 32;
  multiply(slice(g, true, 0, half));
  multiply(slice(g, true, half, g.n));
}

}  // namespace

void onednn_gemm(const Gemm& g) {
  if (isa_level() < 4 || !is_transposed(g.b) || g.m == 1 || g.n == 1) return multiply(g);
  if (closes_gaps(g)) return multiply_without_gaps(g);
  divides_columns(g) ? multiply_halves(g) : multiply(g);
}

namespace {
// Whether oneDNN can be told of these matrices as one tensor: no element is met twice, but for a matrix that is the
// same for all.
bool is_tensor(const GemmMatrix& x, int64_t count, int64_t rows, int64_t cols) {
  std::pair<int64_t, int64_t> dims[] = {{x.row, rows}, {x.col, cols}, {x.batch[1], x.batch[1] == 0 ? 1 : count}};
  std::sort(std::begin(dims), std::end(dims));
  int64_t least = 1;
  for (const auto& [stride, size] : dims) {
    if (size == 1) continue;
    if (stride < least) return false;
    least = stride * size;
  }
  return true;
}

bool is_one_tensor_each(const Gemm& g) {
  const int64_t n = g.batch[1];
  return (g.a.batch[1] != 0 || g.b.batch[1] != 0) && is_tensor(g.a, n, g.m, g.k) && is_tensor(g.b, n, g.k, g.n) &&
         is_tensor(g.c, n, g.m, g.n);
}
}  // namespace

// A call for each matrix would take longer than a small product: as many as a power of two are multiplied together, so
// that few kinds of calls are prepared.
void onednn_gemm_stack(const Gemm& g) {
  const int64_t together = is_one_tensor_each(g) ? 64 : 1;
  const int64_t size = static_cast<int64_t>(element_size(g.dtype));
  const auto range = [&](int64_t from, int64_t to) {
    OneThread one;
    for (int64_t i = from, count; i < to; i += count) {
      const int64_t outer = i / g.batch[1], inner = i % g.batch[1];
      count =
          static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::min({to - i, g.batch[1] - inner, together}))));
      const auto at = [&](const GemmMatrix& x) {
        return static_cast<char*>(x.data) + (outer * x.batch[0] + inner * x.batch[1]) * size;
      };
      run(lookup(g, count), g, at(g.a), at(g.b), at(g.c));
    }
  };
  const int64_t work = g.m * g.n * g.k;
  parallel_for(0, g.batch_count(), std::max<int64_t>(1, 100000 / std::max<int64_t>(work, 1)), range);
}

}  // namespace hb::cpu
