// Every collective, dtype and engine against one process.
#include "distributed/checks.h"
#include "distributed/ranks.h"

#include <future>

namespace {

using ranks::expect_no_errors;
using ranks::Group;
using ranks::Setting;

TEST(DistributedCollectives, SharedMemory) {
  for (int size : {1, 2, 4})
    expect_no_errors(ranks::run(size, [](const Group& group) {
      EXPECT_EQ(group->transport(), "shared memory");
      checks::check_all(*group);
    }));
}

TEST(DistributedCollectives, GlooOverTcp) {
  if (ranks::without_gloo()) GTEST_SKIP() << "no Gloo here";
  const Setting tcp("HALFBRIDGE_GLOO_TRANSPORT", "tcp");
  for (int size : {1, 2, 4})
    expect_no_errors(ranks::run(size, [](const Group& group) {
      EXPECT_EQ(group->transport(), "Gloo (TCP)");
      checks::check_all(*group);
    }));
}

/// Sums of values that round, which depend on the order: that of the ranks.
TEST(DistributedCollectives, SumsRunInTheOrderOfRanks) {
  for (const char* transport : {"auto", "tcp"}) {
    if (std::string(transport) == "tcp" && ranks::without_gloo()) continue;
    const Setting chosen("HALFBRIDGE_GLOO_TRANSPORT", transport);
    for (torch::Dtype dtype : {torch::kFloat32, torch::kBFloat16})
      for (int64_t n : {1000, 200001, 2200001}) {
        std::vector<torch::Tensor> values;
        torch::manual_seed(3);
        for (int r = 0; r < 4; ++r) values.push_back((torch::randn({n}) * 1000).to(dtype));
        torch::Tensor want = values[0].to(torch::kFloat32);
        for (int r = 1; r < 4; ++r) want = want + values[r].to(torch::kFloat32);
        want = want.to(dtype);
        expect_no_errors(ranks::run(4, [&](const Group& group) {
          std::vector<torch::Tensor> tensors{values[group->getRank()].clone()};
          group->allreduce(tensors)->wait();
          checks::expect_equal(tensors[0], want, "sum");
        }));
      }
  }
}

/// From 4 MiB on sums are made where the tensors lie, in whatever memory; shares and pieces do not fit evenly.
TEST(DistributedCollectives, LargeSumsInAnyMemory) {
  for (int size : {2, 3})
    for (torch::Dtype dtype : {torch::kFloat32, torch::kFloat64, torch::kBFloat16, torch::kInt64, torch::kUInt8}) {
      const int64_t n = (size_t{4} << 20) / c10::elementSize(dtype) + 7777;
      expect_no_errors(ranks::run(size, [&](const Group& group) {
        const int rank = group->getRank();
        // All ordinary, beginning amid a line; then rank 0's in memory that others map.
        for (bool mixed : {false, true}) {
          const torch::Tensor values = torch::arange(n, torch::kInt64).remainder(50);
          torch::Tensor own =
              mixed && rank == 0 ? group->allocateTensor(n, dtype) : torch::zeros({n + 3}, dtype).narrow(0, 3, n);
          own.copy_(values + rank);
          std::vector<torch::Tensor> tensors{own};
          group->allreduce(tensors)->wait();
          const torch::Tensor want = (values * size + size * (size - 1) / 2).to(dtype);
          checks::expect_equal(own, want, c10::str("allreduce ", dtype, " mixed ", mixed));
          own.copy_(values + rank);
          c10d::ReduceOptions options;
          options.rootRank = 1;
          options.reduceOp = c10d::ReduceOp::MAX;
          group->reduce(tensors, options)->wait();
          const torch::Tensor largest = (values + (rank == 1 ? size - 1 : rank)).to(dtype);
          checks::expect_equal(own, largest, c10::str("reduce ", dtype, " mixed ", mixed));
        }
      }));
    }
}

TEST(DistributedCollectives, GroupsOfSomeRanks) {
  const c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      const auto all = hb::distributed::new_process_group("gloo", store, rank, 4);
      const auto half = all->splitGroup(rank % 2 ? std::vector<int>{1, 3} : std::vector<int>{0, 2});
      EXPECT_EQ(half->getSize(), 2);
      EXPECT_EQ(half->getRank(), rank / 2);
      std::vector<torch::Tensor> whole{torch::full({1000}, double(rank))}, part{torch::full({1000}, double(rank))};
      const auto first = all->allreduce(whole), second = half->allreduce(part);  // both on their way
      second->wait();
      first->wait();
      EXPECT_EQ(whole[0][999].item<double>(), 6);
      EXPECT_EQ(part[0][999].item<double>(), rank % 2 ? 4 : 2);
      EXPECT_THROW(all->splitGroup({(rank + 1) % 4}), c10::Error);
    });
  for (auto& thread : threads) thread.join();
}

