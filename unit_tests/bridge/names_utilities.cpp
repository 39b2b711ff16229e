// c10's and at's small classes as programs use them: devices, memory with an owner, errors with context, temporary
// files, locks; and CUDA's names where there is no CUDA.
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include <unistd.h>

#include <ATen/Config.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/core/Allocator.h>
#include <c10/core/Stream.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/LeftRight.h>
#include <c10/util/ScopeExit.h>
#include <c10/util/Synchronized.h>
#include <c10/util/overloaded.h>
#include <c10/util/tempfile.h>
#include <torch/data/detail/data_shuttle.h>
#include <torch/data/detail/sequencers.h>
#include <torch/detail/static.h>

namespace {

template <class F>
std::string text_of(F f) {
  try {
    f();
  } catch (const c10::Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(NamesUtilities, DevicesAreNamedAsLibTorchNamesThem) {
  for (const char* name : {"cpu", "cuda", "cuda:1", "mkldnn", "hip", "xla:3", "vulkan", "metal", "xpu", "mps", "meta",
                           "hpu", "ve", "lazy", "ipu", "mtia", "privateuseone:1"})
    EXPECT_EQ(torch::Device(name).str(), name);
  EXPECT_EQ(c10::DeviceTypeName(torch::kPrivateUse1), "PRIVATEUSEONE");
  EXPECT_TRUE(torch::Device(torch::kXPU, 0).is_xpu());
  EXPECT_FALSE(torch::Device(torch::kXLA).supports_as_strided());
  EXPECT_NE(text_of([] { torch::Device("gpu"); }).find("Expected one of cpu, cuda, ipu, xpu"), std::string::npos);
  EXPECT_NE(text_of([] { torch::Device(""); }).find("Device string must not be empty"), std::string::npos);
  for (const char* wrong : {"cuda:", "cuda:01", "cuda:-1", "cuda: 1", "cuda:1:2", "cuda:128"})
    EXPECT_NE(text_of([&] { torch::Device device(wrong); }).find("Invalid device string"), std::string::npos) << wrong;
}

TEST(NamesUtilities, ADataPtrFreesItsContextOnce) {
  static int freed;
  freed = 0;
  int value = 5;
  const c10::DeleterFnPtr count = [](void*) { ++freed; };
  {
    at::DataPtr p(&value, &value, count, torch::kCPU);
    EXPECT_EQ(p.get(), &value);
    EXPECT_EQ(p.cast_context<int>(count), &value);
    EXPECT_EQ(p.cast_context<int>(nullptr), nullptr);
    at::DataPtr moved = std::move(p);
    EXPECT_FALSE(p);  // NOLINT: what a move leaves
    p = std::move(moved);
    EXPECT_TRUE(p);
  }
  EXPECT_EQ(freed, 1);
  at::DataPtr released(&value, &value, count, torch::kCPU);
  EXPECT_EQ(released.release_context(), &value);
  released.clear();
  EXPECT_EQ(freed, 1);
}

TEST(NamesUtilities, TheAllocatorOfTheCpu) {
  c10::Allocator* allocator = c10::GetAllocator(torch::kCPU);
  const at::DataPtr p = allocator->allocate(100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(p.get()) % 64, 0u);
  EXPECT_TRUE(allocator->is_simple_data_ptr(p));
  EXPECT_EQ(allocator->allocate(0).get(), nullptr);
  void* raw = allocator->raw_allocate(8);
  EXPECT_NE(raw, nullptr);
  allocator->raw_deallocate(raw);
  EXPECT_NE(text_of([] { c10::GetAllocator(torch::kCUDA); }).find("cuda"), std::string::npos);
}

TEST(NamesUtilities, ErrorsSayMoreOnTheirWay) {
  c10::Error e({__func__, __FILE__, __LINE__}, "message");
  EXPECT_STREQ(e.what(), "message");
  e.add_context("one");
  EXPECT_STREQ(e.what_without_backtrace(), "message (one)");
  e.add_context("two");
  EXPECT_STREQ(e.what_without_backtrace(), "message\n  one\n  two");
  EXPECT_EQ(e.msg(), "message");
  EXPECT_EQ(e.context().size(), 2u);
}

TEST(NamesUtilities, TemporaryFilesEndWithTheirOwners) {
  std::string file, folder;
  {
    c10::TempFile f = c10::make_tempfile("hb-test-");
    c10::TempFile moved = std::move(f);
    file = moved.name;
    EXPECT_NE(file.find("hb-test-"), std::string::npos);
    EXPECT_EQ(::write(moved.fd, "x", 1), 1);
    EXPECT_TRUE(std::ifstream(file).good());
    const c10::TempDir d = c10::make_tempdir();
    folder = d.name;
    EXPECT_EQ(::access(folder.c_str(), W_OK), 0);
  }
  EXPECT_NE(::access(file.c_str(), F_OK), 0);
  EXPECT_NE(::access(folder.c_str(), F_OK), 0);
  EXPECT_FALSE(c10::try_make_tempfile("no/such/folder/"));
  EXPECT_NE(text_of([] { c10::make_tempdir("no/such/folder/"); }).find("No such file"), std::string::npos);
}

TEST(NamesUtilities, LocksAndScopes) {
  c10::Synchronized<int> counter(0);
  c10::LeftRight<std::vector<int>> list;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) {
        counter.withLock([](int& c) { ++c; });
        list.write([](std::vector<int>& v) { v.push_back(1); });
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(counter.withLock([](int& c) { return c; }), 400);
  EXPECT_EQ(list.read([](const std::vector<int>& v) { return v.size(); }), 400u);
  int calls = 0;
  {
    auto runs = c10::make_scope_exit([&] { ++calls; });
    auto kept = c10::make_scope_exit([&] { ++calls; });
    kept.release();
  }
  EXPECT_EQ(calls, 1);
  const std::variant<int, std::string> v = "text";
  EXPECT_EQ(std::visit(c10::overloaded([](int) { return 1; }, [](const std::string&) { return 2; }), v), 2);
}

struct Numbered {
  size_t sequence_number;
};

TEST(NamesUtilities, JobsComeBackInTheirOrder) {
  torch::data::detail::DataShuttle<int, Numbered> shuttle;
  EXPECT_FALSE(shuttle.pop_result());
  for (int k = 0; k < 3; ++k) shuttle.push_job(k);
  std::thread worker([&] {
    int jobs[3];
    for (int& job : jobs) job = shuttle.pop_job();
    for (int k = 2; k >= 0; --k) shuttle.push_result({static_cast<size_t>(jobs[k])});
  });
  torch::data::detail::sequencers::OrderedSequencer<Numbered> ordered(3);
  for (size_t k = 0; k < 3; ++k) EXPECT_EQ(ordered.next([&] { return shuttle.pop_result(); })->sequence_number, k);
  EXPECT_FALSE(ordered.next([&] { return shuttle.pop_result(); }));
  worker.join();
  EXPECT_EQ(shuttle.in_flight_jobs(), 0u);
  torch::data::detail::Queue<int> queue;
  EXPECT_NE(text_of([&] { queue.pop(std::chrono::milliseconds(5)); }).find("Timeout in DataLoader queue"),
            std::string::npos);
}

TEST(NamesUtilities, CudaAnswersThatThereIsNoDevice) {
  EXPECT_EQ(c10::cuda::device_count(), 0);
  EXPECT_EQ(at::cuda::getNumGPUs(), 0);
  c10::cuda::CUDACachingAllocator::emptyCache();
  const at::cuda::OptionalCUDAGuard nothing{std::optional<c10::Device>()};
  at::cuda::CUDAEvent event;
  EXPECT_TRUE(event.query());
  const std::string none = "No CUDA GPUs are available";
  EXPECT_NE(text_of([] { at::cuda::getCurrentCUDAStream(); }).find(none), std::string::npos);
  EXPECT_NE(text_of([] { c10::cuda::CUDAGuard guard(0); }).find(none), std::string::npos);
  EXPECT_NE(text_of([] { at::cuda::getCurrentDeviceProperties(); }).find(none), std::string::npos);
  EXPECT_NE(text_of([&] { event.record(); }).find(none), std::string::npos);
  EXPECT_THROW(C10_CUDA_CHECK(cudaErrorNoDevice), c10::CUDAError);
  EXPECT_NO_THROW(C10_CUDA_CHECK(cudaSuccess));
  const c10::Stream cpu(c10::Stream::DEFAULT, torch::kCPU);
  EXPECT_TRUE(cpu.query());
  EXPECT_THROW(c10::Stream(c10::Stream::DEFAULT, torch::kCUDA).synchronize(), c10::Error);
}

TEST(NamesUtilities, WhatATypeHas) {
  struct With {
    void forward() {}
  };
  EXPECT_TRUE(torch::detail::has_forward<With>::value);
  EXPECT_FALSE(torch::detail::has_forward<int>::value);
  EXPECT_EQ(AT_PARALLEL_OPENMP, 1);
}

}  // namespace
