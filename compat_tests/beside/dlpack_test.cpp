// Memory that LibTorch and Halfbridge share.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <halfbridge/beside_torch.h>
#include <halfbridge/engine.h>

namespace {

constexpr at::ScalarType kTheirs[] = {at::kByte, at::kChar,     at::kShort, at::kInt,    at::kLong,
                                      at::kHalf, at::kBFloat16, at::kFloat, at::kDouble, at::kBool};

TEST(FromTorch, EveryDtypeInTheSameMemory) {
  for (const at::ScalarType dtype : kTheirs) {
    const at::Tensor theirs = at::arange(6).to(dtype).view({2, 3});
    const hb::Tensor ours = hb::from_torch(theirs);
    EXPECT_EQ(static_cast<int>(ours.scalar_type()), static_cast<int>(dtype));
    EXPECT_EQ(ours.data_ptr(), theirs.data_ptr());
    EXPECT_EQ(ours.sizes(), (std::vector<int64_t>{2, 3}));
    const at::Tensor back = hb::to_torch(ours);
    EXPECT_EQ(back.scalar_type(), dtype);
    EXPECT_EQ(back.data_ptr(), theirs.data_ptr());
    EXPECT_TRUE(at::equal(back, theirs));
  }
}

TEST(FromTorch, StridesOffsetsAndEmptiness) {
  const at::Tensor base = at::arange(24, at::kFloat).view({2, 3, 4});
  for (const at::Tensor& theirs : {base.transpose(0, 2), base.select(1, 2), base.slice(2, 1, 4, 2), base[1][2][3],
                                   base.narrow(0, 0, 0), at::ones({1}).expand({4, 5})}) {
    const hb::Tensor ours = hb::from_torch(theirs);
    EXPECT_EQ(ours.sizes(), (std::vector<int64_t>(theirs.sizes().begin(), theirs.sizes().end())));
    EXPECT_TRUE(at::equal(hb::to_torch(ours), theirs));
    EXPECT_EQ(ours.sum().item<double>(), theirs.sum().item<double>());
    if (theirs.numel() > 1) {
      EXPECT_EQ(ours.strides(), (std::vector<int64_t>(theirs.strides().begin(), theirs.strides().end())));
    }
  }
}

TEST(FromTorch, ChangesAreSeenByBoth) {
  const at::Tensor theirs = at::zeros({3});
  const hb::Tensor ours = hb::from_torch(theirs);
  ours.fill_(2);
  EXPECT_EQ(theirs.sum().item<float>(), 6);
  theirs.add_(1);
  EXPECT_EQ(ours.sum().item<float>(), 9);
}

TEST(FromTorch, MemoryLivesAsLongAsEither) {
  hb::Tensor ours;
  {
    const at::Tensor theirs = at::full({1000}, 3.0F);
    ours = hb::from_torch(theirs.slice(0, 10));
  }
  EXPECT_EQ(ours.sum().item<float>(), 2970);
  at::Tensor theirs;
  {
    const hb::Tensor mine = hb::full({1000}, 4.0);
    theirs = hb::to_torch(mine.narrow(0, 10, 5));
  }
  EXPECT_EQ(theirs.sum().item<float>(), 20);
  const size_t before = hb::memory_in_use();
  theirs = at::Tensor();
  EXPECT_LT(hb::memory_in_use(), before);  // LibTorch called the deleter
}

TEST(ToTorch, AConvolutionsResultHasTheProgramsLayout) {
  const hb::Tensor x = hb::randn({2, 3, 8, 8}), w = hb::randn({4, 3, 3, 3});
  const hb::Tensor y = hb::conv2d(x, w);
  const at::Tensor theirs = hb::to_torch(y);
  EXPECT_TRUE(theirs.is_contiguous());
  EXPECT_TRUE(at::allclose(theirs, at::conv2d(hb::to_torch(x), hb::to_torch(w)), 1e-4, 1e-4));
}

TEST(ToTorch, ParametersChangedInPlaceStayShared) {
  const hb::Tensor w = hb::ones({3}).requires_grad_();
  const at::Tensor theirs = hb::to_torch(w);
  {
    hb::NoGradGuard no_grad;
    w.mul_(2);
  }
  hb::Tensor y = w * 3;
  const at::Tensor result = hb::to_torch(y);
  y.add_(1);  // recorded: the values go to the shared memory
  EXPECT_EQ(theirs.sum().item<float>(), 6);
  EXPECT_EQ(result.sum().item<float>(), 21);
  EXPECT_FALSE(theirs.requires_grad());
}

template <class F>
void expect_error(F body, const std::string& part) {
  try {
    body();
    FAIL() << "expected an error with '" << part << "'";
  } catch (const hb::Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(FromTorch, WhatCannotCross) {
  expect_error([] { hb::from_torch(at::Tensor()); }, "undefined");
  expect_error([] { hb::from_torch(at::ones({2}, at::kComplexHalf)); }, "dtype");
  expect_error([] { hb::from_torch(at::ones({2}).to_sparse()); }, "strided");
  expect_error([] { hb::from_torch(at::empty({2}, at::kMeta)); }, "on the CPU");
  expect_error([] { hb::to_torch(hb::Tensor()); }, "undefined");
}

// The deleter is called once, also when the tensor is refused.
TEST(FromDlpack, RefusedTensorsAreGivenBack) {
  static int deleted = 0;
  int64_t shape[] = {2}, strides[] = {-1};
  float data[2] = {1, 2};
  const auto make = [&](DLDevice device, DLDataType dtype, int64_t* steps) {
    return new DLManagedTensor{{data, device, 1, dtype, shape, steps, 0}, nullptr, [](DLManagedTensor* self) {
                                 ++deleted;
                                 delete self;
                               }};
  };
  expect_error(
      [&] {
        hb::from_dlpack(make({kDLCUDA, 0}, {kDLFloat, 32, 1}, nullptr));
      },
      "device cuda:0 is not available");
  expect_error([&] { hb::from_dlpack(make({kDLCPU, 0}, {kDLFloat, 32, 2}, nullptr)); }, "2 lanes");
  expect_error([&] { hb::from_dlpack(make({kDLCPU, 0}, {kDLFloat, 32, 1}, strides)); }, "stride -1");
  EXPECT_EQ(deleted, 3);
  {
    const hb::Tensor fine = hb::from_dlpack(make({kDLCPU, 0}, {kDLFloat, 32, 1}, nullptr));
    EXPECT_EQ(fine.sum().item<float>(), 3);
    EXPECT_EQ(deleted, 3);
  }
  EXPECT_EQ(deleted, 4);
}

}  // namespace
