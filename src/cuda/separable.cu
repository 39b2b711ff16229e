// Rows picked, or summed where they come from, by an index of its own for each dimension.
#include "backend/separable.h"

#include <vector>

#include "cuda/graph.h"
#include "cuda/kernel_file.h"
#include "cuda/words.h"

namespace hb::cuda {
namespace {

constexpr int kMost = 2000;  // numbers that a launch carries; longer lists are copied to the device

/// Lists one behind the other, with a kernel by value where they are short.
struct Lists {
  int32_t values[kMost];
  const int32_t* elsewhere;
  __device__ int32_t operator[](int64_t i) const { return elsewhere ? elsewhere[i] : values[i]; }
};
class MadeLists {
 public:
  explicit MadeLists(const std::vector<int32_t>& all)
      : memory_(all.size() > kMost ? static_cast<int64_t>(all.size()) : 0) {
    lists.elsewhere = memory_.get();
    if (!memory_.get()) {
      std::copy(all.begin(), all.end(), lists.values);
      return;
    }
    Graph::expect_none();
    check(cudaMemcpyAsync(memory_.get(), all.data(), all.size() * sizeof(int32_t), cudaMemcpyHostToDevice,
                          current_stream()),
          "separable");
  }
  Lists lists;

 private:
  Scratch<int32_t> memory_;
};

struct Geometry {
  int64_t inner, size[3], outputs[3], first[3];  // first: where the dimension's lists begin
};

template <class Word>
__global__ void pick(Word* out, const Word* in, int64_t n, __grid_constant__ const Geometry g,
                     __grid_constant__ const Lists index) {
  HB_GRID_LOOP(i, n) {
    const int64_t c = i % g.inner, z = i / g.inner % g.outputs[2], y = i / g.inner / g.outputs[2] % g.outputs[1];
    const int64_t row = i / g.inner / g.outputs[2] / g.outputs[1], x = row % g.outputs[0], o = row / g.outputs[0];
    const int64_t from = ((o * g.size[0] + index[g.first[0] + x]) * g.size[1] + index[g.first[1] + y]) * g.size[2] +
                         index[g.first[2] + z];
    out[i] = in[from * g.inner + c];
  }
}

// For each dimension: where the list of each original row begins, and the picked rows that come from it.
template <class T>
__global__ void sum(T* out, const T* in, int64_t n, __grid_constant__ const Geometry g,
                    __grid_constant__ const Lists lists) {
  using C = compute_t<T>;
  HB_GRID_LOOP(i, n) {
    const int64_t c = i % g.inner, z = i / g.inner % g.size[2], y = i / g.inner / g.size[2] % g.size[1];
    const int64_t row = i / g.inner / g.size[2] / g.size[1], x = row % g.size[0], o = row / g.size[0];
    const int64_t at[3] = {x, y, z};
    int from[3], to[3];
    int64_t items[3];
    for (int d = 0; d < 3; ++d) {
      from[d] = lists[g.first[d] + at[d]], to[d] = lists[g.first[d] + at[d] + 1];
      items[d] = g.first[d] + g.size[d] + 1;
    }
    C total = 0;
    for (int a = from[0]; a < to[0]; ++a)
      for (int b = from[1]; b < to[1]; ++b)
        for (int e = from[2]; e < to[2]; ++e) {
          const int64_t picked =
              ((o * g.outputs[0] + lists[items[0] + a]) * g.outputs[1] + lists[items[1] + b]) * g.outputs[2] +
              lists[items[2] + e];
          total += widen<C>(in[picked * g.inner + c]);
        }
    out[i] = T(total);
  }
}

Geometry geometry_of(const SeparableIndex& s) {
  Geometry g{s.inner, {}, {}, {}};
  for (int d = 0; d < 3; ++d) g.size[d] = s.size[static_cast<size_t>(d)], g.outputs[d] = s.outputs(d);
  return g;
}

void separable_select(int64_t itemsize, const SeparableIndex& s, void* out, const void* in) {
  Geometry g = geometry_of(s);
  std::vector<int32_t> all;
  for (int d = 0; d < 3; ++d) {
    g.first[d] = static_cast<int64_t>(all.size());
    all.insert(all.end(), s.index[static_cast<size_t>(d)].begin(), s.index[static_cast<size_t>(d)].end());
  }
  const int64_t n = s.outer * g.outputs[0] * g.outputs[1] * g.outputs[2] * s.inner;
  if (n == 0) return;
  const MadeLists made(all);
  const auto run = [&](auto word) {
    using Word = decltype(word);
    HB_LAUNCH(pick<Word>, blocks_for(n), kThreads, 0, current_stream(), static_cast<Word*>(out),
              static_cast<const Word*>(in), n, g, made.lists);
  };
  with_word(static_cast<size_t>(itemsize), run);
}

void separable_sum(ScalarType dtype, const SeparableIndex& s, void* out, const void* in) {
  Geometry g = geometry_of(s);
  std::vector<int32_t> all;
  for (int d = 0; d < 3; ++d) {
    const std::vector<int64_t>& index = s.index[static_cast<size_t>(d)];
    g.first[d] = static_cast<int64_t>(all.size());
    std::vector<int32_t> begin(static_cast<size_t>(g.size[d]) + 1, 0), items(index.size());
    for (const int64_t row : index) ++begin[static_cast<size_t>(row) + 1];
    for (size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
    std::vector<int32_t> next(begin.begin(), begin.end() - 1);
    for (size_t k = 0; k < index.size(); ++k)
      items[static_cast<size_t>(next[static_cast<size_t>(index[k])]++)] = static_cast<int32_t>(k);
    all.insert(all.end(), begin.begin(), begin.end());
    all.insert(all.end(), items.begin(), items.end());
  }
  const int64_t n = s.outer * g.size[0] * g.size[1] * g.size[2] * s.inner;
  if (n == 0) return;
  const MadeLists made(all);
  HB_FLOATING_SWITCH("separable_sum", dtype, [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(sum<T>, blocks_for(n), kThreads, 0, current_stream(), static_cast<T*>(out), static_cast<const T*>(in), n,
              g, made.lists);
  });
}
HB_REGISTER_CUDA(separable_select_kernel, separable_select);
HB_REGISTER_CUDA(separable_sum_kernel, separable_sum);

}  // namespace
}  // namespace hb::cuda
