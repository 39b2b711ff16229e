// In-place functions write to the memory that a tensor has: programs keep data_ptr(), accessors and views by DLPack.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <map>
#include <sstream>
#include <string>

namespace {

using torch::Tensor;
using Change = std::function<void(Tensor&)>;

struct Case {
  std::string name;
  Change change;
  torch::Dtype dtype = torch::kFloat;
  bool differentiable = true;
};

Tensor values(torch::Dtype dtype) {
  const Tensor t = torch::rand({4, 4}) * 0.8 + 0.1;
  return dtype == torch::kFloat ? t : (t * 3).to(dtype);
}
Tensor other() { return values(torch::kFloat); }
Tensor index() { return torch::zeros({4, 4}, torch::kLong); }

// Every row of the tables of element-wise functions.
void add_rows(std::vector<Case>& cases) {
#define HB_UNARY(name) cases.push_back({#name "_", [](Tensor& t) { torch::Tensor(t).name##_(); }});
#include <halfbridge/ops/unary.def>
#define HB_BINARY(name)                                                                        \
  cases.push_back({#name "_(tensor)", [](Tensor& t) { t.name##_(values(t.scalar_type())); }}); \
  cases.push_back({#name "_(number)", [](Tensor& t) { t.name##_(2); }});
#include <halfbridge/ops/binary.def>
}

void add_arithmetic(std::vector<Case>& cases) {
  const std::vector<Case> more{
      {"add_(tensor)", [](Tensor& t) { t.add_(other(), 2); }},
      {"add_(number)", [](Tensor& t) { t.add_(1); }},
      {"sub_(tensor)", [](Tensor& t) { t.sub_(other()); }},
      {"sub_(number)", [](Tensor& t) { t.sub_(1); }},
      {"+=", [](Tensor& t) { t += other(); }},
      {"*=", [](Tensor& t) { t *= 2; }},
      {"-=", [](Tensor& t) { t -= 2; }},
      {"/=", [](Tensor& t) { t /= other(); }},
      {"div_ floor", [](Tensor& t) { t.div_(other(), "floor"); }},
      {"addcmul_", [](Tensor& t) { t.addcmul_(other(), other()); }},
      {"addcdiv_", [](Tensor& t) { t.addcdiv_(other(), other()); }},
      {"lerp_(number)", [](Tensor& t) { t.lerp_(other(), 0.5); }},
      {"lerp_(tensor)", [](Tensor& t) { t.lerp_(other(), other()); }},
      {"clamp_", [](Tensor& t) { t.clamp_(0.2, 0.5); }},
      {"clamp_(tensor)", [](Tensor& t) { t.clamp_(other(), other()); }},
      {"clamp_min_", [](Tensor& t) { t.clamp_min_(0.2); }},
      {"clamp_max_", [](Tensor& t) { t.clamp_max_(0.2); }},
      {"clip_", [](Tensor& t) { t.clip_(0.2, 0.5); }},
      {"round_", [](Tensor& t) { t.round_(1); }},
      {"nan_to_num_", [](Tensor& t) { t.nan_to_num_(); }},
      {"sgn_", [](Tensor& t) { t.sgn_(); }},
      {"deg2rad_", [](Tensor& t) { t.deg2rad_(); }},
      {"rad2deg_", [](Tensor& t) { t.rad2deg_(); }},
      {"sinc_", [](Tensor& t) { t.sinc_(); }},
      {"logit_", [](Tensor& t) { t.logit_(0.01); }},
      {"copysign_", [](Tensor& t) { t.copysign_(other()); }},
      {"heaviside_", [](Tensor& t) { t.heaviside_(other()); }, torch::kFloat, false},
      {"ldexp_", [](Tensor& t) { t.ldexp_(other()); }},
      {"polygamma_", [](Tensor& t) { t.polygamma_(1); }},
      {"mvlgamma_", [](Tensor& t) { t.add_(2).mvlgamma_(2); }},
      {"nextafter_", [](Tensor& t) { t.nextafter_(other()); }, torch::kFloat, false},
      {"conj_physical_", [](Tensor& t) { t.conj_physical_(); }},
      {"float_power_", [](Tensor& t) { t.float_power_(2); }, torch::kDouble},
  };
  cases.insert(cases.end(), more.begin(), more.end());
}

void add_elements(std::vector<Case>& cases) {
  const std::vector<Case> more{
      {"fill_", [](Tensor& t) { t.fill_(3); }},
      {"fill_(tensor)", [](Tensor& t) { t.fill_(torch::tensor(2.f)); }},
      {"zero_", [](Tensor& t) { t.zero_(); }},
      {"fill_diagonal_", [](Tensor& t) { t.fill_diagonal_(2); }},
      {"copy_", [](Tensor& t) { t.copy_(other()); }},
      {"copy_(double)", [](Tensor& t) { t.copy_(other().to(torch::kDouble)); }},
      {"tril_", [](Tensor& t) { t.tril_(); }},
      {"triu_", [](Tensor& t) { t.triu_(); }},
      {"masked_fill_", [](Tensor& t) { t.masked_fill_(other() > 0.5, 2); }},
      {"masked_fill_(tensor)", [](Tensor& t) { t.masked_fill_(other() > 0.5, torch::tensor(2.f)); }},
      {"masked_scatter_", [](Tensor& t) { t.masked_scatter_(other() > 0.5, other()); }},
      {"scatter_", [](Tensor& t) { t.scatter_(0, index(), other()); }},
      {"scatter_(number)", [](Tensor& t) { t.scatter_(0, index(), 2); }},
      {"scatter_add_", [](Tensor& t) { t.scatter_add_(0, index(), other()); }},
      {"scatter_reduce_", [](Tensor& t) { t.scatter_reduce_(0, index(), other(), "amax"); }},
      {"index_add_", [](Tensor& t) { t.index_add_(0, torch::arange(4), other()); }},
      {"index_copy_", [](Tensor& t) { t.index_copy_(0, torch::arange(4), other()); }},
      {"index_fill_", [](Tensor& t) { t.index_fill_(0, torch::arange(2), 2); }},
      {"index_reduce_", [](Tensor& t) { t.index_reduce_(0, torch::arange(4), other(), "amax"); }},
      {"index_put_",
       [](Tensor& t) {
         t.index_put_({torch::arange(2)}, torch::ones({2, 4}));
       }},
      {"put_", [](Tensor& t) { t.put_(torch::arange(3), torch::ones(3)); }},
      {"renorm_", [](Tensor& t) { t.renorm_(2, 0, 0.5); }},
      {"cumsum_", [](Tensor& t) { t.cumsum_(0); }},
      {"cumprod_", [](Tensor& t) { t.cumprod_(0); }},
      {"addmm_", [](Tensor& t) { t.addmm_(other(), other()); }},
      {"addmv_", [](Tensor& t) { t[0].addmv_(other(), other()[0]); }},
      {"addr_", [](Tensor& t) { t.addr_(other()[0], other()[1]); }},
      {"addbmm_",
       [](Tensor& t) {
         t.addbmm_(torch::rand({2, 4, 3}), torch::rand({2, 3, 4}));
       }},
      {"baddbmm_",
       [](Tensor& t) {
         t.view({1, 4, 4}).baddbmm_(torch::rand({1, 4, 3}), torch::rand({1, 3, 4}));
       }},
      {"view add_", [](Tensor& t) { t.view({-1}).add_(1); }},
      {"row mul_", [](Tensor& t) { t[1].mul_(2); }},
      {"relu_ of a view", [](Tensor& t) { t.t().relu_(); }},
  };
  cases.insert(cases.end(), more.begin(), more.end());
}

void add_random_and_activations(std::vector<Case>& cases) {
  namespace F = torch::nn::functional;
  const std::vector<Case> more{
      {"uniform_", [](Tensor& t) { t.uniform_(); }},
      {"normal_", [](Tensor& t) { t.normal_(); }},
      {"random_", [](Tensor& t) { t.random_(); }},
      {"bernoulli_", [](Tensor& t) { t.bernoulli_(0.5); }},
      {"exponential_", [](Tensor& t) { t.exponential_(); }},
      {"geometric_", [](Tensor& t) { t.geometric_(0.5); }},
      {"log_normal_", [](Tensor& t) { t.log_normal_(); }},
      {"cauchy_", [](Tensor& t) { t.cauchy_(); }},
      {"dropout_", [](Tensor& t) { torch::dropout_(t, 0.5, true); }},
      {"feature_dropout_", [](Tensor& t) { torch::feature_dropout_(t, 0.5, true); }},
      {"alpha_dropout_", [](Tensor& t) { torch::alpha_dropout_(t, 0.5, true); }},
      {"elu_", [](Tensor& t) { torch::elu_(t); }},
      {"selu_", [](Tensor& t) { torch::selu_(t); }},
      {"celu_", [](Tensor& t) { torch::celu_(t); }},
      {"leaky_relu_", [](Tensor& t) { torch::leaky_relu_(t); }},
      {"hardtanh_", [](Tensor& t) { torch::hardtanh_(t); }},
      {"relu6_", [](Tensor& t) { torch::relu6_(t); }},
      {"threshold_", [](Tensor& t) { torch::threshold_(t, 0.5, 0.1); }},
      {"rrelu_", [](Tensor& t) { torch::rrelu_(t, 0.1, 0.3, true); }},
      {"relu inplace", [](Tensor& t) { F::relu(t, F::ReLUFuncOptions().inplace(true)); }},
  };
  cases.insert(cases.end(), more.begin(), more.end());
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_rows(cases);
  add_arithmetic(cases);
  add_elements(cases);
  add_random_and_activations(cases);
  return cases;
}

// Tries the change on tensors of a few dtypes; the first that takes it counts.
bool address_stays(const Case& c, bool graph) {
  for (const torch::Dtype dtype : {c.dtype, torch::kFloat, torch::kLong, torch::kBool}) {
    Tensor leaf = values(dtype);
    if (graph) {
      if (!torch::isFloatingType(dtype)) continue;
      leaf.requires_grad_();
    }
    Tensor t = graph ? leaf * 1 : leaf.clone();
    const void* before = t.data_ptr();
    try {
      c.change(t);
    } catch (const std::exception&) {
      continue;
    }
    return t.data_ptr() == before;
  }
  return graph;  // no gradient through this one; without a graph something must take it
}

class InplaceAddress : public testing::TestWithParam<bool> {};

TEST_P(InplaceAddress, EveryFunctionWritesToTheTensorsOwnMemory) {
  torch::manual_seed(1);
  std::string moved;
  size_t count = 0;
  for (const Case& c : all_cases()) {
    if (GetParam() && !c.differentiable) continue;
    ++count;
    if (!address_stays(c, GetParam())) moved += " " + c.name;
  }
  EXPECT_GT(count, 190u);
  EXPECT_EQ(moved, "");
}
INSTANTIATE_TEST_SUITE_P(WithAndWithoutGraph, InplaceAddress, testing::Bool());

// What the graph saved of the old values stays what it was, whether they were looked at or not.
TEST(InplaceGradients, AreThoseOfTheOldValues) {
  for (const bool look : {false, true}) {
    Tensor leaf = torch::tensor({0.5, -1.0, 2.0}, torch::kDouble).requires_grad_();
    Tensor t = leaf * 3;
    if (look) t.data_ptr();
    const Tensor square = t.detach().clone();
    t.mul_(leaf);  // saves t = 3x
    if (look) t.data_ptr();
    t.exp_();  // saves its result
    if (look) t.data_ptr();
    t.add_(1);
    t.sum().backward();
    const Tensor x = leaf.detach();
    const Tensor wanted = (3 * x * x).exp() * 6 * x;
    EXPECT_TRUE(torch::allclose(leaf.grad(), wanted)) << leaf.grad();
  }
}

TEST(InplaceAddress, OfATensorThatNobodyLookedAtCostsNoCopy) {
  Tensor leaf = torch::rand({1 << 16}).requires_grad_();
  const auto peak_of = [&](bool look) {
    Tensor t = leaf * 1;
    if (look) t.data_ptr();
    hb::reset_peak_memory();
    const size_t before = hb::memory_in_use();
    t.add_(1);
    return hb::peak_memory() - before;
  };
  EXPECT_LE(peak_of(false), peak_of(true));
}

TEST(InplaceAddress, AccessorsAndBorrowedMemorySeeTheChange) {
  Tensor leaf = torch::rand({3}).requires_grad_();
  Tensor t = leaf * 1;
  const auto a = t.accessor<float, 1>();
  t.mul_(2).add_(1);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(a[i], t[i].item<float>());

  float memory[3] = {1, 2, 3};
  Tensor b = torch::from_blob(memory, {3});
  b.add_(leaf);
  b.pow_(2);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(memory[i], b[i].item<float>());
}

// As LibTorch's set_: who holds the old memory keeps the old values.
TEST(InplaceAddress, LoadingRepointsTheParameters) {
  torch::nn::Linear saved(3, 2), loaded(3, 2);
  std::stringstream file;
  torch::save(saved, file);
  std::map<std::string, Tensor> before, values;
  for (const auto& p : loaded->named_parameters()) {
    before[p.key()] = p.value().detach();
    values[p.key()] = p.value().detach().clone();
  }
  torch::load(loaded, file);
  for (const auto& p : loaded->named_parameters()) {
    EXPECT_NE(p.value().data_ptr(), before[p.key()].data_ptr()) << p.key();
    EXPECT_TRUE(before[p.key()].equal(values[p.key()])) << p.key();
    EXPECT_TRUE(p.value().equal(saved->named_parameters()[p.key()])) << p.key();
  }
}

}  // namespace
