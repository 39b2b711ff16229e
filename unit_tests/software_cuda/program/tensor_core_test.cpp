// What the software device has in the place of tensor cores: each lane's elements, written here from the documentation
// once more, and the faults that it sees.
#include "cuda/tensor_core.h"

#include <random>

#include "software_cuda/program/device_memory.h"

namespace {

using hb::BFloat16;
using hb::Half;
using namespace hb::cuda;

template <class T>
__device__ uint32_t two(T low, T high) {
  return low.x | static_cast<uint32_t>(high.x) << 16;
}

// a (16, 16), b (16, 8), c (16, 8) by rows. PTX ISA, fragments of m16n8k16: element by element, as it says.
template <class T>
__global__ void multiply(const T* a, const T* b, float* c) {
  const int group = static_cast<int>(threadIdx.x) >> 2, in_group = static_cast<int>(threadIdx.x) % 4;
  T a_elements[8], b_elements[4];
  for (int i = 0; i < 8; ++i) {
    const int row = i < 2 || (4 <= i && i < 6) ? group : group + 8;
    const int column = i < 4 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8;
    a_elements[i] = a[row * 16 + column];
  }
  for (int i = 0; i < 4; ++i) {
    const int row = i < 2 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8;
    b_elements[i] = b[row * 8 + group];
  }
  MatrixA<T> of_a;
  MatrixB<T> of_b;
  MatrixC of_c;
  for (int i = 0; i < 4; ++i) of_a.pairs[i] = two(a_elements[2 * i], a_elements[2 * i + 1]);
  for (int i = 0; i < 2; ++i) of_b.pairs[i] = two(b_elements[2 * i], b_elements[2 * i + 1]);
  const auto place = [=](int i) { return (i < 2 ? group : group + 8) * 8 + in_group * 2 + (i & 1); };
  for (int i = 0; i < 4; ++i) of_c.x[i] = c[place(i)];
  mma(of_c, of_a, of_b);
  for (int i = 0; i < 4; ++i) c[place(i)] = of_c.x[i];
}

// Floats as mma.m16n8k8 of TF32 takes them, two of it side by side.
__global__ void multiply_floats(const float* a, const float* b, float* c) {
  const int group = static_cast<int>(threadIdx.x) >> 2, in_group = static_cast<int>(threadIdx.x) % 4;
  MatrixA<float> of_a;
  MatrixB<float> of_b;
  MatrixC of_c;
  for (int i = 0; i < 8; ++i) {
    const int row = i % 2 == 0 ? group : group + 8, column = i % 4 < 2 ? in_group : in_group + 4;
    of_a.x[i] = a[row * 16 + column + i / 4 * 8];
  }
  for (int i = 0; i < 4; ++i) of_b.x[i] = b[(in_group + i * 4) * 8 + group];
  const auto place = [=](int i) { return (i < 2 ? group : group + 8) * 8 + in_group * 2 + (i & 1); };
  for (int i = 0; i < 4; ++i) of_c.x[i] = c[place(i)];
  mma(of_c, of_a, of_b);
  for (int i = 0; i < 4; ++i) c[place(i)] = of_c.x[i];
}

template <class T>
std::vector<T> random_values(size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<T> values;
  for (size_t i = 0; i < n; ++i) values.push_back(T(std::normal_distribution<float>()(generator)));
  return values;
}

template <class T>
void expect_product(unsigned seed) {
  const auto a = random_values<T>(256, seed), b = random_values<T>(128, seed + 1);
  const auto c = random_values<float>(128, seed + 2);
  const Memory<T> of_a(a), of_b(b);
  const Memory<float> of_c(c);
  if constexpr (std::is_same_v<T, float>)
    HB_LAUNCH(multiply_floats, 1, 32, 0, nullptr, of_a, of_b, of_c);
  else
    HB_LAUNCH(multiply<T>, 1, 32, 0, nullptr, of_a, of_b, of_c);
  const std::vector<float> got = of_c.read();
  ASSERT_EQ(outcome(), "cudaSuccess");
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 8; ++j) {
      double sum = c[i * 8 + j];
      for (size_t k = 0; k < 16; ++k) sum += double{a[i * 16 + k]} * double{b[k * 8 + j]};
      EXPECT_NEAR(got[i * 8 + j], sum, 1e-5) << i << ", " << j;
    }
}

