// Tensors that cross devices: pinned memory, memory that others made, archives.
#include <ATen/cuda/CUDAEvent.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

#include <gtest/gtest.h>
#include <halfbridge/dlpack.h>
#include <halfbridge/sent_ahead.h>

#include <sstream>
#include <vector>

#include "software_cuda/program/control.h"

namespace {

using torch::Tensor;
namespace nn = torch::nn;
const torch::Device kGpu(torch::kCUDA, 0);

TEST(Across, PinnedMemory) {
  const Tensor x = torch::arange(60, torch::kFloat).view({3, 4, 5}), strided = x.transpose(0, 2);
  const Tensor pinned = strided.pin_memory();
  EXPECT_TRUE(pinned.equal(strided));
  EXPECT_EQ(pinned.strides(), strided.strides());
  EXPECT_NE(pinned.data_ptr(), strided.data_ptr());
  EXPECT_EQ(pinned.pin_memory().data_ptr(), pinned.data_ptr());
  EXPECT_EQ(torch::empty({0, 3}).pin_memory().sizes(), (torch::IntArrayRef{0, 3}));
  control().reset_counts();
  const Tensor there = pinned.to(kGpu, torch::kFloat, /*non_blocking=*/true);
  EXPECT_EQ(control().counts().synchronisations, 0u);
  pinned.to(kGpu);
  if (counted()) {
    EXPECT_GT(control().counts().synchronisations, 0u);
  }
  EXPECT_TRUE(there.cpu().equal(strided));
  EXPECT_THROW(there.pin_memory(), c10::Error);
  EXPECT_TRUE(pinned.is_pinned() && pinned.is_pinned(kGpu) && pinned.select(0, 1).is_pinned());
  EXPECT_FALSE(x.is_pinned() || there.is_pinned() || pinned.clone().is_pinned());
  EXPECT_THROW(Tensor().is_pinned(), c10::Error);
}

// Memory that another stream still reads is not given to new work of the stream that it came from.
TEST(Across, RecordedStreams) {
  const auto side = c10::cuda::getStreamFromPool();
  const auto read_beside = [&](bool recorded) {
    Tensor x = torch::full({70000}, 3, kGpu);
    const void* const address = x.data_ptr();
    at::cuda::CUDAEvent ready;
    ready.record(c10::cuda::getCurrentCUDAStream());
    ready.block(side);
    Tensor sum;
    {
      const c10::cuda::CUDAStreamGuard guard(side);
      sum = x.sum();
    }
    if (recorded) x.record_stream(side);
    x = Tensor();
    const bool given_again = torch::full({70000}, 5, kGpu).data_ptr() == address;
    side.synchronize();
    return std::make_pair(given_again, sum.cpu().item<float>());
  };
  const auto [given_again, sum] = read_beside(true);
  EXPECT_EQ(sum, 210000.0f);
  if (counted()) {
    EXPECT_FALSE(given_again);  // a GPU may have read it by then
  }
  EXPECT_THROW(torch::ones({2}).record_stream(side), c10::Error);
  EXPECT_THROW(torch::ones({2}, kGpu).record_stream(c10::Stream(c10::Stream::DEFAULT, torch::kCPU)), c10::Error);
}

TEST(Across, StreamsOfAnyDevice) {
  const c10::Stream side = c10::cuda::getStreamFromPool(), first = c10::cuda::getCurrentCUDAStream();
  Tensor x;
  c10::Event event(torch::kCUDA);
  EXPECT_TRUE(event.query() && !event.was_marked_for_recording());
  {
    const c10::StreamGuard guard(side);
    EXPECT_EQ(c10::cuda::getCurrentCUDAStream().unwrap(), side);
    EXPECT_EQ(guard.original_stream(), first);
    x = torch::ones({1000}, kGpu);
    if (counted()) {
      EXPECT_FALSE(side.query());  // nobody has waited
    }
    event.record(side);
    if (counted()) {
      EXPECT_FALSE(event.query());
    }
  }
  EXPECT_EQ(c10::cuda::getCurrentCUDAStream().unwrap(), first);
  first.wait(event);
  EXPECT_EQ(x.sum().item<float>(), 1000);
  side.synchronize();
  EXPECT_TRUE(side.query() && event.query());
  EXPECT_EQ(event.device(), kGpu);
  EXPECT_EQ(event.device_type(), torch::kCUDA);
}

TEST(Across, EventsOfAnyDevice) {
  const c10::Stream stream = c10::cuda::getCurrentCUDAStream(), cpu(c10::Stream::DEFAULT, torch::kCPU);
  c10::Event begin(torch::kCUDA, c10::EventFlag::BACKEND_DEFAULT), end(torch::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
  EXPECT_THROW(begin.elapsedTime(end), c10::Error);  // neither was recorded
  begin.recordOnce(stream);
  torch::ones({1000}, kGpu).sum();
  end.record(stream);
  if (counted()) {
    EXPECT_THROW(begin.elapsedTime(end), c10::Error);  // the work is not done
  }
  end.synchronize();
  EXPECT_GE(begin.elapsedTime(end), 0);
  c10::Event untimed(torch::kCUDA);
  untimed.record(stream);
  untimed.synchronize();
  EXPECT_THROW(begin.elapsedTime(untimed), c10::Error);
  EXPECT_THROW(untimed.record(cpu), c10::Error);
  EXPECT_THROW(untimed.block(cpu), c10::Error);
  c10::Event of_cpu(torch::kCPU);
  EXPECT_TRUE(of_cpu.query());
  of_cpu.synchronize();
  of_cpu.block(cpu);
  EXPECT_THROW(of_cpu.record(cpu), c10::Error);
  EXPECT_THROW(c10::Event(torch::kCUDA, c10::EventFlag::INVALID), c10::Error);
}

// What is given back while a copy still reads it is not given out before that copy.
TEST(Across, PinnedMemoryInUse) {
  std::vector<Tensor> sent;
  for (int i = 0; i < 20; ++i)
    sent.push_back(torch::full({1000}, i).pin_memory().to(kGpu, torch::kFloat, /*non_blocking=*/true));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(sent[i].eq(i).all().item<bool>()) << i;
}

struct Numbers : torch::data::Dataset<Numbers> {
  torch::data::Example<> get(size_t i) override {
    return {torch::full({300}, static_cast<double>(i)), torch::tensor(static_cast<int64_t>(i))};
  }
  std::optional<size_t> size() const override { return 14; }
};

// Batches come in their order, are whole when a kernel reads them, and nobody waits for them.
TEST(Across, BatchesSentAhead) {
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Numbers().map(torch::data::transforms::Stack<>()), 4);
  auto ahead = hb::cuda::sent_ahead(*loader, torch::kCUDA);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<Tensor> sums;
    control().reset_counts();
    for (auto& batch : ahead) {
      EXPECT_EQ(batch.data.device(), kGpu);
      sums.push_back(batch.data.sum(1).add(batch.target));
    }
    EXPECT_EQ(control().counts().synchronisations, 0u);
    if (counted()) {
      EXPECT_EQ(control().counts().copies_from_host, 8u);
    }
    EXPECT_TRUE(torch::cat(sums).cpu().equal(torch::arange(14, torch::kFloat).mul(301)));
  }
  for (auto& batch : hb::cuda::sent_ahead(*loader, torch::kCPU)) EXPECT_TRUE(batch.data.is_cpu());
  std::vector<Tensor> none;
  EXPECT_TRUE(hb::cuda::sent_ahead(none, torch::kCUDA).begin() == hb::cuda::sent_ahead(none, torch::kCUDA).end());
}

