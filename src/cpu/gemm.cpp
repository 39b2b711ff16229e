#include "cpu/gemm.h"

#include "cpu/amx/amx.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"

namespace hb::cpu {

const GemmLoops& gemm_loops() {
  static const GemmLoops& loops = isa_level() >= 4 ? v4::gemm_loops : v3::gemm_loops;
  return loops;
}

bool has_fast_bf16() {
  static const bool fast = [] {
    __builtin_cpu_init();
    return isa_level() >= 4 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512bf16");
  }();
  return fast;
}

Gemm slice(const Gemm& g, bool columns, int64_t from, int64_t to) {
  const auto at = [size = static_cast<int64_t>(element_size(g.dtype))](const void* data, int64_t elements) {
    return const_cast<char*>(static_cast<const char*>(data)) + elements * size;
  };
  Gemm part = g;
  (columns ? part.n : part.m) = to - from;
  part.c.data = at(g.c.data, from * (columns ? 1 : g.c.row));
  if (columns) {
    part.b.data = at(g.b.data, from * g.b.col);
    if (g.bias) part.bias = at(g.bias, from);
  } else {
    part.a.data = at(g.a.data, from * g.a.row);
  }
  return part;
}

namespace {

bool has_unit_stride(const GemmMatrix& x, int64_t rows, int64_t cols) {
  const bool by_row = x.col == 1 || cols == 1, by_col = x.row == 1 || rows == 1;
  // A leading dimension below the length of a row (expanded or overlapping rows) is not for oneDNN.
  return (by_row && (rows == 1 || x.row >= cols)) || (by_col && (cols == 1 || x.col >= rows));
}

// A dense copy in float or in the same dtype; the orientation in memory stays, so that the copy is fast.
template <class T>
GemmMatrix gather(const GemmMatrix& x, int64_t rows, int64_t cols, T* out) {
  const bool flip = x.row < x.col;
  const int64_t outer = flip ? cols : rows, inner = flip ? rows : cols;
  const int64_t outer_stride = flip ? x.col : x.row, inner_stride = flip ? x.row : x.col;
  const T* in = static_cast<const T*>(x.data);
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t j = 0; j < inner; ++j) out[i * inner + j] = in[i * outer_stride + j * inner_stride];
  GemmMatrix y;
  y.data = out;
  y.row = flip ? 1 : cols, y.col = flip ? rows : 1;
  return y;
}

void make_unit_stride(GemmMatrix& x, int64_t rows, int64_t cols, ScalarType dtype, Scratch slot) {
  if (has_unit_stride(x, rows, cols)) return;
  void* buffer = scratch_buffer(slot, rows * cols * element_size(dtype));
  if (element_size(dtype) == 2) {
    x = gather(x, rows, cols, static_cast<uint16_t*>(buffer));
  } else if (dtype == kDouble) {
    x = gather(x, rows, cols, static_cast<double*>(buffer));
  } else {
    x = gather(x, rows, cols, static_cast<float*>(buffer));
  }
}

// Rows of float matrices, a multiple of 1 KB apart, fall into the same lines of the first cache. oneDNN's AVX2 code
// walks down such rows where the result is narrow, and loses half of its time.
bool rows_collide(int64_t stride) { return isa_level() < 4 && stride % 256 == 0; }
int64_t spread_stride(int64_t cols) {
  const int64_t lines = (cols + 15) / 16 * 16;
  return rows_collide(lines) ? lines + 16 : lines;
}

// A dense matrix (in either orientation) of halves as floats.
GemmMatrix widen(const GemmMatrix& x, int64_t rows, int64_t cols, ScalarType dtype, Scratch slot) {
  const bool by_row = x.col == 1 || cols == 1;
  const int64_t outer = by_row ? rows : cols, inner = by_row ? cols : rows, stride = by_row ? x.row : x.col;
  const int64_t pitch = rows_collide(inner) ? spread_stride(inner) : inner;
  auto* out = static_cast<float*>(scratch_buffer(slot, outer * pitch * sizeof(float)));
  const auto* in = static_cast<const char*>(x.data);
  const auto to_float = gemm_loops().to_float;
  if ((stride == inner && pitch == inner) || outer == 1)
    to_float(dtype, in, out, outer * inner);
  else
    for (int64_t i = 0; i < outer; ++i) to_float(dtype, in + i * stride * 2, out + i * pitch, inner);
  GemmMatrix y;
  y.data = out;
  y.row = by_row ? pitch : 1, y.col = by_row ? 1 : pitch;
  return y;
}

// Copies rows to where they do not collide. Calls with the same slot reuse the memory.
void spread_rows(void*& data, int64_t& stride, int64_t rows, int64_t cols, Scratch slot) {
  const int64_t wide = spread_stride(cols);
  auto* out = static_cast<float*>(scratch_buffer(slot, rows * wide * sizeof(float)));
  const auto* in = static_cast<const float*>(data);
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / cols), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) std::copy_n(in + i * stride, cols, out + i * wide);
  });
  data = out, stride = wide;
}