TEST_P(SoftwareCuda, TensorCoresMultiply) {
  for (unsigned seed = 1; seed < 6; ++seed)
    expect_product<Half>(seed), expect_product<BFloat16>(seed), expect_product<float>(seed);
}

// Four matrices (8, 8) one after the other. Lane i gets row i / 4, columns 2 (i % 4) and the next one.
template <bool kTransposed>
__global__ void load(const uint4* rows, uint32_t* out) {
  HB_SHARED(uint4, shared, 32);
  shared[threadIdx.x] = rows[threadIdx.x];
  __syncwarp();
  uint32_t pairs[4];
  load_matrices<kTransposed>(pairs, shared + threadIdx.x);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = pairs[i];
}

TEST_P(SoftwareCuda, MatricesAreLoaded) {
  std::vector<uint16_t> numbers(256);
  for (size_t i = 0; i < 256; ++i) numbers[i] = static_cast<uint16_t>(i);
  std::vector<uint4> rows(32);
  std::memcpy(rows.data(), numbers.data(), 512);
  const Memory<uint4> in(rows);
  const Memory<uint32_t> plain(128), transposed(128);
  HB_LAUNCH(load<false>, 1, 32, 0, nullptr, in, plain);
  HB_LAUNCH(load<true>, 1, 32, 0, nullptr, in, transposed);
  const auto got = plain.read(), turned = transposed.read();
  EXPECT_EQ(outcome(), "cudaSuccess");
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t matrix = 0; matrix < 4; ++matrix) {
      const uint32_t major = lane / 4, minor = lane % 4 * 2;
      const auto number = [&](uint32_t row, uint32_t column) { return matrix * 64 + row * 8 + column; };
      EXPECT_EQ(got[lane * 4 + matrix], number(major, minor) | number(major, minor + 1) << 16);
      EXPECT_EQ(turned[lane * 4 + matrix], number(minor, major) | number(minor + 1, major) << 16);
    }
}

enum class Fault { none, no_wait, misaligned, lane_is_missing };

template <Fault kFault>
__global__ void copy_and_load(const uint4* rows, uint32_t* out) {
  HB_SHARED(uint4, shared, 33);
  begin_copy(shared + threadIdx.x, rows + threadIdx.x, threadIdx.x < 24);
  if (kFault != Fault::no_wait) wait_for_copies();
  __syncwarp();
  uint32_t pairs[4] = {};
  const char* const row = reinterpret_cast<const char*>(shared + threadIdx.x) + (kFault == Fault::misaligned ? 2 : 0);
  if (kFault != Fault::lane_is_missing || threadIdx.x != 3) load_matrices<false>(pairs, row);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = pairs[i];
}

TEST_P(SoftwareCuda, FaultsOfTensorCoresAreFound) {
  const Memory<uint4> in(std::vector<uint4>(32, {1, 1, 1, 1}));
  const Memory<uint32_t> out(128);
  HB_LAUNCH(copy_and_load<Fault::none>, 1, 32, 0, nullptr, in, out);
  const auto good = out.read();
  for (size_t i = 0; i < 128; ++i) EXPECT_EQ(good[i], i % 4 < 3 ? 1u : 0u) << i;
  HB_LAUNCH(copy_and_load<Fault::no_wait>, 1, 32, 0, nullptr, in, out);
  for (const uint32_t pair : out.read()) EXPECT_TRUE(std::isnan(float{Half(pair & 0xffff, Half::from_bits())}));
  outcome();
  HB_LAUNCH(copy_and_load<Fault::misaligned>, 1, 32, 0, nullptr, in, out);
  expect_says(outcome(), {"kernel test: copy_and_load<Fault::misaligned>", "not aligned to 16"});
  HB_LAUNCH(copy_and_load<Fault::lane_is_missing>, 1, 32, 0, nullptr, in, out);
  expect_says(outcome(), {"kernel test: copy_and_load<Fault::lane_is_missing>", "lane 3 is not at the instruction"});
}

}  // namespace
