#include "cuda/attention_products.h"

#include <algorithm>

#include "backend/gemm.h"
#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

constexpr int64_t kScoreBytes = int64_t{256} << 20;  // at most so many at a time
constexpr int64_t kFewest = 32;                      // queries and keys from which products pay

/// Strides, in elements, of a stack of two dimensions.
struct Pair {
  int64_t outer, inner;
};

/// Scores of some queries of a stack of heads with the first `keys` keys: (outer, inner, rows, keys).
struct Part {
  int64_t outer, inner, rows, keys;
  int64_t query;  // the first one
  bool causal;
  const void* mask;  // of the stack's first head; null: none
  Pair mask_stride;
  int64_t mask_row, mask_key;
  void* normalizer;  // likewise
  Pair normalizer_stride;
  double scale;
  __host__ __device__ int64_t all_rows() const { return outer * inner * rows; }
};

/// One row of a part: a team of threads has it.
struct Row {
  int64_t query, stack_outer, stack_inner;
  __device__ Row(const Part& p, int64_t at)
      : query(p.query + at % p.rows), stack_outer(at / p.rows / p.inner), stack_inner(at / p.rows % p.inner) {}
  __device__ int64_t seen(const Part& p) const { return p.causal && query + 1 < p.keys ? query + 1 : p.keys; }
  template <class C>
  __device__ C masked(const Part& p, C score, int64_t key) const {
    if (!p.mask) return score;
    return score + static_cast<const C*>(p.mask)[stack_outer * p.mask_stride.outer + stack_inner * p.mask_stride.inner +
                                                 query * p.mask_row + key * p.mask_key];
  }
  template <class C>
  __device__ C* normalizer(const Part& p) const {
    return static_cast<C*>(p.normalizer) + stack_outer * p.normalizer_stride.outer +
           stack_inner * p.normalizer_stride.inner + query;
  }
};

/// Scores become shares, in place.
template <class C>
__global__ void softmax_rows(HB_ARGUMENT(Part) p, C* scores) {
  const int64_t at = team_row();
  if (at >= p.all_rows()) return;
  const Row row(p, at);
  C* const s = scores + at * p.keys;
  const int64_t seen = row.seen(p);
  C top = -C(INFINITY);
  for (int64_t i = threadIdx.x; i < seen; i += blockDim.x) {
    const C v = row.masked(p, s[i], i);
    if (p.mask) s[i] = v;
    top = v != v || v > top ? v : top;
  }
  top = team_max(top);
  const bool hidden = top == -C(INFINITY);
  C total = 0;
  for (int64_t i = threadIdx.x; i < seen; i += blockDim.x) {
    const C v = hidden ? C(0) : std::exp(s[i] - top);
    s[i] = v;
    total += v;
  }
  total = team_sum(total);
  const C share = hidden ? C(0) : C(1) / total;
  for (int64_t i = threadIdx.x; i < p.keys; i += blockDim.x) s[i] = i < seen ? s[i] * share : C(0);
  // Infinity: every share of a row that sees nothing is exp(-infinity).
  if (p.normalizer && threadIdx.x == 0) *row.normalizer<C>(p) = hidden ? C(INFINITY) : top + std::log(total);
}

/// Scores become shares again, and the gradients of shares those of products of queries and keys.
template <class C>
__global__ void slope_rows(HB_ARGUMENT(Part) p, C* scores, C* grads) {
  const int64_t at = team_row();
  if (at >= p.all_rows()) return;
  const Row row(p, at);
  C *const s = scores + at * p.keys, *const g = grads + at * p.keys;
  const int64_t seen = row.seen(p);
  const C kept = *row.normalizer<C>(p);
  C product = 0;
  for (int64_t i = threadIdx.x; i < seen; i += blockDim.x) {
    const C share = std::exp(row.masked(p, s[i], i) - kept);
    s[i] = share;
    product += share * g[i];
  }
  product = team_sum(product);
  for (int64_t i = threadIdx.x; i < p.keys; i += blockDim.x) {
    const bool there = i < seen;
    g[i] = there ? s[i] * (g[i] - product) * static_cast<C>(p.scale) : C(0);
    if (!there) s[i] = 0;
  }
}

