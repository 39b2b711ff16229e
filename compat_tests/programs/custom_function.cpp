// A custom autograd::Function, a custom Dataset and BatchDataset, StepLR, per-parameter-group options,
// checkpoints of model and optimizer: the program stops half-way, starts again from its files, and must go on
// exactly as it would have.
#include "run.h"

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// y = x * sigmoid(beta * x), with beta a constant; saves its input, computes its gradient by hand.
struct Swish : public torch::autograd::Function<Swish> {
  static Tensor forward(AutogradContext* ctx, Tensor x, double beta) {
    ctx->save_for_backward({x});
    ctx->saved_data["beta"] = beta;
    return x * torch::sigmoid(x * beta);
  }

  static variable_list backward(AutogradContext* ctx, variable_list grad_outputs) {
    const auto saved = ctx->get_saved_variables();
    const auto x = saved[0];
    const double beta = ctx->saved_data["beta"].toDouble();
    const auto s = torch::sigmoid(x * beta);
    return {grad_outputs[0] * (s + beta * x * s * (1 - s)), Tensor()};
  }
};

// Rounds to steps of 1/16 on the way forward and lets the gradient through unchanged where |x| <= 1.
class Quantize : public torch::autograd::Function<Quantize> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return torch::round(x.clamp(-1, 1) * 16) / 16;
  }
  static torch::autograd::tensor_list backward(AutogradContext* ctx, torch::autograd::tensor_list grads) {
    auto x = ctx->get_saved_variables().front();
    return {torch::where(x.abs() <= 1, grads[0], torch::zeros_like(grads[0]))};
  }
};

// One example at a time: a point in the square and which arm of two spirals it lies on.
class Spirals : public torch::data::datasets::Dataset<Spirals> {
 public:
  explicit Spirals(int64_t count) {
    auto t = torch::rand({count}).sqrt() * 9.0;
    arm_ = torch::randint(/*low=*/0, /*high=*/2, {count}).to(torch::kLong);
    auto angle = t + arm_.to(torch::kFloat) * 3.14159265;
    points_ = torch::stack({angle.cos() * t, angle.sin() * t}, 1) / 9.0;
    points_ += torch::rand({count, 2}).sub_(0.5).mul_(0.05);
  }
  torch::data::Example<> get(size_t i) override {
    const auto at = static_cast<int64_t>(i);
    return {points_[at], arm_[at]};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(points_.size(0)); }
  const Tensor& points() const { return points_; }
  const Tensor& arms() const { return arm_; }

 private:
  Tensor points_, arm_;
};

// Whole batches by index: what a program with its data in one tensor writes.
class SpiralBatches : public torch::data::datasets::BatchDataset<SpiralBatches, torch::data::Example<>> {
 public:
  explicit SpiralBatches(Spirals all) : all_(std::move(all)) {}
  torch::data::Example<> get_batch(torch::ArrayRef<size_t> indices) override {
    std::vector<int64_t> at(indices.begin(), indices.end());
    auto index = torch::from_blob(at.data(), {static_cast<int64_t>(at.size())}, torch::kInt64);
    return {all_.points().index_select(0, index), all_.arms().index({index})};
  }
  torch::optional<size_t> size() const override { return all_.size(); }

 private:
  Spirals all_;
};

struct SpiralNetImpl : torch::nn::Module {
  explicit SpiralNetImpl(int64_t width, double dropout)
      : hidden(torch::nn::Linear(2, width)), middle(width, width), drop(dropout), last(width, 2) {
    register_module("hidden", hidden);
    register_module("middle", middle);
    register_module("drop", drop);
    register_module("last", last);
    scale = register_parameter("scale", torch::ones({1}) * 2);
    seen = register_buffer("seen", torch::zeros({}, torch::kLong));
  }

  Tensor forward(Tensor x) {
    if (is_training()) seen += x.size(0);
    x = Swish::apply(hidden(x) * scale, 1.5);
    x = Swish::apply(drop(middle(x)), 1.0);
    return last(x) + 0.1 * Quantize::apply(last(x));
  }

  torch::nn::Linear hidden, middle;
  torch::nn::Dropout drop;
  torch::nn::Linear last;
  Tensor scale, seen;
};
TORCH_MODULE(SpiralNet);

