// Every collective and dtype that NCCL has, against values computed in one process; streams and options.
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "distributed/checks.h"
#include "distributed/ranks/ranks.h"

namespace {

using checks::device;
using checks::Tensor;
using checks::Tensors;

class Nccl : public ::testing::Test {
 protected:
  void SetUp() override {
    device() = torch::Device(torch::kCUDA, 0);
    backend_ = ranks::group().getBackend(torch::kCUDA);
  }
  c10d::ProcessGroupNCCL& nccl() { return dynamic_cast<c10d::ProcessGroupNCCL&>(*backend_); }
  c10::intrusive_ptr<c10d::Backend> backend_;
};

TEST_F(Nccl, IsWhatItSays) {
  EXPECT_EQ(nccl().getBackendName(), "nccl");
  EXPECT_EQ(nccl().transport(), "NCCL");
  EXPECT_EQ(ranks::group().getDefaultBackend(), backend_);
  EXPECT_EQ(nccl().getOptions()->timeout, std::chrono::seconds(60));
  EXPECT_EQ(c10d::ProcessGroupNCCL::Options().timeout, c10d::kProcessGroupNCCLDefaultTimeout);
  EXPECT_EQ(hb::distributed::nccl_version().substr(0, 2), "2.");
}

TEST_F(Nccl, EveryCollectiveAndDtype) { checks::check_all(nccl()); }

TEST_F(Nccl, WhatItHasNot) {
  Tensors shorts{checks::zeros({2}, torch::kShort)}, bits{checks::zeros({2}, torch::kInt)}, host{torch::zeros({2})};
  EXPECT_THROW(nccl().allreduce(shorts), c10::TypeError);
  c10d::AllreduceOptions band;
  band.reduceOp = c10d::ReduceOp::BAND;
  EXPECT_THROW(nccl().allreduce(bits, band), c10::ValueError);
  EXPECT_THROW(nccl().allreduce(host), c10::Error);
  EXPECT_THROW(nccl().recvAnysource(bits, 0), c10::Error);
  EXPECT_THROW(nccl().monitoredBarrier(), c10::Error);
  nccl().barrier()->wait();  // and it goes on
}

/// What the current stream queued before counts, and what it queues after waits.
TEST_F(Nccl, IsOrderedWithTheCurrentStream) {
  Tensors sum{torch::full({1000}, 1.0).to(device())};
  sum[0].mul_(ranks::rank() + 1);
  const auto work = nccl().allreduce(sum);
  work->wait();
  const Tensor after = sum[0] * 2;
  const int n = ranks::size();
  EXPECT_TRUE(torch::equal(after.cpu(), torch::full({1000}, double(n * (n + 1)))));
  Tensors own{torch::full({10}, 1.0).to(device())};
  c10d::AllreduceOptions here;
  here.asyncOp = false;  // in the current stream
  nccl().allreduce(own, here);
  EXPECT_TRUE(torch::equal(own[0].cpu(), torch::full({10}, double(n))));
  const auto future = nccl().allreduce(own)->getFuture();
  EXPECT_TRUE(torch::equal(future->value().toTensorVector()[0].cpu(), torch::full({10}, double(n * n))));
}

TEST_F(Nccl, TensorsOnTheHostGoByGloo) {
  const Tensor t = torch::full({3}, 2.0);
  hb::distributed::all_reduce(ranks::group(), t);
  EXPECT_EQ(t[0].item<double>(), 2.0 * ranks::size());
}

TEST_F(Nccl, GroupsOfSomeRanks) {
  const auto half = ranks::group().splitGroup(
      ranks::rank() % 2 ? (ranks::size() == 4 ? std::vector<int>{1, 3} : std::vector<int>{1})
                        : (ranks::size() == 4 ? std::vector<int>{0, 2} : std::vector<int>{0}));
  Tensors t{checks::full({5}, 1)};
  half->allreduce(t)->wait();
  EXPECT_EQ(t[0].cpu()[4].item<double>(), half->getSize());
}

TEST_F(Nccl, HooksAndNumbers) {
  const uint64_t before = nccl().getSequenceNumberForGroup();
  Tensors t{checks::full({5}, 1)};
  const auto work = nccl().allreduce(t);
  EXPECT_EQ(work->getSequencenumber(), before + 1);
  EXPECT_EQ(nccl().getSequenceNumberForGroup(), before + 1);
  EXPECT_TRUE(work->wait(std::chrono::seconds(20)));  // on the host
  EXPECT_TRUE(work->isCompleted());
  EXPECT_TRUE(work->isSuccess());
  EXPECT_EQ(work->retrieveOpType(), c10d::OpType::ALLREDUCE);
  nccl().waitForPendingWorks();
  EXPECT_EQ(nccl().getError(), c10d::ErrorType::SUCCESS);
}

}  // namespace
