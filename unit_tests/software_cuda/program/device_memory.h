#pragma once
// Memory of the software device, and what the device says, for tests of kernels of their own.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cuda/launch.h"
#include "software_cuda/software_cuda.h"

extern "C" const software_cuda::Control* software_cuda_control();

template <class T>
class Memory {
 public:
  explicit Memory(size_t n) : n_(n) {
    hb::cuda::check(cudaMalloc(reinterpret_cast<void**>(&at_), n * sizeof(T)), "cudaMalloc");
  }
  explicit Memory(const std::vector<T>& values) : Memory(values.size()) {
    cudaMemcpyAsync(at_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice, nullptr);
  }
  ~Memory() { cudaFree(at_); }
  operator T*() const { return at_; }
  std::vector<T> read() const {
    std::vector<T> values(n_);
    cudaMemcpyAsync(values.data(), at_, n_ * sizeof(T), cudaMemcpyDeviceToHost, nullptr);
    return values;
  }

 private:
  T* at_ = nullptr;
  size_t n_;
};

/// What the device says when it has done everything.
inline std::string outcome() {
  cudaDeviceSynchronize();
  const std::string text = cudaGetErrorString(cudaPeekAtLastError());
  cudaGetLastError();
  return text;
}
inline void expect_says(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
}

/// Runs with three orders of lanes.
class SoftwareCuda : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { software_cuda_control()->seed(static_cast<uint64_t>(GetParam())); }
  void TearDown() override { software_cuda_control()->run_twice(false); }
};
