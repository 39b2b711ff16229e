// MindSpore's names for loss scaling.

#include <torch/torch.h>

#include <gtest/gtest.h>

#include <limits>

namespace {

using torch::Tensor;
namespace amp = hb::amp;

TEST(LossScaler, Static) {
  amp::StaticLossScaler scaler(1024);
  EXPECT_EQ(scaler.scale(torch::ones({})).item<float>(), 1024.f);
  const auto grads = scaler.unscale(std::vector<Tensor>{torch::full({2}, 1.5, torch::kHalf), Tensor()});
  EXPECT_EQ(grads[0].scalar_type(), torch::kHalf);
  EXPECT_TRUE(torch::equal(grads[0], torch::full({2}, 1.5 / 1024, torch::kHalf)));
  EXPECT_FALSE(grads[1].defined());
  EXPECT_FALSE(scaler.adjust(true));
  EXPECT_FALSE(scaler.adjust(false));
  EXPECT_EQ(scaler.scale_value().item<float>(), 1024.f);
  EXPECT_THROW(amp::StaticLossScaler(0.5), torch::Error);
}

TEST(LossScaler, Dynamic) {
  amp::DynamicLossScaler scaler(1024, 2, 3);
  const auto adjust = [&](bool finite) {
    EXPECT_TRUE(scaler.adjust(torch::full({}, finite, torch::kBool)));
    return scaler.scale_value().item<float>();
  };
  EXPECT_EQ(adjust(true), 1024.f);
  EXPECT_EQ(adjust(true), 1024.f);
  EXPECT_EQ(adjust(true), 2048.f);
  EXPECT_EQ(adjust(true), 2048.f);
  EXPECT_EQ(scaler.counter().item<int>(), 1);
  EXPECT_EQ(adjust(false), 1024.f);
  EXPECT_EQ(scaler.counter().item<int>(), 0);
  for (int i = 0; i < 20; ++i) adjust(false);
  EXPECT_EQ(scaler.scale_value().item<float>(), 1.f);  // not below 1
  EXPECT_THROW(amp::DynamicLossScaler(1024, 2, 0), torch::Error);
  EXPECT_THROW(amp::DynamicLossScaler(1024, 0, 1), torch::Error);
}

TEST(LossScaler, DynamicStaysFiniteAndSaves) {
  amp::DynamicLossScaler scaler(2e38, 2, 1);
  scaler.adjust(true);
  EXPECT_EQ(scaler.scale_value().item<float>(), 2e38f);
  amp::DynamicLossScaler half_way(8, 2, 4), other(1, 2, 4);
  half_way.adjust(true);
  half_way.adjust(true);
  other.load_state_dict(half_way.state_dict());
  EXPECT_EQ(other.scale_value().item<float>(), 8.f);
  other.adjust(true);
  other.adjust(true);
  EXPECT_EQ(other.scale_value().item<float>(), 16.f);
}

TEST(LossScaler, WithAllFinite) {
  amp::DynamicLossScaler scaler(4, 2, 1);
  const uint64_t reads = torch::host_reads();
  scaler.adjust(amp::all_finite({torch::ones({3}), torch::full({2}, std::numeric_limits<double>::quiet_NaN())}));
  EXPECT_EQ(torch::host_reads(), reads);
  EXPECT_EQ(scaler.scale_value().item<float>(), 2.f);
}

TEST(LossScaleManager, Fixed) {
  amp::FixedLossScaleManager manager;
  EXPECT_EQ(manager.get_loss_scale(), 128.0);
  EXPECT_TRUE(manager.get_drop_overflow_update());
  manager.update_loss_scale(true);
  EXPECT_EQ(manager.get_loss_scale(), 128.0);
  const auto cell = manager.get_update_cell();
  Tensor scale = torch::full({}, 128.0);
  EXPECT_TRUE((*cell)(scale, torch::ones({}, torch::kBool)).item<bool>());
  EXPECT_EQ(scale.item<float>(), 128.f);
  EXPECT_EQ(amp::FixedLossScaleManager(8, false).get_update_cell(), nullptr);
  EXPECT_THROW(amp::FixedLossScaleManager(0.5), torch::Error);
}

TEST(LossScaleManager, Dynamic) {
  EXPECT_EQ(amp::DynamicLossScaleManager().get_loss_scale(), 16777216.0);
  amp::DynamicLossScaleManager manager(16, 2, 3);
  EXPECT_TRUE(manager.get_drop_overflow_update());
  const auto update = [&](bool overflow) {
    manager.update_loss_scale(overflow);
    return manager.get_loss_scale();
  };
  EXPECT_EQ(update(false), 16.0);
  EXPECT_EQ(update(false), 16.0);
  EXPECT_EQ(update(false), 32.0);
  EXPECT_EQ(update(true), 16.0);
  amp::DynamicLossScaleManager resumed(1, 2, 3);
  resumed.load_state_dict(manager.state_dict());
  for (int i = 0; i < 7; ++i) {
    resumed.update_loss_scale(false);
    EXPECT_EQ(update(false), resumed.get_loss_scale());
  }
  EXPECT_EQ(manager.get_loss_scale(), 64.0);
  for (int i = 0; i < 1000; ++i) update(true);
  EXPECT_EQ(manager.get_loss_scale(), 1.0);
  EXPECT_THROW(update(true), torch::Error);
}

TEST(LossScaleManager, DynamicUpdateCellFollowsTheManager) {
  amp::DynamicLossScaleManager manager(16, 2, 3);
  auto cell = manager.get_update_cell();
  EXPECT_EQ(cell->get_loss_scale(), 16.0);
  Tensor scale = torch::full({}, 16.0);
  for (const int overflow : {0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0}) {
    manager.update_loss_scale(overflow);
    (*cell)(scale, torch::full({}, overflow != 0, torch::kBool));
    EXPECT_EQ(scale.item<double>(), manager.get_loss_scale());
  }
}

}  // namespace