// The memory of a batch that is gone is not written anew while a kernel of another stream still reads it.
TEST(Across, MemoryOfBatchesSentAhead) {
  std::vector<Tensor> host;
  for (int i = 0; i < 30; ++i) host.push_back(torch::full({5000}, i));
  std::vector<Tensor> results;
  for (auto& batch : hb::cuda::sent_ahead(host, torch::kCUDA)) {
    results.push_back(batch + 1);
    batch = Tensor();
  }
  for (size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(results[i].eq(i + 1).all().item<bool>()) << i;
}

TEST(Across, MemoryOfOthers) {
  const Tensor x = torch::arange(12, torch::device(kGpu).dtype(torch::kFloat));
  bool freed = false;
  {
    const Tensor y = torch::from_blob(
        x.data_ptr(), {3, 4}, [&](void*) { freed = true; }, torch::device(kGpu).dtype(torch::kFloat));
    EXPECT_EQ(y.device(), kGpu);
    EXPECT_TRUE(y.add(1).cpu().equal(torch::arange(1, 13, torch::kFloat).view({3, 4})));
  }
  EXPECT_TRUE(freed);
  const Tensor back = hb::from_dlpack(hb::to_dlpack(x.view({4, 3}).t()));
  EXPECT_EQ(back.device(), kGpu);
  EXPECT_EQ(back.data_ptr(), x.data_ptr());
  EXPECT_TRUE(back.cpu().equal(torch::arange(12, torch::kFloat).view({4, 3}).t()));
}

struct Trained {
  nn::Sequential net{nn::Linear(4, 3), nn::Tanh(), nn::Linear(3, 2)};
  torch::Device device;
  torch::optim::Adam adam;
  explicit Trained(const torch::Device& where)
      : device(where), adam((net->to(where), net->parameters()), torch::optim::AdamOptions(0.1)) {}
  void step() {
    adam.zero_grad();
    net->forward(torch::arange(20, torch::kFloat).view({5, 4}).sin().to(device)).pow(2).sum().backward();
    adam.step();
  }
  std::vector<Tensor> values() {
    std::vector<Tensor> all;
    for (const Tensor& p : net->parameters()) all.push_back(p.detach().cpu());
    for (const Tensor& b : net->buffers()) all.push_back(b.cpu());
    return all;
  }
};

TEST(Across, Archives) {
  for (const bool to_gpu : {false, true}) {
    torch::manual_seed(1);
    Trained first(to_gpu ? torch::Device(torch::kCPU) : kGpu), second(to_gpu ? kGpu : torch::Device(torch::kCPU));
    first.step(), first.step();
    std::stringstream net, adam;
    torch::save(first.net, net);
    torch::save(first.adam, adam);
    torch::load(second.net, net, second.device);  // without a device parameters go where the file has them
    torch::load(second.adam, adam, second.device);
    for (const Tensor& p : second.net->parameters()) EXPECT_EQ(p.device().type(), second.device.type());
    first.step(), second.step();
    const auto expected = first.values(), got = second.values();
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(torch::allclose(got[i], expected[i], 1e-4, 1e-5)) << i;
  }
  std::stringstream file;
  torch::save(torch::arange(5, torch::device(kGpu)), file);
  Tensor read;
  torch::load(read, file, torch::kCPU);
  EXPECT_TRUE(read.device().is_cpu() && read.equal(torch::arange(5, read.options())));
}

}  // namespace