/// A stack of heads: those of all batches, or, where heads share keys, those of one batch by the head that they share.
class Heads {
 public:
  explicit Heads(const Attention& a) : a_(a), group_(a.heads / a.kv_heads), shared_(group_ > 1) {}
  int64_t stacks() const { return shared_ ? a_.batch : 1; }
  int64_t outer() const { return shared_ ? a_.kv_heads : a_.batch; }
  int64_t inner() const { return shared_ ? group_ : a_.heads; }
  /// Of queries and results.
  Pair own(int64_t batch, int64_t head) const { return shared_ ? Pair{group_ * head, head} : Pair{batch, head}; }
  Pair own(const HeadsRef& r) const { return own(r.batch, r.head); }
  /// Of keys and values.
  Pair kept(const HeadsRef& r) const { return shared_ ? Pair{r.head, 0} : Pair{r.batch, r.head}; }
  /// What lies before the part that begins at `first`.
  int64_t before(int64_t batch_stride, const Pair& stride, int64_t stack, int64_t first) const {
    return (shared_ ? stack * batch_stride : 0) + first * stride.outer;
  }
  bool shared() const { return shared_; }

 private:
  const Attention& a_;
  int64_t group_;
  bool shared_;
};

/// What the products of one part are made of.
class PartOfHeads {
 public:
  Part part;
  PartOfHeads(const Attention& a, const Heads& heads, int64_t stack, int64_t first, int64_t count, int64_t query,
              int64_t rows, int64_t keys)
      : part{count,   heads.inner(), rows,   keys, query, a.causal, nullptr, {0, 0}, a.mask_stride[2], a.mask_stride[3],
             nullptr, {0, 0},        a.scale},
        a_(a),
        heads_(heads),
        stack_(stack),
        first_(first),
        size_(static_cast<int64_t>(element_size(a.dtype))) {
    part.mask_stride = heads.own(a.mask_stride[0], a.mask_stride[1]);
    if (a.mask) part.mask = at(a.mask, heads.before(a.mask_stride[0], part.mask_stride, stack, first));
    part.normalizer_stride = heads.own(a.heads * a.queries, a.queries);
    if (a.normalizer)
      part.normalizer = at(a.normalizer, heads.before(a.heads * a.queries, part.normalizer_stride, stack, first));
  }
  /// Rows of queries, or of what has their shape; and of all keys.
  GemmMatrix of_queries(const HeadsRef& r) const { return matrix(r, heads_.own(r), part.query * r.row, false); }
  GemmMatrix of_keys(const HeadsRef& r, bool transposed) const { return matrix(r, heads_.kept(r), 0, transposed); }
  GemmMatrix of_scores(void* scores, bool transposed) const {
    const int64_t each = part.rows * part.keys;
    GemmMatrix m{scores, part.keys, 1, {part.inner * each, each}};
    if (transposed) std::swap(m.row, m.col);
    return m;
  }
  void multiply(int64_t m, int64_t n, int64_t k, const GemmMatrix& x, const GemmMatrix& y, const GemmMatrix& to,
                double alpha, double beta) const {
    gemm({a_.dtype, {part.outer, part.inner}, m, n, k, x, y, to, nullptr, alpha, beta});
  }
  /// The same summed over the heads that share a key.
  void multiply_for_keys(int64_t n, const GemmMatrix& x, const GemmMatrix& y, const GemmMatrix& to, double beta) const {
    if (!heads_.shared()) return multiply(part.keys, n, part.rows, x, y, to, 1, beta);
    for (int64_t i = 0; i < part.inner; ++i) {
      const auto one = [&](GemmMatrix m) {
        m.data = const_cast<void*>(at(m.data, i * m.batch[1]));
        m.batch[1] = 0;
        return m;
      };
      gemm({a_.dtype, {part.outer, 1}, part.keys, n, part.rows, one(x), one(y), to, nullptr, 1, i == 0 ? beta : 1});
    }
  }

 private:
  static void gemm(const Gemm& g) { gemm_kernel(Device(kCUDA, current_device()))(g); }
  template <class P>
  P* at(P* from, int64_t elements) const {
    using Byte = std::conditional_t<std::is_const_v<P>, const char, char>;
    return static_cast<Byte*>(from) + elements * size_;
  }
  GemmMatrix matrix(const HeadsRef& r, const Pair& stride, int64_t offset, bool transposed) const {
    GemmMatrix m{
        at(r.data, heads_.before(r.batch, stride, stack_, first_) + offset), r.row, 1, {stride.outer, stride.inner}};
    if (transposed) std::swap(m.row, m.col);
    return m;
  }

  const Attention& a_;
  const Heads& heads_;
  int64_t stack_, first_, size_;
};