// Rows that would collide (in the gradients of linear layers whose sizes are powers of two) are copied, a stretch of k
// at a time.
void gemm_float(const Gemm& g) {
  constexpr double kNarrow = 0.0038;                // oneDNN's own bound
  constexpr int64_t kStretch = 512, kWorthIt = 32;  // uses of an element that pay for its copy
  const bool narrow = 1.0 / static_cast<double>(g.m) + 1.0 / static_cast<double>(g.n) >= kNarrow;
  const bool spread_a = g.a.row == 1 && rows_collide(g.a.col) && g.n >= kWorthIt;
  const bool spread_b = g.b.col == 1 && rows_collide(g.b.row) && g.m >= kWorthIt;
  if (g.dtype != kFloat || !narrow || !(spread_a || spread_b)) return onednn_gemm(g);
  Gemm part = g;
  for (int64_t from = 0; from < g.k; from += kStretch) {
    part.k = std::min(kStretch, g.k - from);
    part.a.data = static_cast<float*>(g.a.data) + from * g.a.col, part.a.col = g.a.col;
    part.b.data = static_cast<float*>(g.b.data) + from * g.b.row, part.b.row = g.b.row;
    if (spread_a) spread_rows(part.a.data, part.a.col, part.k, g.m, Scratch::spread_a);
    if (spread_b) spread_rows(part.b.data, part.b.row, part.k, g.n, Scratch::spread_b);
    onednn_gemm(part);
    part.beta = 1, part.bias = nullptr;
  }
}

// The result of a panel whose operands are float already, in memory of the thread's own: halves are read and written.
void multiply_panel(const Gemm& g, const GemmMatrix& a, const GemmMatrix& b) {
  const auto& loops = gemm_loops();
  Gemm wide = g;
  wide.dtype = kFloat;
  wide.a = a, wide.b = b;
  auto* c = static_cast<float*>(scratch_buffer(Scratch::convert_c, (g.m * g.n + g.n) * sizeof(float)));
  wide.c = GemmMatrix{c, g.n, 1, {0, 0}};
  auto* stored = static_cast<char*>(g.c.data);
  if (g.beta != 0)
    for (int64_t i = 0; i < g.m; ++i) loops.to_float(g.dtype, stored + i * g.c.row * 2, c + i * g.n, g.n);
  if (g.bias) {
    loops.to_float(g.dtype, g.bias, c + g.m * g.n, g.n);
    wide.bias = c + g.m * g.n;
  }
  gemm_float(wide);
  for (int64_t i = 0; i < g.m; ++i) loops.from_float(g.dtype, c + i * g.n, stored + i * g.c.row * 2, g.n);
}

constexpr int64_t kUnit = 32;  // a cache line of halves

// How many columns (or rows) are converted and multiplied at a time: so many that their floats stay in the second-level
// cache, but all of them where the operand that all panels share would not stay there too, for it is packed anew for
// each.
int64_t panel_size(const Gemm& g, bool columns) {
  constexpr int64_t kShared = 1 << 16, kPanel = 1 << 16, kLeast = 2 * kUnit;  // elements
  const int64_t other = columns ? g.m : g.n, size = columns ? g.n : g.m;
  if (other * g.k > kShared) return size;
  const int64_t most = std::max(kLeast, kPanel / (other + g.k)), panels = (size + most - 1) / most;
  return ((size + panels - 1) / panels + kUnit - 1) / kUnit * kUnit;
}

// One thread's part.
void widened_part(const Gemm& g, bool columns) {
  const int64_t size = columns ? g.n : g.m, panel = panel_size(g, columns);
  const GemmMatrix shared =
      columns ? widen(g.a, g.m, g.k, g.dtype, Scratch::convert_a) : widen(g.b, g.k, g.n, g.dtype, Scratch::convert_b);
  for (int64_t from = 0; from < size; from += panel) {
    const Gemm part = slice(g, columns, from, std::min(size, from + panel));
    if (columns)
      multiply_panel(part, shared, widen(part.b, g.k, part.n, g.dtype, Scratch::convert_b));
    else
      multiply_panel(part, widen(part.a, part.m, g.k, g.dtype, Scratch::convert_a), shared);
  }
}

