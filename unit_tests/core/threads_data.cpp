// Threads around the data loader, the allocator and tensors whose memory is arranged late.

#include <gtest/gtest.h>
#include <halfbridge/storage.h>
#include <torch/torch.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>

#include "core/threads_together.h"

namespace {

using torch::Tensor;
namespace data = torch::data;

struct Numbers : data::datasets::Dataset<Numbers> {
  explicit Numbers(size_t count, size_t fails_at = SIZE_MAX) : count(count), fails_at(fails_at) {}
  data::Example<> get(size_t i) override {
    if (i == fails_at) throw std::runtime_error("no such number");
    return {torch::full({8}, static_cast<float>(i)) + 0, torch::tensor(static_cast<int64_t>(i))};
  }
  torch::optional<size_t> size() const override { return count; }
  size_t count, fails_at;
};

int64_t sum_of(size_t count, int workers, bool stop_early) {
  auto loader = data::make_data_loader(Numbers(count).map(data::transforms::Stack<>()),
                                       data::DataLoaderOptions().batch_size(3).workers(workers));
  int64_t sum = 0;
  for (auto& batch : *loader) {
    sum += batch.target.sum().item<int64_t>();
    EXPECT_TRUE(batch.data.sum(1).equal(batch.target.to(torch::kFloat) * 8));
    if (stop_early) break;
  }
  return sum;
}

Tensor convolved(uint64_t seed) {
  const Tensor x = torch::full({2, 4, 6, 6}, static_cast<float>(seed % 5)), w = torch::ones({8, 4, 1, 1});
  return torch::conv2d(x, w);  // lies channels-last until somebody looks
}

}  // namespace

TEST(ThreadsData, LoadersSideBySide) {
  together(3, [](int k) {
    EXPECT_EQ(sum_of(60, k, false), 60 * 59 / 2);
    sum_of(60, k + 1, true);  // leaves while workers still load
  });
}

TEST(ThreadsData, AnExceptionOfAWorkerReachesTheLoop) {
  together(3, [](int k) {
    auto loader = data::make_data_loader(Numbers(40, 17).map(data::transforms::Stack<>()),
                                         data::DataLoaderOptions().batch_size(4).workers(k + 1));
    const auto read_all = [&] {
      for (auto& batch : *loader) EXPECT_EQ(batch.data.size(1), 8);
    };
    EXPECT_THROW(read_all(), std::exception);
  });
}

// Blocks of every size class, freed by a thread that did not make them, in no order.
TEST(ThreadsData, TensorsChangeThreads) {
  struct Channel {
    std::mutex mutex;
    std::deque<Tensor> tensors;
  };
  constexpr int kThreads = 4, kTensors = 300;
  std::vector<Channel> channels(kThreads);
  const size_t before = hb::memory_in_use();
  together(kThreads, [&](int k) {
    for (int i = 0; i < kTensors; ++i) {
      const Tensor mine = torch::full({1 + (i * 37) % 4000 * (i % 9 == 0 ? 50 : 1)}, static_cast<float>(k));
      Tensor taken;
      {
        Channel& next = channels[(k + i) % kThreads];
        const std::lock_guard lock(next.mutex);
        next.tensors.push_back(mine.view(-1));
        if (next.tensors.size() > 5) taken = next.tensors.front(), next.tensors.pop_front();
      }
      if (taken.defined()) {
        EXPECT_EQ(taken[0].item<float>(), taken[-1].item<float>());
      }
    }
  });
  channels.clear();
  EXPECT_EQ(hb::memory_in_use(), before);
}

TEST(ThreadsData, DeferredTensorsAreReadSettledAndViewed) {
  const torch::NoGradGuard none;
  for (int round = 0; round < 12; ++round) {
    const Tensor y = convolved(round);
    const float one = static_cast<float>(round % 5) * 4;
    together(4, [&](int k) {
      const torch::NoGradGuard none_here;
      if (k == 0) {
        EXPECT_EQ(*y.data_ptr<float>(), one);
      }
      if (k == 1) {
        EXPECT_EQ((y + 1).sum().item<float>(), 576 * (one + 1));
      }
      if (k == 2) {
        EXPECT_EQ(y.view({2, -1}).sum(1)[1].item<float>(), 288 * one);
      }
      if (k == 3) {
        EXPECT_EQ(torch::max_pool2d(torch::relu(y), 2).max().item<float>(), one);
      }
      EXPECT_EQ(y.stride(1), 36);
    });
  }
}

// A deferred tensor that takes part in a graph: it is saved, settled and differentiated at once.
TEST(ThreadsData, DeferredTensorsInGraphs) {
  const Tensor w = torch::ones({8, 4, 1, 1}).requires_grad_();
  const Tensor y = torch::conv2d(torch::ones({2, 4, 6, 6}), w);
  together(4, [&](int k) {
    for (int i = 0; i < 5; ++i) {
      if (k == 0) y.data_ptr();
      (y * y).sum().backward({}, /*retain_graph=*/true);
    }
  });
  EXPECT_TRUE(w.grad().equal(torch::full({8, 4, 1, 1}, 2 * 4 * 72 * 20.0f)));
}
