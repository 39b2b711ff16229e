// What watches a program does so on a GPU, too: traces, the profiler, the overflow story, printed layers; and errors
// that kernels find are told in the CPU's words.
#include <halfbridge/halfbridge.h>
#include <halfbridge/io/safetensors.h>

#include <filesystem>
#include <limits>
#include <sstream>

#include "software_cuda/program/beside_cpu.h"

namespace {

struct NetImpl : nn::Module {
  nn::Conv2d conv{register_module("conv", nn::Conv2d(1, 4, 3))};
  nn::BatchNorm2d norm{register_module("norm", nn::BatchNorm2d(4))};
  nn::Linear last{register_module("last", nn::Linear(64, 3))};
  Tensor forward(const Tensor& x) { return last(torch::relu(norm(conv(x))).flatten(1)); }
};
TORCH_MODULE(Net);

struct Training {
  Net net;
  torch::optim::SGD optimizer;
  Tensor x = values({4, 1, 6, 6}).to(kGpu), y = torch::tensor({0, 1, 2, 1}).to(kGpu);
  Training() : optimizer((torch::manual_seed(1), net->to(kGpu), net->parameters()), 0.1) {}
  Tensor loss() { return F::cross_entropy(net(x), y); }
};

TEST(CudaTools, Profiler) {
  Training t;
  hb::profiler::start({/*record_shapes=*/true});
  t.loss().backward();
  t.optimizer.step();
  const auto profile = hb::profiler::stop();
  const auto count = [&](const std::string& name) {
    return std::count_if(profile.events().begin(), profile.events().end(),
                         [&](const auto& e) { return e.name == name; });
  };
  for (const char* name : {"conv2d", "batch_norm", "relu", "linear", "ConvolutionBackward0"})
    EXPECT_EQ(count(name), 1) << name;
  EXPECT_NE(profile.table().find("conv2d"), std::string::npos);
}

TEST(CudaTools, OverflowStory) {
  Training t;
  torch::amp::GradScaler scaler(torch::kCUDA, 8.0);
  scaler.trace_overflow(*t.net);
  const auto step = [&] {
    t.optimizer.zero_grad();
    scaler.scale(t.loss()).backward();
    scaler.step(t.optimizer);
    scaler.update();
  };
  step();
  EXPECT_FALSE(scaler.last_overflow());
  {
    torch::NoGradGuard no_grad;
    t.net->last->weight.fill_(3e38);
  }
  step();
  const auto story = scaler.last_overflow();
  ASSERT_TRUE(story);
  EXPECT_EQ(story->step, 2);
  EXPECT_TRUE(story->in_forward);
  EXPECT_EQ(story->layer, "last");
}

TEST(CudaTools, PrintedLayers) {
  Training t;
  std::ostringstream out;
  const auto info = hb::debug_layer_info(t.net, "pytorch", out);
  t.loss();
  EXPECT_NE(out.str().find("last.weight"), std::string::npos) << out.str();
  EXPECT_NE(hb::summary(t.net, {4, 1, 6, 6}).total_parameters, 0);
}

// What a trace holds of a run on a GPU is compared with the CPU's by the tests layers.cuda_*.
TEST(CudaTools, Traces) {
  const auto folder = std::filesystem::temp_directory_path() / "halfbridge_cuda_trace";
  Training t;
  {
    hb::trace::Session session(folder.string());
    t.loss().backward();
    t.optimizer.step();
  }
  const auto header = hb::io::read_safetensors_header((folder / "trace-00000.safetensors").string());
  EXPECT_EQ(header.metadata.at("end"), "complete");
  EXPECT_GT(header.tensors.size(), 20u);
  std::filesystem::remove_all(folder);
}

/// What a call throws at once or when somebody waits for the device, up to the note on where it was found.
std::string error_of(const std::function<Tensor(const torch::Device&)>& f, const torch::Device& device) {
  try {
    f(device);
    if (device.is_cuda()) torch::cuda::synchronize();
  } catch (const c10::Error& e) {
    const std::string text = e.msg();
    return text.substr(0, text.find(" (found on the device"));
  }
  return "";
}

TEST(CudaTools, BadIndicesInTheWordsOfTheCpu) {
  const auto x = [](const torch::Device& d) {
    return torch::arange(12, torch::device(d).dtype(torch::kFloat)).view({3, 4});
  };
  const auto index = [](std::vector<int64_t> i, const torch::Device& d) { return torch::tensor(i).to(d); };
  using Device = const torch::Device&;
  const std::vector<std::pair<const char*, std::function<Tensor(Device)>>> calls{
      {"index_select",
       [&](Device d) {
         return x(d).index_select(1, index({0, 4}, d));
       }},
      {"index_select below", [&](Device d) { return x(d).index_select(0, index({-1}, d)); }},
      {"gather",
       [&](Device d) {
         return x(d).gather(1, index({0, 1, 9}, d).view({3, 1}));
       }},
      {"scatter",
       [&](Device d) {
         return x(d).scatter(1, index({0, 1, 9}, d).view({3, 1}), 2.0);
       }},
      {"scatter_add",
       [&](Device d) {
         return x(d).scatter_add(0, index({0, 3}, d).view({1, 2}), x(d));
       }},
      {"index_add", [&](Device d) { return x(d).index_add(0, index({7}, d), x(d).narrow(0, 0, 1)); }},
      {"index_fill", [&](Device d) { return x(d).index_fill(0, index({3}, d), 1.0); }},
      {"index_copy", [&](Device d) { return x(d).index_copy(0, index({-4}, d), x(d).narrow(0, 0, 1)); }},
      {"take",
       [&](Device d) {
         return x(d).take(index({1, 12}, d));
       }},
      {"put_", [&](Device d) { return x(d).put_(index({-13}, d), torch::ones({1}, d)); }},
      {"index",
       [&](Device d) {
         return x(d).index({index({0, 3}, d)});
       }},
      {"index two",
       [&](Device d) {
         return x(d).index({index({0}, d), index({-5}, d)});
       }},
      {"index_put_", [&](Device d) { return x(d).index_put_({index({5}, d)}, torch::ones({4}, d)); }},
      {"embedding",
       [&](Device d) {
         return torch::embedding(x(d), index({0, 3}, d));
       }},
      {"binary_cross_entropy",
       [&](Device d) {
         return torch::binary_cross_entropy(x(d), torch::zeros({3, 4}, d));
       }},
      {"binary_cross_entropy of each",
       [&](Device d) {
         return torch::binary_cross_entropy(-x(d), torch::zeros({3, 4}, d), {}, at::Reduction::None);
       }},
      {"cross_entropy",
       [&](Device d) {
         return F::cross_entropy(x(d), index({0, 1, 4}, d));
       }},
      {"nll_loss",
       [&](Device d) {
         return torch::nll_loss(x(d), index({0, 1, -3}, d));
       }},
      {"take_along_dim",
       [&](Device d) {
         return torch::take_along_dim(x(d), index({0, 1, 99}, d));
       }},
      {"bincount",
       [&](Device d) {
         return torch::bincount(index({0, -1}, d));
       }},
      {"multinomial", [&](Device d) { return torch::multinomial(x(d).sub(5), 2); }},
      {"one_hot",
       [&](Device d) {
         return torch::one_hot(index({0, 5}, d), 4);
       }},
      {"repeat_interleave",
       [&](Device d) {
         return torch::repeat_interleave(x(d), index({1, -1, 2}, d), 0);
       }},
  };
  // The device does not say which number it was.
  const auto draw = [](Device d) { return torch::bernoulli(torch::tensor({0.5, 1.5}, d)); };
  const std::string got = error_of(draw, kGpu);
  EXPECT_NE(got.find("Expected p_in >= 0 && p_in <= 1 to be true, but got false"), std::string::npos) << got;
  EXPECT_NE(error_of(draw, torch::kCPU).find("Expected p_in >= 0 && p_in <= 1 to be true"), std::string::npos);
  for (const auto& [name, call] : calls) {
    const std::string expected = error_of(call, torch::kCPU);
    EXPECT_NE(expected, "") << name;
    EXPECT_EQ(error_of(call, kGpu), expected) << name;
  }
}

}  // namespace