TEST(DistributedCollectives, AWaitThatRunsOutLeavesTheCollective) {
  expect_no_errors(ranks::run(2, [](const Group& group) {
    std::vector<torch::Tensor> tensors{torch::ones({3})}, message{torch::ones({1})};
    if (group->getRank() == 0) {
      const auto work = group->allreduce(tensors);
      EXPECT_FALSE(work->isCompleted());
      EXPECT_THROW(work->wait(std::chrono::milliseconds(50)), c10::DistBackendError);
      group->send(message, 1, 0)->wait();
      EXPECT_TRUE(work->wait(std::chrono::milliseconds(20000)));
      EXPECT_TRUE(work->isSuccess());
    } else {
      group->recv(message, 0, 0)->wait();  // then the other's wait has run out
      group->allreduce(tensors)->wait();
    }
    EXPECT_EQ(tensors[0][0].item<double>(), 2);
  }));
}

/// The group's thread ends the work while others ask for its future: one of them completes it.
TEST(DistributedCollectives, FuturesOfWorkThatEnds) {
  expect_no_errors(ranks::run(1, [](const Group& group) {
    c10d::AllreduceOptions options;
    options.asyncOp = true;
    for (int i = 0; i < 300; ++i) {
      std::vector<torch::Tensor> tensors{torch::ones({4})};
      const auto work = group->allreduce(tensors, options);
      std::thread other([&] {
        while (!work->isCompleted()) {
        }
        EXPECT_NO_THROW(work->getFutureResult()->wait());
      });
      while (!work->isCompleted()) {
      }
      const auto future = work->getFuture();
      EXPECT_TRUE(future->completed() && future->hasValue());
      other.join();
    }
  }));
}

TEST(DistributedCollectives, AbortEndsWhatWaits) {
  const auto errors = ranks::run(2, [](const Group& group) {
    std::vector<torch::Tensor> tensors{torch::ones({3})};
    if (group->getRank() == 1) {
      group->abort();
      throw checks::Failure("aborted");
    }
    const auto work = group->allreduce(tensors);
    try {
      work->wait();
    } catch (const c10::DistBackendError&) {
      EXPECT_FALSE(work->isSuccess());
      EXPECT_EQ(group->getError(), c10d::ErrorType::COMM_ERROR);
      EXPECT_THROW(group->barrier()->wait(), c10::DistBackendError);  // nor does anything else run
      throw;
    }
  });
  EXPECT_NE(errors[0].find("rank 1 called abort()"), std::string::npos) << errors[0];
  EXPECT_EQ(errors[1], "aborted");
}

/// On the group's thread, where nobody else owns the group any more.
TEST(DistributedCollectives, AGroupEndsInItsOwnHook) {
  auto alive = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = alive;
  expect_no_errors(ranks::run(1, [&](const Group&) {
    auto group = std::make_shared<Group>(
        c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::HashStore>(), 0, 1,
                                                    c10d::ProcessGroupGloo::Options::create(std::chrono::seconds(60))));
    auto handed_over = std::make_shared<std::promise<void>>();
    (*group)->registerOnCompletionHook(
        [group, alive, ready = handed_over->get_future().share()](const std::shared_ptr<c10d::WorkInfo>&) {
          ready.wait();
          group->reset();
        });
    std::vector<torch::Tensor> tensors{torch::ones({3})};
    (*group)->allreduce(tensors);
    handed_over->set_value();
  }));
  alive.reset();
  for (int i = 0; i < 3000 && !watch.expired(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(watch.expired()) << "the group's hook is still there after 30 s";
}

/// The call that ran the hook gets its error; the group goes on.
TEST(DistributedCollectives, AHookMayThrow) {
  expect_no_errors(ranks::run(1, [](const Group& group) {
    int calls = 0;
    group->registerOnCompletionHook([&calls](const std::shared_ptr<c10d::WorkInfo>&) {
      if (++calls == 1) throw std::runtime_error("of the hook");
    });
    c10d::AllreduceOptions options;
    options.asyncOp = false;  // on this thread
    for (const bool throws : {true, false}) {
      std::vector<torch::Tensor> tensors{torch::ones({3})};
      if (throws)
        EXPECT_THROW(group->allreduce(tensors, options), std::runtime_error);
      else
        EXPECT_TRUE(group->allreduce(tensors, options)->wait());
    }
  }));
}

TEST(DistributedCollectives, WrongArgumentsAreErrors) {
  expect_no_errors(ranks::run(1, [](const Group& group) {
    std::vector<torch::Tensor> none, two{torch::ones({1}), torch::ones({1})}, one{torch::ones({2})};
    EXPECT_THROW(group->allreduce(none), c10::Error);
    EXPECT_THROW(group->allreduce(two), c10::Error);
    c10d::AllreduceOptions bits;
    bits.reduceOp = c10d::ReduceOp::BAND;
    EXPECT_THROW(group->allreduce(one, bits), c10::Error);
    c10d::BroadcastOptions root;
    root.rootRank = 1;
    EXPECT_THROW(group->broadcast(one, root), c10::Error);
    std::vector<std::vector<torch::Tensor>> outputs{{torch::ones({3})}};
    EXPECT_THROW(group->allgather(outputs, one), c10::Error);
    EXPECT_THROW(group->send(one, 0, 0), c10::Error);
    EXPECT_THROW(c10d::ReduceOp{c10d::ReduceOp::PREMUL_SUM}, c10::Error);
  }));
  EXPECT_THROW(hb::distributed::new_process_group("hccl", c10::make_intrusive<c10d::HashStore>(), 0, 1), c10::Error);
}

}  // namespace
