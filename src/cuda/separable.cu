// Rows picked, or summed where they come from, by an index of its own for each dimension.
#include "backend/separable.h"

#include <algorithm>
#include <vector>

#include "cuda/graph.h"
#include "cuda/kernel_file.h"
#include "cuda/planes.h"
#include "cuda/words.h"

namespace hb::cuda {
namespace {

constexpr int kMost = 2000;  // numbers that a launch carries; longer lists are copied to the device

/// Lists one behind the other, with a kernel by value where they are short.
struct Lists {
  int32_t values[kMost];
  const int32_t* elsewhere;
  int count;
  /// Where a block reads them: threads that read different arguments would wait for each other.
  __device__ const int32_t* of_block(int32_t* room) const {
    if (elsewhere) return elsewhere;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) room[i] = values[i];
    __syncthreads();
    return room;
  }
  size_t shared_bytes() const { return elsewhere ? 0 : static_cast<size_t>(count) * sizeof(int32_t); }
};
class MadeLists {
 public:
  explicit MadeLists(const std::vector<int32_t>& all)
      : memory_(all.size() > kMost ? static_cast<int64_t>(all.size()) : 0) {
    lists.elsewhere = memory_.get(), lists.count = static_cast<int>(std::min<size_t>(all.size(), kMost));
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
  __host__ __device__ int64_t plane() const { return size[0] * size[1] * size[2] * inner; }
  __host__ __device__ int64_t picked_plane() const { return outputs[0] * outputs[1] * outputs[2] * inner; }
};

template <int kEach, class Word>
__global__ void __launch_bounds__(kThreads)
    pick(Word* out, const Word* in, PlaneWalk walk, HB_ARGUMENT(Geometry) g, HB_ARGUMENT(Lists) lists) {
  HB_DYNAMIC_SHARED(int32_t, room);
  const int32_t* const index = lists.of_block(room);
  HB_GRID_LOOP(thread, walk.threads()) {
    const PlanesOfThread<kEach> of(walk, thread);
    const int64_t line = of.position / g.inner, c = of.position - line * g.inner, row = line / g.outputs[2];
    const int64_t z = line - row * g.outputs[2], x = row / g.outputs[1], y = row - x * g.outputs[1];
    const int64_t place = (int64_t{index[g.first[0] + x]} * g.size[1] + index[g.first[1] + y]) * g.size[2];
    const int64_t from = (place + index[g.first[2] + z]) * g.inner + c;
    Word word[kEach];
    for (int k = 0; k < kEach; ++k) word[k] = in[of[k] * g.plane() + from];
    for (int k = 0; k < kEach; ++k)
      if (of.has(k)) out[of[k] * walk.positions + of.position] = word[k];
  }
}

// For each dimension: where the list of each original row begins, and the picked rows that come from it.
template <int kEach, class T>
__global__ void __launch_bounds__(kThreads, 3)
    sum(T* out, const T* in, PlaneWalk walk, HB_ARGUMENT(Geometry) g, HB_ARGUMENT(Lists) lists) {
  using C = compute_t<T>;
  HB_DYNAMIC_SHARED(int32_t, room);
  const int32_t* const list = lists.of_block(room);
  HB_GRID_LOOP(thread, walk.threads()) {
    const PlanesOfThread<kEach> of(walk, thread);
    const int64_t line = of.position / g.inner, c = of.position - line * g.inner, row = line / g.size[2];
    const int64_t x = row / g.size[1];
    const int64_t at[3] = {x, row - x * g.size[1], line - row * g.size[2]};
    int from[3], to[3];
    const int32_t* items[3];
    for (int d = 0; d < 3; ++d) {
      from[d] = list[g.first[d] + at[d]], to[d] = list[g.first[d] + at[d] + 1];
      items[d] = list + g.first[d] + g.size[d] + 1;
    }
    C total[kEach] = {};
    for (int a = from[0]; a < to[0]; ++a)
      for (int b = from[1]; b < to[1]; ++b) {
        const int64_t lines = (items[0][a] * g.outputs[1] + items[1][b]) * g.outputs[2];
        for (int e = from[2]; e < to[2]; ++e) {
          const int64_t picked = (lines + items[2][e]) * g.inner + c;
          for (int k = 0; k < kEach; ++k) total[k] += widen<C>(in[of[k] * g.picked_plane() + picked]);
        }
      }
    for (int k = 0; k < kEach; ++k)
      if (of.has(k)) out[of[k] * walk.positions + of.position] = T(total[k]);
  }
}

/// So many blocks keep a large GPU busy; more would only copy the lists more often.
unsigned blocks_of(const PlaneWalk& walk) { return std::min(blocks_for(walk.threads()), 4096u); }

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
  if (s.outer * g.picked_plane() == 0) return;
  const MadeLists made(all);
  const auto run = [&](auto word) {
    using Word = decltype(word);
    with_planes<8>(g.picked_plane(), s.outer, [&](auto each, const PlaneWalk& walk) {
      HB_LAUNCH((pick<each(), Word>), blocks_of(walk), kThreads, made.lists.shared_bytes(), current_stream(),
                static_cast<Word*>(out), static_cast<const Word*>(in), walk, g, made.lists);
    });
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
  if (s.outer * g.plane() == 0) return;
  const MadeLists made(all);
  HB_FLOATING_SWITCH("separable_sum", dtype, [&](auto type) {
    using T = decltype(type);
    with_planes(g.plane(), s.outer, [&](auto each, const PlaneWalk& walk) {
      HB_LAUNCH((sum<each(), T>), blocks_of(walk), kThreads, made.lists.shared_bytes(), current_stream(),
                static_cast<T*>(out), static_cast<const T*>(in), walk, g, made.lists);
    });
  });
}
HB_REGISTER_CUDA(separable_select_kernel, separable_select);
HB_REGISTER_CUDA(separable_sum_kernel, separable_sum);

}  // namespace
}  // namespace hb::cuda
