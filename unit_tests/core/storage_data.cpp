// Memory that a program puts behind a tensor, and what becomes of the engine's own.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace {

c10::DataPtr counted(void* memory, int& freed) {
  return {memory, &freed, [](void* count) { ++*static_cast<int*>(count); }, at::kCPU};
}

TEST(StorageData, TheEnginesBlockOutlivesItsTensor) {
  c10::DataPtr mine;
  {
    const torch::Tensor x = torch::arange(1000, torch::kFloat);
    mine = x.storage().set_data_ptr(c10::DataPtr(nullptr, at::kCPU));
    EXPECT_EQ(x.data_ptr(), nullptr);
  }
  EXPECT_EQ(static_cast<float*>(mine.get())[999], 999);
}

TEST(StorageData, ABlockThatIsGivenAwayIsFreedBeforeItsTensor) {
  const torch::Tensor x = torch::ones({1000});
  float numbers[1000] = {5};
  int freed = 0;
  x.storage().set_data_ptr_noswap(counted(numbers, freed));
  EXPECT_EQ(x[0].item<float>(), 5);
  x.storage().set_data_ptr_noswap(counted(numbers, freed));
  EXPECT_EQ(freed, 1);
  c10::DataPtr last = x.storage().set_data_ptr(c10::DataPtr(nullptr, at::kCPU));
  EXPECT_EQ(freed, 1);
  last.clear();
  EXPECT_EQ(freed, 2);
}

TEST(StorageData, TheProgramsMemoryIsFreedWithTheTensor) {
  float numbers[4] = {1, 2, 3, 4};
  int freed = 0;
  {
    torch::Tensor x = torch::zeros({4});
    x.storage().set_data_ptr_noswap(counted(numbers, freed));
    const torch::Tensor view = x.slice(0, 2);
    x = torch::Tensor();
    EXPECT_EQ(freed, 0);
    EXPECT_EQ(view.sum().item<float>(), 7);
  }
  EXPECT_EQ(freed, 1);
}

TEST(StorageData, MemoryThatWasBorrowedKeepsItsDeleter) {
  float numbers[2] = {1, 2};
  int freed = 0;
  c10::DataPtr before;
  {
    const torch::Tensor x = torch::from_blob(numbers, {2}, [&freed](void*) { ++freed; });
    int others = 0;
    float replaced[2] = {3, 4};
    before = x.storage().set_data_ptr(counted(replaced, others));
    EXPECT_EQ(x[1].item<float>(), 4);
  }
  EXPECT_EQ(freed, 0);
  EXPECT_EQ(before.get(), numbers);
  before.clear();
  EXPECT_EQ(freed, 1);
}

TEST(StorageData, RefusesMoreBytesThanItHas) {
  const torch::Tensor x = torch::zeros({4});
  c10::Storage storage = x.storage();
  EXPECT_THROW(storage.set_nbytes(1 << 20), c10::Error);
  storage.set_nbytes(8);
  EXPECT_EQ(storage.nbytes(), 8);
}

TEST(StorageData, ForkedProcessesShareMemory) {
  torch::Tensor x = torch::zeros({3});
  const torch::Tensor view = x.view({3, 1});
  x.fill_(2);
  x.share_memory_();
  EXPECT_EQ(view.sum().item<float>(), 6);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    static_cast<float*>(x.data_ptr())[1] = 40;
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(view.sum().item<float>(), 44);
}

TEST(StorageData, ThereAreNoLayoutsOfOneDnn) { EXPECT_THROW(torch::ones({2}).to_mkldnn(), c10::Error); }

}  // namespace