/// How many heads of the outer dimension and how many queries are taken at a time.
struct Steps {
  int64_t outer, rows, score_bytes;
  Steps(const Attention& a, const Heads& heads) {
    const int64_t of_query = heads.inner() * a.keys * static_cast<int64_t>(element_size(a.dtype));
    rows = a.causal ? std::min(a.queries, std::max<int64_t>(512, (a.queries + 3) / 4)) : a.queries;
    if (rows * of_query > kScoreBytes) rows = std::clamp<int64_t>(kScoreBytes / of_query, 1, rows);
    outer = std::clamp<int64_t>(kScoreBytes / (rows * of_query), 1, heads.outer());
    score_bytes = outer * rows * of_query;
  }
};

/// do_part(part, first): the last queries of a stack come first, and see all keys; earlier ones only those that are not
/// hidden.
template <class F>
void for_parts(const Attention& a, const Heads& heads, const Steps& steps, const F& do_part) {
  for (int64_t stack = 0; stack < heads.stacks(); ++stack)
    for (int64_t first = 0; first < heads.outer(); first += steps.outer)
      for (int64_t end = a.queries; end > 0; end -= steps.rows) {
        const int64_t query = std::max<int64_t>(0, end - steps.rows),
                      count = std::min(steps.outer, heads.outer() - first);
        const bool last = end == a.queries;
        const int64_t keys = a.causal && !last ? std::min(a.keys, end) : a.keys;
        do_part(PartOfHeads(a, heads, stack, first, count, query, end - query, keys), last);
      }
}

bool suits(const Attention& a) {
  return (a.dtype == kFloat || a.dtype == kDouble) && a.queries >= kFewest && a.keys >= kFewest && a.batch > 0 &&
         a.heads > 0;
}

template <class F>
void with_type(ScalarType dtype, const F& f) {
  if (dtype == kDouble)
    f(double());
  else
    f(float());
}

}  // namespace

bool attention_by_products(const Attention& a) {
  if (!suits(a)) return false;
  const Heads heads(a);
  const Steps steps(a, heads);
  const Scratch<char> scores(steps.score_bytes);
  for_parts(a, heads, steps, [&](const PartOfHeads& of, bool) {
    const Part& p = of.part;
    const GemmMatrix shares = of.of_scores(scores.get(), false);
    of.multiply(p.rows, p.keys, a.width, of.of_queries(a.q), of.of_keys(a.k, true), shares, a.scale, 0);
    with_type(a.dtype, [&](auto type) {
      using C = decltype(type);
      const Teams t(p.all_rows(), p.keys);
      HB_LAUNCH(softmax_rows<C>, t.grid, t.block, 0, current_stream(), p, reinterpret_cast<C*>(scores.get()));
    });
    of.multiply(p.rows, a.value_width, p.keys, shares, of.of_keys(a.v, false), of.of_queries(a.out), 1, 0);
  });
  return true;
}

bool attention_backward_by_products(const Attention& a, const AttentionGrad& g) {
  if (!suits(a)) return false;
  const Heads heads(a);
  const Steps steps(a, heads);
  const Scratch<char> scores(steps.score_bytes), slopes(steps.score_bytes);
  for_parts(a, heads, steps, [&](const PartOfHeads& of, bool first) {
    const Part& p = of.part;
    const double beta = first ? 0 : 1;
    const GemmMatrix of_slopes = of.of_scores(slopes.get(), false);
    of.multiply(p.rows, p.keys, a.width, of.of_queries(a.q), of.of_keys(a.k, true), of.of_scores(scores.get(), false),
                a.scale, 0);
    of.multiply(p.rows, p.keys, a.value_width, of.of_queries(g.grad_out), of.of_keys(a.v, true), of_slopes, 1, 0);
    with_type(a.dtype, [&](auto type) {
      using C = decltype(type);
      const Teams t(p.all_rows(), p.keys);
      HB_LAUNCH(slope_rows<C>, t.grid, t.block, 0, current_stream(), p, reinterpret_cast<C*>(scores.get()),
                reinterpret_cast<C*>(slopes.get()));
    });
    of.multiply_for_keys(a.value_width, of.of_scores(scores.get(), true), of.of_queries(g.grad_out),
                         of.of_keys(g.v, false), beta);
    of.multiply(p.rows, a.width, p.keys, of_slopes, of.of_keys(a.k, false), of.of_queries(g.q), 1, 0);
    of.multiply_for_keys(a.width, of.of_scores(slopes.get(), true), of.of_queries(a.q), of.of_keys(g.k, false), beta);
  });
  return true;
}

}  // namespace hb::cuda
