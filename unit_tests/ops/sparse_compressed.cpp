// Matrices by rows and columns: what LibTorch does not check, and what it cannot compute.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>

namespace {

using namespace torch;  // NOLINT

Tensor longs(std::vector<int64_t> values) { return tensor(values); }
Tensor matrix(const Tensor& values) {
  return sparse_csr_tensor(longs({0, 2, 2, 3}), longs({0, 3, 1}), values, {3, 4}, TensorOptions());
}

TEST(SparseCompressed, IndicesAreChecked) {
  const Tensor values = ones({3});
  const auto make = [&](std::vector<int64_t> rows, std::vector<int64_t> columns, at::IntArrayRef size) {
    return sparse_csr_tensor(longs(std::move(rows)), longs(std::move(columns)), values, size, kFloat);
  };
  EXPECT_NO_THROW(make({0, 2, 2, 3}, {3, 0, 1}, {3, 4}));  // in no order
  EXPECT_THROW(make({1, 2, 2, 3}, {0, 3, 1}, {3, 4}), c10::Error);
  EXPECT_THROW(make({0, 2, 2, 2}, {0, 3, 1}, {3, 4}), c10::Error);
  EXPECT_THROW(make({0, 2, 1, 3}, {0, 3, 1}, {3, 4}), c10::Error);
  EXPECT_THROW(make({0, 2, 2, 3}, {0, 4, 1}, {3, 4}), c10::Error);
  EXPECT_THROW(make({0, 2, 2, 3}, {0, -1, 1}, {3, 4}), c10::Error);
  EXPECT_THROW(make({0, 2, 2, 3}, {0, 3}, {3, 4}), c10::Error);
  EXPECT_THROW(make({0, 2, 3}, {0, 3, 1}, {3, 4}), c10::Error);
  EXPECT_THROW(make({0, 2, 2, 3}, {0, 3, 1}, {3}), c10::Error);
  EXPECT_THROW(sparse_csr_tensor(ones({4}), longs({0, 3, 1}), values, {3, 4}, kFloat), c10::Error);
  EXPECT_THROW(sparse_csr_tensor(longs({0, 1}), longs({0}), ones({1, 2}), {1, 2, 2}, kFloat), c10::NotImplementedError);
}

TEST(SparseCompressed, HistoryOfValues) {
  const Tensor values = tensor({1.F, 2.F, -3.F}).requires_grad_(true), x = arange(4, kFloat).unsqueeze(1);
  matrix(values).mm(x).sum().backward();
  EXPECT_TRUE(values.grad().equal(tensor({0.F, 3.F, 1.F})));
  values.mutable_grad().reset();
  (matrix(values).sin().to_dense() * arange(12, kFloat).view({3, 4})).sum().backward();
  EXPECT_TRUE(allclose(values.grad(), cos(values.detach()) * tensor({0.F, 3.F, 9.F})));
}

TEST(SparseCompressed, ProductsInEveryDtype) {
  const Tensor dense = arange(8).view({4, 2});
  const Tensor expected = matrix(longs({1, 2, -3})).to_dense().mm(dense);
  for (const Dtype t : {kLong, kFloat, kBFloat16, kHalf}) {
    const Tensor m = matrix(longs({1, 2, -3}).to(t));
    EXPECT_TRUE(m.mm(dense.to(t)).equal(expected.to(t))) << t;
    EXPECT_TRUE(m.to_sparse_csc().mm(dense.to(t)).equal(expected.to(t))) << t;
    EXPECT_TRUE(m.mv(dense.to(t).select(1, 1)).equal(expected.to(t).select(1, 1))) << t;
  }
}

TEST(SparseCompressed, SumsOfMatricesByColumns) {
  const Tensor a = matrix(tensor({1.F, 2.F, -3.F})).to_sparse_csc();
  const Tensor b = eye(3, 4).to_sparse_csc();
  const Tensor sum = add(a, b, 2);
  EXPECT_EQ(sum.layout(), kSparseCsc);
  EXPECT_TRUE(sum.to_dense().equal(a.to_dense() + 2 * b.to_dense()));
  EXPECT_TRUE((a + b.to_sparse_csr()).to_dense().equal(a.to_dense() + b.to_dense()));
  EXPECT_TRUE((a + b.to_sparse()).to_dense().equal(a.to_dense() + b.to_dense()));
}

TEST(SparseCompressed, Prints) {
  std::ostringstream text;
  text << matrix(ones({3}));
  EXPECT_NE(text.str().find("crow_indices:"), std::string::npos);
  EXPECT_NE(text.str().find("[3, 4]"), std::string::npos);
}

}  // namespace
