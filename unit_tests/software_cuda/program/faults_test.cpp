// Kernels with a fault each: the software device says which kernel has it. And kernels without, which lanes of a GPU
// would run alike.
#include <algorithm>
#include <numeric>

#include "software_cuda/program/device_memory.h"

namespace hb::cuda {
const char* current_function() { return "test"; }
void after_launch(const char*) {}
void fail(cudaError_t code, const char* what) {
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}
}  // namespace hb::cuda

namespace {

using hb::cuda::kFullWarp;

INSTANTIATE_TEST_SUITE_P(Seeds, SoftwareCuda, testing::Values(1, 2, 3));

__global__ void add_one(float* x, const float* y, int n) { HB_GRID_LOOP(i, n) x[i] = y[i] + 1; }

TEST_P(SoftwareCuda, WorkWaitsUntilSomebodyAsks) {
  Memory<float> y(std::vector<float>(1000, 2)), x(1000);
  software_cuda_control()->reset_counts();
  HB_LAUNCH(add_one, 4, 64, 0, nullptr, x, y, 1000);
  HB_LAUNCH(add_one, 4, 64, 0, nullptr, y, x, 1000);
  EXPECT_EQ(std::string(software_cuda_control()->kernels()), "");
  EXPECT_EQ(y.read(), std::vector<float>(1000, 4));
  const auto counts = software_cuda_control()->counts();
  EXPECT_EQ(counts.launches, 2u);
  EXPECT_EQ(counts.synchronisations, 1u);
  EXPECT_EQ(counts.bytes_copied, 4000u);
  EXPECT_EQ(std::string(software_cuda_control()->kernels()), "test: add_one\ntest: add_one\n");
}

TEST_P(SoftwareCuda, TheHostCannotReadItsMemory) {
  Memory<float> x(4);
  EXPECT_DEATH(static_cast<void>(*static_cast<volatile float*>(x)), "host code touched");
}

TEST_P(SoftwareCuda, OutOfBoundsIsFound) {
  Memory<float> y(std::vector<float>(1024, 2)), x(1000);
  HB_LAUNCH(add_one, 4, 64, 0, nullptr, x, y, 1024);
  expect_says(outcome(), {"kernel test: add_one", "after the end of a block of 4000 bytes"});
  Memory<float> short_x(1001);  // ends within the last 64 bytes
  HB_LAUNCH(add_one, 4, 64, 0, nullptr, short_x, y, 1002);
  expect_says(outcome(), {"kernel test: add_one", "wrote after the end of a block of 4004 bytes"});
  HB_LAUNCH(add_one, 4, 64, 0, nullptr, static_cast<float*>(x) - 2000, y, 1000);
  expect_says(outcome(), {"kernel test: add_one", "touched"});
}

// Each lane takes its neighbour's value; `synchronised` is the barrier that must stand between.
template <bool synchronised>
__global__ void reverse(float* x, int n) {
  HB_SHARED(float, tile, 256);
  tile[threadIdx.x] = x[threadIdx.x];
  if (synchronised) __syncthreads();
  x[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

TEST_P(SoftwareCuda, AMissingBarrierIsFound) {
  std::vector<float> values(256);
  std::iota(values.begin(), values.end(), 0.0f);
  Memory<float> x(values);
  HB_LAUNCH(reverse<true>, 1, 256, 0, nullptr, x, 256);
  std::reverse(values.begin(), values.end());
  EXPECT_EQ(x.read(), values);
  HB_LAUNCH(reverse<false>, 1, 256, 0, nullptr, x, 256);
  x.read();
  expect_says(outcome(), {"kernel test: reverse<false>", "unwritten"});
}

__global__ void half_barrier(float* x) {
  if (threadIdx.x < 40) {
    __syncthreads();
  } else {
    __syncwarp();
    x[threadIdx.x] = __shfl_sync(0xffu, 1.0f, 0);
  }
}

TEST_P(SoftwareCuda, BarriersThatNeverMeetAreFound) {
  Memory<float> x(64);
  HB_LAUNCH(half_barrier, 1, 64, 0, nullptr, x);
  expect_says(outcome(), {"kernel test: half_barrier"});
}

TEST_P(SoftwareCuda, AMissingWaitBetweenStreamsIsFound) {
  cudaStream_t other;
  cudaStreamCreateWithPriority(&other, cudaStreamNonBlocking, 0);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  for (const bool ordered : {true, false}) {
    Memory<float> a(std::vector<float>(64, 1)), b(64), c(64);
    cudaDeviceSynchronize();
    HB_LAUNCH(add_one, 1, 64, 0, nullptr, b, a, 64);
    cudaEventRecord(event, nullptr);
    if (ordered) cudaStreamWaitEvent(other, event);
    HB_LAUNCH((add_one), 1, 64, 0, other, c, b, 64);
    std::vector<float> got(64);
    cudaMemcpyAsync(got.data(), c, 256, cudaMemcpyDeviceToHost, other);
    if (ordered) {
      EXPECT_EQ(got, std::vector<float>(64, 3));
      EXPECT_EQ(outcome(), "cudaSuccess");
      continue;
    }
    expect_says(outcome(), {"kernel test: (add_one) ran before kernel test: add_one", "no event orders them"});
  }
  cudaEventDestroy(event);
  cudaStreamDestroy(other);
}

template <bool atomic>
__global__ void last_wins(int* x) {
  if (atomic)
    atomicMax(x, static_cast<int>(threadIdx.x));
  else
    *x = static_cast<int>(threadIdx.x);
}

TEST_P(SoftwareCuda, DependenceOnTheOrderOfLanesIsFound) {
  software_cuda_control()->run_twice(true);
  Memory<int> x(std::vector<int>{0});
  HB_LAUNCH(last_wins<true>, 1, 256, 0, nullptr, x);
  EXPECT_EQ(x.read()[0], 255);
  EXPECT_EQ(outcome(), "cudaSuccess");
  HB_LAUNCH(last_wins<false>, 1, 256, 0, nullptr, x);
  expect_says(outcome(), {"kernel test: last_wins<false>", "depends on the order of its threads"});
}

__global__ void first_half(float* x, int n) { HB_GRID_LOOP(i, n / 2) x[i] = 1; }

TEST_P(SoftwareCuda, UnwrittenOutputIsFound) {
  Memory<float> x(64);
  HB_LAUNCH(first_half, 1, 64, 0, nullptr, x, 64);
  x.read();
  expect_says(outcome(), {"kernel test: first_half left 128 of the 256 bytes", "unwritten"});
}

__global__ void misaligned(float* x) { hb::cuda::store_vector(x + 1, float4{1, 2, 3, 4}); }

TEST_P(SoftwareCuda, MisalignedVectorsAreFound) {
  Memory<float> x(8);
  HB_LAUNCH(misaligned, 1, 1, 0, nullptr, x);
  expect_says(outcome(), {"kernel test: misaligned", "not aligned to 16"});
}

TEST_P(SoftwareCuda, LimitsOfALaunchAreChecked) {
  Memory<float> x(8);
  EXPECT_THROW(HB_LAUNCH(misaligned, dim3(1, 65536), 1, 0, nullptr, x), std::runtime_error);
  EXPECT_THROW(HB_LAUNCH(misaligned, 1, dim3(32, 33), 0, nullptr, x), std::runtime_error);
  EXPECT_THROW(HB_LAUNCH(misaligned, 1, 1, 49 << 10, nullptr, x), std::runtime_error);
  EXPECT_EQ(outcome(), "cudaSuccess");
}

__global__ void past_shared(float* x) {
  HB_DYNAMIC_SHARED(float, memory);
  memory[threadIdx.x] = 1;
  __syncthreads();
  x[threadIdx.x] = memory[threadIdx.x];
}

TEST_P(SoftwareCuda, TheEndOfSharedMemoryIsGuarded) {
  Memory<float> x(64);
  HB_LAUNCH(past_shared, 1, 64, 64 * sizeof(float), nullptr, x);
  EXPECT_EQ(x.read(), std::vector<float>(64, 1));
  HB_LAUNCH(past_shared, 1, 64, 60 * sizeof(float), nullptr, x);
  expect_says(outcome(), {"kernel test: past_shared", "touched"});
}

// Sums over warps in two groups of lanes that part, then over the block.
__global__ void sums(int* x, int* votes) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned even = 0x55555555u, mask = lane % 2 == 0 ? even : ~even;
  int sum = lane;
  if (lane % 2 == 0) {
    for (int d = 16; d > 1; d /= 2) sum += __shfl_xor_sync(mask, sum, d);
  } else {
    for (int d = 16; d > 1; d /= 2) sum += __shfl_xor_sync(mask, sum, d);
    sum += 1000;
  }
  __syncwarp();
  const unsigned odd_lanes = __ballot_sync(kFullWarp, sum > 1000);
  const int count = __syncthreads_count(lane == 3);
  if (lane >= 30) return;  // who has ended is waited for by nobody
  __syncthreads();
  x[threadIdx.x] = sum;
  votes[threadIdx.x] = odd_lanes == ~even && count == 4;
}

TEST_P(SoftwareCuda, LanesMeetByMask) {
  Memory<int> x(std::vector<int>(128)), votes(std::vector<int>(128));
  HB_LAUNCH(sums, 1, 128, 0, nullptr, x, votes);
  const auto got = x.read(), good = votes.read();
  EXPECT_EQ(outcome(), "cudaSuccess");
  for (int i = 0; i < 128; ++i) {
    EXPECT_EQ(got[i], i % 32 >= 30 ? 0 : i % 2 == 0 ? 240 : 1256) << i;
    EXPECT_EQ(good[i], i % 32 < 30) << i;
  }
}

}  // namespace
