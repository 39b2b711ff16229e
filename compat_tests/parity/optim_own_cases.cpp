// An optimizer as programs write their own: options and state saved by LibTorch's macros.
#include <deque>
#include <sstream>

#include "parity/case.h"

namespace {

using torch::Tensor;
using torch::optim::deque_to_list;  // LibTorch's macros name them without their namespace
using torch::optim::list_to_deque;

struct OwnOptions : torch::optim::OptimizerCloneableOptions<OwnOptions> {
  OwnOptions(double lr = 0.1) : lr_(lr) {}  // NOLINT
  typedef std::tuple<double, double> betas_t;
  TORCH_ARG(double, lr) = 0.1;
  TORCH_ARG(betas_t, betas) = std::make_tuple(0.9, 0.99);
  TORCH_ARG(bool, nesterov) = false;
  TORCH_ARG(std::optional<int64_t>, limit) = std::nullopt;

 public:
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, lr);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(betas_t, betas);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(bool, nesterov);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(int64_t, limit);
  }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(lr);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(betas);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(nesterov);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(limit);
  }
  double get_lr() const override { return lr(); }
  void set_lr(const double value) override { lr(value); }
};

struct OwnParamState : torch::optim::OptimizerCloneableParamState<OwnParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(Tensor, average);
  TORCH_ARG(Tensor, unused);
  TORCH_ARG(std::deque<double>, history);

 public:
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(int64_t, step);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(Tensor, average);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(Tensor, unused);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_DEQUE(std::deque<double>, history);
  }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(step);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(average);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(unused);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG_DEQUE(history);
  }
};

class Own : public torch::optim::Optimizer {
 public:
  explicit Own(std::vector<Tensor> params, OwnOptions defaults = {})
      : Optimizer({torch::optim::OptimizerParamGroup(std::move(params))}, std::make_unique<OwnOptions>(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override {
    torch::NoGradGuard no_grad;
    Tensor loss;
    if (closure) {
      at::AutoGradMode enable(true);
      loss = closure();
    }
    for (auto& group : param_groups_) {
      const auto& o = static_cast<OwnOptions&>(group.options());
      for (auto& p : group.params()) {
        auto& slot = state_[p.unsafeGetTensorImpl()];
        if (!slot) {
          auto fresh = std::make_unique<OwnParamState>();
          fresh->average(torch::zeros_like(p));
          slot = std::move(fresh);
        }
        auto& s = static_cast<OwnParamState&>(*slot);
        s.step(s.step() + 1);
        s.average().mul_(std::get<0>(o.betas())).add_(p.grad());
        s.history().push_back(0.5 * static_cast<double>(s.step()));
        p.add_(s.average().sign(), -o.lr());
      }
    }
    return loss;
  }
  void save(torch::serialize::OutputArchive& archive) const override { serialize(*this, archive); }
  void load(torch::serialize::InputArchive& archive) override { serialize(*this, archive); }

 private:
  template <typename Self, typename Archive>
  static void serialize(Self& self, Archive& archive) {
    _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(Own);
  }
};

}  // namespace

PARITY_CASE(optim_own, saved_by_macros) {
  auto w = c.leaf({3, 2});
  const auto x = c.randn({5, 3});
  Own optimizer({w}, OwnOptions(0.05).betas(std::make_tuple(0.5, 0.75)).limit(7));
  const auto closure = [&] {
    optimizer.zero_grad();
    auto loss = x.matmul(w).pow(2).mean();
    loss.backward();
    return loss;
  };
  for (int i = 0; i < 3; ++i) c.out("loss" + std::to_string(i), optimizer.step(closure));

  std::stringstream file;
  torch::save(optimizer, file);
  auto v = w.detach().clone().requires_grad_();
  Own loaded({v});
  torch::load(loaded, file);
  const auto& o = static_cast<OwnOptions&>(loaded.param_groups()[0].options());
  c.value("lr", o.lr());
  c.value("beta", std::get<1>(o.betas()));
  c.value("limit", o.limit().value_or(-1));
  const auto& s = static_cast<OwnParamState&>(*loaded.state().at(v.unsafeGetTensorImpl()));
  c.value("step", s.step());
  c.value("unused", s.unused().defined());
  c.value("history", static_cast<int64_t>(s.history().size()));
  c.value("first", s.history().front());
  c.out("average", s.average());
}

PARITY_CASE(optim_own, buffers) {
  std::vector<Tensor> buffers{c.randn({2}), c.randn({3, 1})}, read;
  torch::serialize::OutputArchive out;
  torch::optim::serialize(out, "buffers", buffers);
  std::stringstream file;
  out.save_to(file);
  torch::serialize::InputArchive in;
  in.load_from(file);
  torch::optim::serialize(in, "buffers", read);
  c.value("count", static_cast<int64_t>(read.size()));
  c.out("last", read.back());
}
