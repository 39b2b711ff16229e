#include "cuda/graph.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include <halfbridge/error.h>

#include "core/pending.h"
#include "cuda/last_block.h"
#include "cuda/streams.h"

namespace hb::cuda {
namespace {

thread_local constinit Graph* recording = nullptr;
thread_local constinit Graph* updating = nullptr;

}  // namespace

Graph* Graph::recorded() noexcept { return recording; }
Graph* Graph::updated() noexcept { return updating; }

CudaGraphApi::Pool make_graph_pool() {
  static std::atomic<uint64_t> next{0};
  return {0, ++next};
}

void Graph::begin(Pool pool, int mode) {
  HB_CHECK(!recording, "[CUDAGraph] expected no graph to be recorded on this thread, got one");
  HB_CHECK(!graph_ && !executable_, "[CUDAGraph] expected a graph that holds nothing; reset() it first");
  pending::finish();
  device_ = current_device(), stream_ = current_stream();
  pool_ = pool == Pool{0, 0} ? make_graph_pool() : pool;
  hold_graph_pool(pool_, device_);
  counters_ = static_cast<int*>(allocate_kept(kBlockCounters * sizeof(int)));
  check(cudaMemsetAsync(counters_, 0, kBlockCounters * sizeof(int), stream_), "CUDAGraph");
  wait_for(stream_);  // a replay may be in any stream
  begin_graph_pool(pool_, device_);
  recording = this;
  const cudaError_t code = cudaStreamBeginCapture(stream_, static_cast<cudaStreamCaptureMode>(mode));
  if (code == cudaSuccess) return;
  recording = nullptr;
  end_graph_pool(device_);
  check(code, "CUDAGraph");
}

// Not the caching allocator's: that would queue work of tests into what is recorded.
void* Graph::allocate_kept(size_t bytes) {
  const Unrecorded guard;
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "CUDAGraph");
  kept_.push_back(memory);
  return memory;
}

void Graph::expect_none() {
  HB_CHECK(!recorded(), "[", current_function(), "] copies between host and device cannot be recorded in a graph");
}
void Graph::stop(bool good) {
  cudaGraph_t made = nullptr;
  const cudaError_t code = cudaStreamEndCapture(stream_, &made);
  recording = nullptr;
  end_graph_pool(device_);
  if (good) check(code, "CUDAGraph");
  graph_ = made;
}
void Graph::end() {
  HB_CHECK(recording == this, "[CUDAGraph] expected capture_end() on the thread that began it");
  HB_CHECK(current_stream() == stream_, "Capture must end on the same stream it began on.");
  pending::finish();
  for (const auto& [generator, draws] : draws_) advance_draws(draws.start, draws.count);
  stop(true);
  if (!keep_graph_) instantiate();
}
void Graph::instantiate() {
  HB_CHECK(graph_, "[CUDAGraph] expected a recorded graph, got none");
  if (executable_) cudaGraphExecDestroy(std::exchange(executable_, nullptr));
  check(cudaGraphInstantiate(&executable_, graph_, 0), "CUDAGraph");
}

void Graph::replay() {
  HB_CHECK(executable_, "[CUDAGraph] expected a graph that was recorded and instantiated");
  pending::finish();
  const OnDevice guard(device_);
  const cudaStream_t stream = current_stream();
  for (Numbers& n : numbers_) write(n, stream);
  for (auto& [generator, draws] : draws_) {
    const std::lock_guard lock(generator->mutex_);
    const PhiloxStart now = generator->take(draws.count);
    if (!draws.written || draws.seed != now.seed || draws.offset != now.offset) {
      const uint64_t start[2] = {now.seed, now.offset};
      check(cudaMemcpyAsync(draws.start, start, sizeof start, cudaMemcpyHostToDevice, stream), "CUDAGraph");
    }
    draws.written = true, draws.seed = now.seed, draws.offset = now.offset + draws.count;
  }
  check(cudaGraphLaunch(executable_, stream), "CUDAGraph");
  after_launch("CUDAGraph");
}

// From memory that is not pinned: it has been read when the call returns.
void Graph::write(Numbers& n, cudaStream_t stream) {
  if (std::exchange(n.written, true)) return;
  check(cudaMemcpyAsync(n.memory, n.now.data(), n.now.size(), cudaMemcpyHostToDevice, stream), "CUDAGraph");
}
void* Graph::add_numbers(const void* numbers, size_t bytes) {
  const auto* const from = static_cast<const char*>(numbers);
  void* const memory = allocate_kept(bytes);
  numbers_.push_back({memory, {from, from + bytes}});
  return memory;
}
void Graph::write_numbers(const void* numbers, size_t bytes) {
  HB_CHECK(next_numbers_ < numbers_.size() && numbers_[next_numbers_].now.size() == bytes, "[CUDAGraph] the ",
           current_function(), " that is called again is not the one that was recorded");
  Numbers& n = numbers_[next_numbers_++];
  if (std::memcmp(n.now.data(), numbers, bytes) == 0) return;
  std::memcpy(n.now.data(), numbers, bytes);
  n.written = false;
}
void Graph::update(const std::function<void()>& again) {
  struct Back {
    Graph* before = updating;
    ~Back() { updating = before; }
  } back;
  updating = this, next_numbers_ = 0;
  again();
}

PhiloxStart Graph::draw(CudaGenerator& generator, uint64_t count) {
  HB_CHECK(&generator == default_generator(device_).get<CudaGenerator>(), "[", current_function(),
           "] expected the default generator of cuda:", int{device_},
           " within a recorded graph: others' numbers cannot move on");
  Draws& d = draws_[&generator];
  if (!d.start) d.start = static_cast<uint64_t*>(allocate_kept(2 * sizeof(uint64_t)));
  const PhiloxStart start{0, d.count, d.start};
  d.count += (count + 3) / 4 * 4;
  return start;
}

void Graph::debug_dump(const std::string& path) {
  HB_CHECK(graph_ && keep_graph_, "[CUDAGraph] debug_dump expected a graph that was made with keep_graph");
  check(cudaGraphDebugDotPrint(graph_, path.c_str(), 0), "CUDAGraph");
}

void Graph::reset() {
  if (recording == this) {
    stop(false);
    cudaGetLastError();
  }
  const Unrecorded guard;  // another graph may be recorded
  if (executable_) cudaGraphExecDestroy(std::exchange(executable_, nullptr));
  if (graph_) cudaGraphDestroy(std::exchange(graph_, nullptr));
  for (void* memory : kept_) cudaFree(memory);
  kept_.clear(), draws_.clear(), numbers_.clear();
  if (pool_ != Pool{0, 0}) release_graph_pool(std::exchange(pool_, {0, 0}), device_);
}
Graph::~Graph() { reset(); }

}  // namespace hb::cuda
