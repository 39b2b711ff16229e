// init() of a program that nothing launched: a group of one.
#include <gtest/gtest.h>
#include <torch/nn/parallel/distributed.h>
#include <torch/torch.h>

#include <string>

namespace {

namespace dist = hb::distributed;

template <class F>
std::string error_of(const F& f) {
  try {
    f();
    return "";
  } catch (const hb::Error& e) {
    return e.what();
  }
}

TEST(Init, NamesOfBackEnds) {
  for (const char* name : {"hccl", "mccl"}) {
    const std::string error = error_of([&] { dist::init(name); });
    EXPECT_NE(error.find("\"nccl\""), std::string::npos) << error;
    EXPECT_NE(error.find("\"gloo\""), std::string::npos) << error;
  }
  EXPECT_THROW(dist::init("tcp"), hb::ValueError);
  EXPECT_FALSE(dist::is_initialized());
  EXPECT_NE(error_of([] { dist::get_rank(); }).find("init()"), std::string::npos);
}

TEST(Init, AloneItIsAGroupOfOne) {
  dist::init();
  EXPECT_EQ(dist::get_rank(), 0);
  EXPECT_EQ(dist::get_group_size(), 1);
  EXPECT_THROW(dist::init(), hb::Error);
  torch::manual_seed(1);
  torch::nn::Linear net(3, 2), plain(3, 2);
  torch::nn::parallel::DistributedDataParallel model(net);
  for (size_t i = 0; i < 2; ++i) plain->parameters()[i].detach().copy_(net->parameters()[i].detach());
  const auto x = torch::randn({4, 3});
  model(x).pow(2).sum().backward();
  plain(x).pow(2).sum().backward();
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(torch::equal(net->parameters()[i].grad(), plain->parameters()[i].grad()));
  dist::DistributedGradReducer reducer(net->parameters());
  const auto reduced = reducer({net->parameters()[0].grad(), torch::Tensor()});
  EXPECT_TRUE(torch::equal(reduced[0], net->parameters()[0].grad()));
  torch::optim::ZeroRedundancyOptimizer<torch::optim::Adam> optimizer(net->parameters(),
                                                                      torch::optim::AdamOptions(0.1));
  optimizer.step();
  EXPECT_EQ(optimizer.local().state().size(), 2u);
  dist::destroy();
  EXPECT_FALSE(dist::is_initialized());
  dist::init("gloo");
  dist::destroy();
}

}  // namespace
