// LeNet with a DataLoader of two worker threads: TORCH_MODULE, option chaining, Functional, Dropout, a
// validation loop.
#include "run.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;

class LeNetImpl : public nn::Module {
 public:
  LeNetImpl(int64_t num_classes, double p)
      : conv1(nn::Conv2dOptions(1, 16, 5).padding(2)),
        conv2(nn::Conv2dOptions(/*in_channels=*/16, /*out_channels=*/32, /*kernel_size=*/5).stride(1).bias(true)),
        drop(nn::DropoutOptions(p)),
        classifier(nn::Linear(32 * 5 * 5, 120), nn::Functional(torch::relu), nn::Dropout(p), nn::Linear(120, 84),
                   nn::ReLU(nn::ReLUOptions().inplace(true)), nn::Linear(nn::LinearOptions(84, num_classes))) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("drop", drop);
    register_module("classifier", classifier);
  }

  torch::Tensor forward(const torch::Tensor& input) {
    auto x = torch::max_pool2d(torch::relu(conv1(input)), 2);
    x = F::max_pool2d(F::relu(conv2(x), F::ReLUFuncOptions().inplace(true)), F::MaxPool2dFuncOptions(2).stride(2));
    x = drop(x).flatten(1);
    return classifier->forward(x);
  }

 private:
  nn::Conv2d conv1, conv2;
  nn::Dropout2d drop;
  nn::Sequential classifier;
};
TORCH_MODULE(LeNet);

// On the first thousand images; one row of probabilities is printed.
void validate(LeNet& net, const torch::data::datasets::MNIST& check, run::Record& record) {
  net->eval();
  torch::NoGradGuard no_grad;
  const torch::Device device = net->parameters().front().device();
  auto images = check.images().slice(/*dim=*/0, 0, 1000).sub(0.13707).div(0.3081).to(device);
  auto probabilities = torch::softmax(net->forward(images), -1);
  auto hits = probabilities.argmax(-1).eq(check.targets().slice(0, 0, 1000).to(device)).to(torch::kFloat).mean();
  record.loss(hits.item<float>(), "accuracy");
  std::cout << "accuracy " << hits.item<float>() << "\n" << probabilities[0] << std::endl;
}

int main(int argc, char** argv) {
  const auto args = run::parse(argc, argv);
  run::Record record("lenet_dataloader", args);
  torch::Device device = args.device();
  if (!torch::cuda::is_available()) device = torch::Device(torch::kCPU);

  LeNet net(10, args.dropout_or(0.25));
  net->to(device);
  record.weights("initial", "net", *net);
  const auto trace = run::trace(args, *net);
  std::cout << net << "\n";

  using torch::data::datasets::MNIST;
  const bool train_files = run::file_exists(args.data + "/train-images-idx3-ubyte");
  const auto mode = train_files ? MNIST::Mode::kTrain : MNIST::Mode::kTest;
  auto train_set = MNIST(args.data, mode)
                       .map(torch::data::transforms::Normalize<>(0.13707, 0.3081))
                       .map(torch::data::transforms::Stack<>());
  const size_t train_size = train_set.size().value();
  auto loader = torch::data::make_data_loader(
      std::move(train_set), torch::data::samplers::RandomSampler(train_size),
      torch::data::DataLoaderOptions().batch_size(64).workers(2).max_jobs(4).enforce_ordering(true));

  auto optimizer = std::make_shared<torch::optim::SGD>(
      net->parameters(), torch::optim::SGDOptions(/*lr=*/0.01).momentum(0.9).weight_decay(5e-4));
  nn::CrossEntropyLoss criterion;

  const auto update = run::training_step<std::tuple<torch::Tensor, torch::Tensor>(torch::Tensor, torch::Tensor)>(
      args, [&](torch::Tensor images, torch::Tensor labels) {
        auto logits = net(images);
        auto loss = criterion(logits, labels);
        optimizer->zero_grad();
        loss.backward();
        optimizer->step();
        return std::make_tuple(loss, logits);
      });
  int64_t step = 0;
  for (int epoch = 1; step < args.steps; ++epoch) {
    net->train();
    float epoch_loss = 0;
    int64_t seen = 0, correct = 0;
    for (torch::data::Example<>& batch : *loader) {
      torch::Tensor images = batch.data.to(device);
      torch::Tensor labels = batch.target.to(device);
      const auto [loss, logits] = update(images, labels);
      record.loss(loss.item().toFloat());
      epoch_loss += loss.item<float>() * static_cast<float>(labels.size(0));
      seen += labels.size(0);
      correct += std::get<1>(logits.max(1)).eq(labels).sum().item<int64_t>();
      if (++step >= args.steps) break;
    }
    std::cout << "Epoch " << epoch << " loss " << epoch_loss / static_cast<float>(seen) << " acc "
              << 100.0 * static_cast<double>(correct) / static_cast<double>(seen) << "%" << std::endl;
  }

  validate(net, MNIST(args.data, mode), record);
  record.weights("final", "net", *net);
  record.write();
}