struct Trainer {
  SpiralNet net;
  torch::optim::Adam optimizer;
  torch::optim::StepLR schedule;
  std::function<Tensor(Tensor, Tensor)> update;

  Trainer(int64_t width, const run::Args& args)
      : net(on(args.device(), SpiralNet(width, args.dropout_or(0.05)))),
        optimizer(net->parameters(), torch::optim::AdamOptions(1e-2).weight_decay(1e-4)),
        schedule(optimizer, /*step_size=*/15, /*gamma=*/0.5),
        update(run::training_step<Tensor(Tensor, Tensor)>(args, [this](Tensor x, Tensor y) { return learn(x, y); })) {}

  static SpiralNet on(const torch::Device& device, SpiralNet net) {
    net->to(device);
    return net;
  }
  double step(const torch::data::Example<>& batch) {
    const torch::Device device = net->scale.device();
    auto loss = update(batch.data.to(device), batch.target.to(device));
    schedule.step();
    return loss.item<double>();
  }
  Tensor learn(const Tensor& points, const Tensor& arms) {
    optimizer.zero_grad();
    auto loss = torch::nn::functional::cross_entropy(net->forward(points), arms);
    loss.backward();
    torch::nn::utils::clip_grad_value_(net->parameters(), 1.0);
    optimizer.step();
    return loss;
  }

  double lr() const { return optimizer.param_groups().front().options().get_lr(); }
};

int main(int argc, char** argv) {
  const auto args = run::parse(argc, argv);
  run::Record record("custom_function", args);
  Spirals spirals(2048);
  Trainer trainer(64, args);
  record.weights("initial", "net", *trainer.net);
  const auto trace = run::trace(args, *trainer.net);

  // Half of the steps through single examples, half through whole batches.
  auto stacked = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      Spirals(spirals).map(torch::data::transforms::Stack<>()), 128);
  auto batches =
      torch::data::make_data_loader(SpiralBatches(spirals), torch::data::DataLoaderOptions().batch_size(128));
  const int64_t half = args.steps / 2;
  int64_t step = 0;
  while (step < half) {
    for (auto& batch : *stacked) {
      record.loss(trainer.step(batch));
      if (++step == half) break;
    }
  }

  const std::string base = args.out.empty() ? std::string("custom_function") : args.out;
  torch::save(trainer.net, base + ".model.pt");
  torch::save(trainer.optimizer, base + ".optimizer.pt");
  torch::save(std::vector<Tensor>{spirals.points(), spirals.arms()}, base + ".data.pt");
  std::cout << "stopped at step " << step << ", lr " << trainer.lr() << std::endl;

  Trainer again(64, args);
  torch::load(again.net, base + ".model.pt");
  torch::load(again.optimizer, base + ".optimizer.pt");
  std::vector<Tensor> read_back;
  torch::load(read_back, base + ".data.pt");
  if (!torch::equal(read_back.at(0), spirals.points())) throw std::runtime_error("the data came back different");
  while (step < args.steps) {
    for (const auto& batch : *batches) {
      // The same learning rate and dropout masks for both.
      const double lr = trainer.lr();
      torch::manual_seed(args.seed * 1000 + static_cast<uint64_t>(step));
      const double expected = trainer.step(batch);
      torch::manual_seed(args.seed * 1000 + static_cast<uint64_t>(step));
      for (auto& group : again.optimizer.param_groups()) group.options().set_lr(lr);
      const double loss = again.step(batch);
      if (loss != expected) throw std::runtime_error("the program that was started again went another way");
      record.loss(loss);
      if (++step == args.steps) break;
    }
  }

  torch::NoGradGuard no_grad;
  again.net->eval();
  auto right = again.net->forward(spirals.points().to(args.device()))
                   .argmax(1)
                   .cpu()
                   .eq(spirals.arms())
                   .to(torch::kFloat)
                   .mean();
  std::cout << "examples seen " << again.net->seen.item<int64_t>() << ", accuracy " << right.item<float>() << std::endl;
  record.loss(right.item<float>(), "accuracy");
  record.weights("final", "net", *again.net);
  record.write();
}