// Calls multiply(part) for pieces of the rows, or of the columns where there are fewer rows; false where the product is
// too small for that. A thread whose core another process takes leaves the other pieces to the other threads. oneDNN
// packs an operand anew for each piece, and both where columns are divided or the first one is transposed; pieces of 64
// rows of a large product take up to 1.3 times as long as those of 256, which are taken where that leaves two per
// thread.
template <class F>
bool in_pieces(const Gemm& g, const F& multiply) {
  constexpr int64_t kPiece = 1 << 26, kRows = 64, kManyRows = 256, kColumns = 256, kFew = 8;
  const bool columns = g.n >= 2 * g.m, packs_both = columns || g.a.row == 1;
  const int64_t size = columns ? g.n : g.m;
  const int64_t each = kPiece * (g.dtype == kFloat ? 1 : 2) * (packs_both ? 2 : 1);
  const int64_t threads = threads_for(size, 1);
  const int64_t rows = std::clamp(size / (2 * threads), kRows, kManyRows);
  const int64_t pieces =
      std::min({g.m * g.n * g.k / each, size / (columns ? kColumns : rows), packs_both ? kFew : size});
  if (threads == 1 || pieces < 2 * threads) return false;
  const int64_t step = ((size + pieces - 1) / pieces + kUnit - 1) / kUnit * kUnit;
  run_chunks(static_cast<int>((size + step - 1) / step),
             [&](int64_t i) { multiply(slice(g, columns, i * step, std::min(size, (i + 1) * step))); });
  return true;
}

// Threads share the rows or the columns of the result: the columns where there are more, but rows of a weight's
// gradient (transposed times not), which an optimizer's update divides so, too.
template <class F>
void in_parts(const Gemm& g, const F& product) {
  constexpr int64_t kWork = 1 << 18;  // products per thread
  const bool gradient = is_transposed(g.a) && g.b.col == 1;
  const bool columns = g.n >= (gradient && g.m >= 2 * kUnit * get_num_threads() ? 4 * g.m : g.m);
  const int64_t size = columns ? g.n : g.m, units = (size + kUnit - 1) / kUnit;
  const int64_t grain = std::max<int64_t>(1, kWork / std::max<int64_t>(1, g.m * g.n * g.k / units));
  parallel_for(0, units, grain, [&](int64_t first, int64_t last) {
    product(slice(g, columns, first * kUnit, std::min(size, last * kUnit)), columns);
  });
}

// Halves that the CPU cannot multiply: computed in float and rounded once. Each thread converts what it needs: to
// convert the smaller operand once per thread costs less than to wait for each other between the steps.
void gemm_widened(const Gemm& g) { in_parts(g, widened_part); }

// Whether a product is so small that the library's preparations cost more than it does.
bool is_small(const Gemm& g) {
  constexpr int64_t kWork = 1 << 13, kWorkInFloat = 1 << 18, kWorkInDouble = 1 << 18;
  if (g.n > kSmallSide || g.k > kSmallSide) return false;
  const int64_t work = g.m * g.n * g.k;
  if (g.dtype == kDouble) return work <= kWorkInDouble;
  return work <= (g.dtype == kFloat ? kWorkInFloat : kWork);
}

// The same of bf16 where the CPU multiplies it.
bool is_small_for_pairs(const Gemm& g) {
  constexpr int64_t kWork = 1 << 18;
  return g.dtype == kBFloat16 && has_fast_bf16() && !has_bf16_tiles() && g.m * g.n * g.k <= kWork;
}

// Many rows times a small matrix: as many small products as threads share well, each of which packs that matrix anew.
void gemm_of_many_rows(const Gemm& g) {
  const int64_t rows = std::max<int64_t>(kUnit, (1 << 18) / (g.n * g.k) / kUnit * kUnit);
  parallel_for(0, (g.m + rows - 1) / rows, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) gemm_loops().small(slice(g, false, i * rows, std::min(g.m, (i + 1) * rows)));
  });
}

// A small result of long sums: small products that add to it.
void gemm_of_long_sums(const Gemm& g) {
  Gemm part = g;
  for (int64_t from = 0; from < g.k; from += kSmallSide) {
    part.k = std::min(kSmallSide, g.k - from);
    part.a.data = static_cast<double*>(g.a.data) + from * g.a.col;
    part.b.data = static_cast<double*>(g.b.data) + from * g.b.row;
    gemm_loops().small(part);
    part.beta = 1, part.bias = nullptr;
  }
}

