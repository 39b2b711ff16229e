#include "cuda/attention_cudnn.h"

#include <limits>
#include <map>

#include "core/attention_settings.h"
#include "core/cuda_settings.h"
#include "cuda/attention_graph.h"
#include "cuda/scratch.h"

namespace hb::cuda {
namespace {

/// Whether such a device and such a cuDNN give right results, as far as is known: cuDNN before 9.10.2 has errors, and
/// on GPUs of compute capability 10 wrong results of 9.19 and 9.20 are known where few heads share the keys.
size_t version() {
  static const size_t number = HB_CUDA_SYMBOL(cudnn(), cudnnGetVersion)();
  return number;
}
bool is_known_to_work() {
  return cudnn().found() && version() >= 91002 && find_cuda_api()->properties(current_device()).major == 9;
}
bool is_wanted() {
  return attention_settings().cudnn.load(std::memory_order_relaxed) &&
         cuda_settings().cudnn_enabled.load(std::memory_order_relaxed);
}

constexpr int64_t kFewest = 128;                      // queries, and keys
constexpr int64_t kFewestScores = int64_t{1} << 22;   // a call takes the host 12 us
constexpr int64_t kTile = 128;                        // queries and keys of the gradients' kernel
constexpr int64_t kMostWorkspace = int64_t{1} << 30;  // of deterministic gradients: two bytes for each score
constexpr int64_t kMostPlans = 256, kSoonPlans = 64, kCalls = 100;

/// Rows of `width` elements that begin at multiples of 16 bytes, each row in memory of its own.
bool fits(const HeadsRef& r, int64_t batches, int64_t heads, int64_t rows, int64_t width) {
  const auto is_stride = [](int64_t count, int64_t stride) { return count <= 1 || (stride > 0 && stride % 8 == 0); };
  const int64_t last = (batches - 1) * r.batch + (heads - 1) * r.head + (rows - 1) * r.row + width;
  return reinterpret_cast<uintptr_t>(r.data) % 16 == 0 && width % 8 == 0 && is_stride(batches, r.batch) &&
         is_stride(heads, r.head) && is_stride(rows, r.row) && last <= std::numeric_limits<int32_t>::max();
}
bool fits(const Attention& a) {
  const bool is_half = a.dtype == kHalf || a.dtype == kBFloat16;
  return is_half && !a.mask && a.scale > 0 && a.width > 0 && a.width <= 128 && a.value_width > 0 &&
         a.value_width <= 128 && a.queries >= kFewest && a.keys >= kFewest && a.batch * a.heads <= 65535 &&
         a.batch * a.heads * a.queries * a.keys >= kFewestScores && fits(a.q, a.batch, a.heads, a.queries, a.width) &&
         fits(a.k, a.batch, a.kv_heads, a.keys, a.width) && fits(a.v, a.batch, a.kv_heads, a.keys, a.value_width) &&
         fits(a.out, a.batch, a.heads, a.queries, a.value_width);
}
/// A kernel of cuDNN 9.19 for gradients takes what lies behind the last keys for scores of 0, which are infinite shares
/// where all scores are low: it gets whole tiles only.
bool fits(const Attention& a, const AttentionGrad& g) {
  return a.queries % kTile == 0 && a.keys % kTile == 0 &&
         fits(g.grad_out, a.batch, a.heads, a.queries, a.value_width) &&
         fits(g.q, a.batch, a.heads, a.queries, a.width) && fits(g.k, a.batch, a.kv_heads, a.keys, a.width) &&
         fits(g.v, a.batch, a.kv_heads, a.keys, a.value_width);
}

enum class Direction { forward, backward, deterministic };

using Key = std::vector<int64_t>;
Key key_of(const AttentionShape& s, Direction direction) {
  Key key{static_cast<int64_t>(direction),
          s.type,
          s.causal ? 1 : 0,
          current_device(),
          s.batch,
          s.heads,
          s.kv_heads,
          s.queries,
          s.keys,
          s.width,
          s.value_width};
  for (const GraphSizes* t : {&s.q, &s.k, &s.v, &s.out, &s.grad_out, &s.dq, &s.dk, &s.dv})
    key.insert(key.end(), t->begin(), t->end());
  return key;
}

/// A shape. Plans stay for good: the kernels of a plan may be part of a recorded graph.
struct Known {
  int64_t calls = 0;
  KnownGraph graph;
};

OperationGraph graph_of(const AttentionShape& s, Direction direction) {
  return direction == Direction::forward ? attention_graph(s)
                                         : attention_gradient_graph(s, direction == Direction::deterministic);
}

/// Null where cuDNN has no plan, or not yet one: a plan takes a tenth of a second to make, which pays for a program's
/// first shapes, and for those that come often.
KnownGraph* plan_for(const AttentionShape& s, Direction direction) {
  thread_local auto* const all = new std::map<Key, Known>;  // cuDNN may end before the thread
  thread_local int64_t plans = 0;
  constexpr size_t kMostKnown = 4096;
  Key key = key_of(s, direction);
  if (all->size() >= kMostKnown && !all->count(key)) return nullptr;
  Known& known = (*all)[std::move(key)];
  KnownGraph& graph = known.graph;
  if (graph.is_refused()) return nullptr;
  if (!graph.has_plan()) {
    if (plans >= kMostPlans || (plans >= kSoonPlans && ++known.calls < kCalls)) return nullptr;
    graph.make_plan([&] { return graph_of(s, direction); });
    ++plans;
  }
  return graph.has_plan() ? &graph : nullptr;
}

}  // namespace

bool attention_by_cudnn(const Attention& a) {
  if (!is_wanted() || !fits(a) || !is_known_to_work()) return false;
  KnownGraph* const known = plan_for(AttentionShape(a), Direction::forward);
  if (!known) return false;
  const Scratch<float> rows(a.normalizer ? 0 : a.batch * a.heads * a.queries);
  const float scale = static_cast<float>(a.scale), hidden = -std::numeric_limits<float>::infinity();
  std::vector<GraphArgument> arguments{{kQuery, a.q.data}, {kKey, a.k.data}, {kValue, a.v.data}, {kOut, a.out.data}};
  arguments.push_back({kNormalizer, a.normalizer ? a.normalizer : rows.get()});
  arguments.push_back({kScale, &scale});
  if (a.causal) arguments.push_back({kHidden, &hidden});
  return known->run(arguments);
}

bool attention_backward_by_cudnn(const Attention& a, const AttentionGrad& g) {
  if (!is_wanted() || !fits(a) || !fits(a, g) || !is_known_to_work()) return false;
  const bool deterministic = cuda_settings().deterministic();
  const int64_t rows = a.batch * a.heads * a.queries;
  if (deterministic && 2 * rows * a.keys > kMostWorkspace) return false;
  KnownGraph* const known =
      plan_for(AttentionShape(a, g), deterministic ? Direction::deterministic : Direction::backward);
  if (!known) return false;
  const Scratch<float> products(rows), query_sums(deterministic ? 0 : rows * a.width);
  // Kernels add to these sums. 9.19 is known to begin with zeros by itself.
  if (!deterministic && version() < 91900)
    check(cudaMemsetAsync(query_sums.get(), 0, rows * a.width * sizeof(float), current_stream()), "attention");
  const float scale = static_cast<float>(a.scale), hidden = -std::numeric_limits<float>::infinity(), one = 1;
  std::vector<GraphArgument> arguments{{kQuery, a.q.data},
                                       {kKey, a.k.data},
                                       {kValue, a.v.data},
                                       {kOut, a.out.data},
                                       {kGradOut, g.grad_out.data},
                                       {kQueryGrad, g.q.data},
                                       {kKeyGrad, g.k.data},
                                       {kValueGrad, g.v.data},
                                       {kNormalizer, a.normalizer},
                                       {kProducts, products.get()},
                                       {kScale, &scale},
                                       {kOne, &one}};
  if (!deterministic) arguments.push_back({kQuerySums, query_sums.get()});
  if (a.causal) arguments.push_back({kHidden, &hidden});
  return known->run(arguments);
}

}  // namespace hb::cuda
