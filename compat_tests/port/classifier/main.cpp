// A program that needs no edit: modules, a data loader, an optimizer, a checkpoint.
#include <torch/torch.h>

#include <iostream>

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct ClassifierImpl : nn::Module {
  ClassifierImpl(int64_t inputs, int64_t classes)
      : hidden(register_module("hidden", nn::Linear(inputs, 64))), last(register_module("last", nn::Linear(64, classes))) {}

  torch::Tensor forward(torch::Tensor x) {
    x = F::relu(hidden(x.view({x.size(0), -1})));
    return F::log_softmax(last(F::dropout(x, F::DropoutFuncOptions().p(0.5).training(is_training()))), /*dim=*/1);
  }

  nn::Linear hidden, last;
};
TORCH_MODULE(Classifier);

class Spirals : public torch::data::datasets::Dataset<Spirals> {
 public:
  explicit Spirals(size_t count) : points_(torch::randn({static_cast<int64_t>(count), 2})) {}
  torch::data::Example<> get(size_t index) override {
    auto point = points_[static_cast<int64_t>(index)];
    return {point, point.sum().gt(0).to(torch::kLong)};
  }
  torch::optional<size_t> size() const override { return points_.size(0); }

 private:
  torch::Tensor points_;
};

int main() {
  torch::manual_seed(0);
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Classifier model(2, 2);
  model->to(device);
  auto loader = torch::data::make_data_loader(Spirals(256).map(torch::data::transforms::Stack<>()),
                                              torch::data::DataLoaderOptions().batch_size(32));
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-3));
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = F::nll_loss(model(batch.data.to(device)), batch.target.to(device));
    loss.backward();
    optimizer.step();
    std::cout << loss.item<float>() << '\n';
  }
  torch::save(model, "classifier.pt");
}