// Few columns of long sums: a block of rows, which the second-level cache holds, times each of them. Packing the rows
// would cost as much as the product.
bool has_few_columns(const Gemm& g) { return g.n <= 3 && g.k > kSmallSide && g.a.col == 1; }
void gemm_of_few_columns(const Gemm& g) {
  const int64_t rows = std::max<int64_t>(1, (1 << 15) / g.k);
  parallel_for(0, (g.m + rows - 1) / rows, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const Gemm block = slice(g, false, i * rows, std::min(g.m, (i + 1) * rows));
      for (int64_t j = 0; j < g.n; ++j) gemm_loops().vector(slice(block, true, j, j + 1));
    }
  });
}

void gemm_double(const Gemm& g) {
  if (has_few_columns(g)) return gemm_of_few_columns(g);
  if (g.n <= kSmallSide && g.k <= kSmallSide) return gemm_of_many_rows(g);
  // Many columns far apart are packed faster for a large product.
  const bool few_lines = g.b.col == 1 || g.n <= kSmallSide / 2;
  if (g.m <= kSmallSide && g.n <= kSmallSide && few_lines) return gemm_of_long_sums(g);
  gemm_loops().f64(g);
}

void gemm_one(Gemm g) {
  const auto& loops = gemm_loops();
  if (is_integral_type(g.dtype, true)) return loops.integers(g);
  if (g.k > 1 && g.m > 1 && g.n > 1) {
    if (is_small(g)) return loops.small(g);
    if (g.dtype == kDouble) return gemm_double(g);
  }
  make_unit_stride(g.a, g.m, g.k, g.dtype, Scratch::gather_a);
  make_unit_stride(g.b, g.k, g.n, g.dtype, Scratch::gather_b);
  if (g.k == 1 || g.k == 0) return loops.outer(g);
  if (g.m == 1 || g.n == 1) return loops.vector(g);
  if (is_small_for_pairs(g)) return loops.pairs(g);
  if (g.dtype == kBFloat16 && has_bf16_tiles()) return amx::gemm(g);
  if (g.dtype == kHalf && has_bf16_tiles() && g.beta == 0 && amx::gemm_of_halves(g)) return;
  if (g.dtype == kHalf || (g.dtype == kBFloat16 && !has_fast_bf16())) return gemm_widened(g);
  if (!in_pieces(g, gemm_float)) in_parts(g, [](const Gemm& part, bool) { gemm_float(part); });
}

bool stack_for_onednn(const Gemm& g) {
  const bool native = g.dtype == kFloat || (g.dtype == kBFloat16 && has_fast_bf16() && !has_bf16_tiles());
  // The library prepares once for all of them.
  const bool small = is_small(g) && g.m * g.n * g.k <= 1 << 16;
  return native && !small && g.batch_count() >= get_num_threads() && g.k > 1 && g.m > 1 && g.n > 1 &&
         has_unit_stride(g.a, g.m, g.k) && has_unit_stride(g.b, g.k, g.n);
}

}  // namespace

void gemm_cpu(const Gemm& g) {
  if (g.m == 0 || g.n == 0 || g.batch_count() == 0) return;
  if (g.batch_count() == 1) return gemm_one(g);
  if (stack_for_onednn(g)) return onednn_gemm_stack(g);
  const int64_t size = static_cast<int64_t>(element_size(g.dtype));
  const int64_t grain = std::max<int64_t>(1, 30000 / std::max<int64_t>(g.m * g.n * std::max<int64_t>(g.k, 1), 1));
  parallel_for(0, g.batch_count(), g.batch_count() < get_num_threads() ? g.batch_count() : grain,
               [&](int64_t from, int64_t to) {
                 Gemm one = g;
                 one.batch[0] = one.batch[1] = 1;
                 for (int64_t i = from; i < to; ++i) {
                   const int64_t outer = i / g.batch[1], inner = i % g.batch[1];
                   const auto at = [&](const GemmMatrix& x) {
                     return static_cast<char*>(x.data) + (outer * x.batch[0] + inner * x.batch[1]) * size;
                   };
                   one.a.data = at(g.a), one.b.data = at(g.b), one.c.data = at(g.c);
                   gemm_one(one);
                 }
               });
}
HB_REGISTER_CPU(gemm_kernel, gemm_cpu);

}  // namespace hb::cpu
