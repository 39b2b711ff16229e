// An MLP on MNIST: SGD with momentum (or --optimizer adam), a data loader with transforms, an accuracy loop
// under NoGradGuard. Without MNIST files it trains on the digits CSV through a Dataset of its own.
#include "run.h"

struct Net : torch::nn::Module {
  Net(int64_t inputs, int64_t hidden, double dropout)
      : fc1(inputs, hidden), fc2(hidden, hidden / 2), fc3(hidden / 2, 10), p(dropout) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("fc3", fc3);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(fc1->forward(x.reshape({x.size(0), -1})));
    x = torch::dropout(x, p, /*train=*/is_training());
    x = fc2->forward(x).relu();
    return torch::log_softmax(fc3->forward(x), /*dim=*/1);
  }

  torch::nn::Linear fc1, fc2, fc3;
  double p;
};

// Rows of 64 grey levels (0 to 16) and a label.
class DigitsCsv : public torch::data::datasets::Dataset<DigitsCsv> {
 public:
  explicit DigitsCsv(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("could not open " + path);
    std::vector<float> pixels;
    std::vector<int64_t> labels;
    std::string line;
    while (std::getline(file, line)) {
      std::stringstream row(line);
      std::string cell;
      for (int i = 0; i < 64 && std::getline(row, cell, ','); ++i) pixels.push_back(std::stof(cell) / 16.0f);
      std::getline(row, cell, ',');
      labels.push_back(std::stoll(cell));
    }
    const auto n = static_cast<int64_t>(labels.size());
    images_ = torch::from_blob(pixels.data(), {n, 1, 8, 8}, torch::kFloat32).clone();
    targets_ = torch::tensor(labels, torch::kInt64);
  }

  torch::data::Example<> get(size_t index) override { return {images_[index], targets_[index]}; }
  torch::optional<size_t> size() const override { return images_.size(0); }

 private:
  torch::Tensor images_, targets_;
};

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::string& name, const Net& net) {
  if (name == "adam") {
    return std::make_unique<torch::optim::Adam>(net.parameters(), torch::optim::AdamOptions(1e-3).betas({0.9, 0.98}));
  }
  return std::make_unique<torch::optim::SGD>(net.parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
}

template <class Loader>
void train(Net& net, Loader& loader, torch::optim::Optimizer& optimizer, const run::Args& args, run::Record& record) {
  const torch::Device device = args.device();
  int64_t step = 0;
  auto update = run::training_step<torch::Tensor(torch::Tensor, torch::Tensor)>(
      args, [&](torch::Tensor images, torch::Tensor labels) {
        optimizer.zero_grad();
        auto loss = torch::nll_loss(net.forward(images), labels);
        loss.backward();
        optimizer.step();
        return loss;
      });
  while (step < args.steps) {
    for (auto& batch : loader) {
      const auto loss = update(batch.data.to(device), batch.target.to(device));
      record.loss(loss.template item<double>());
      if (step % 10 == 0) std::cout << "step " << step << ", loss " << loss.template item<float>() << "\n";
      if (++step == args.steps) break;
    }
  }
}

template <class Loader>
double accuracy(Net& net, Loader& loader, const torch::Device& device, run::Record& record) {
  torch::NoGradGuard no_grad;
  net.eval();
  double total_loss = 0;
  int64_t right = 0, seen = 0;
  for (const auto& batch : loader) {
    const auto target = batch.target.to(device);
    auto output = net.forward(batch.data.to(device));
    total_loss += torch::nll_loss(output, target, /*weight=*/{}, torch::Reduction::Sum).template item<float>();
    right += output.argmax(1).eq(target).sum().template item<int64_t>();
    seen += target.size(0);
  }
  net.train();
  record.loss(total_loss / static_cast<double>(seen), "test_loss");
  return static_cast<double>(right) / static_cast<double>(seen);
}

template <class Set>
void fit(const run::Args& args, Set set, int64_t inputs, run::Record& record) {
  Net net(inputs, 512, args.dropout_or(0.2));
  net.to(args.device());
  record.weights("initial", "net", net);
  const auto trace = run::trace(args, net);
  std::cout << net << std::endl;
  auto test_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Set(set), 1000);
  auto train_loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(set), torch::data::DataLoaderOptions().batch_size(64).drop_last(true));
  auto optimizer = make_optimizer(args.get("optimizer", "sgd"), net);
  train(net, *train_loader, *optimizer, args, record);
  const double reached = accuracy(net, *test_loader, args.device(), record);
  record.loss(reached, "accuracy");
  std::printf("accuracy %.4f\n", reached);
  record.weights("final", "net", net);
}

int main(int argc, char** argv) {
  const auto args = run::parse(argc, argv);
  run::Record record("mlp_mnist", args);
  using Mode = torch::data::datasets::MNIST::Mode;
  const bool train_files = run::file_exists(args.data + "/train-images-idx3-ubyte");
  if (train_files || run::file_exists(args.data + "/t10k-images-idx3-ubyte")) {
    fit(args,
        torch::data::datasets::MNIST(args.data, train_files ? Mode::kTrain : Mode::kTest)
            .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
            .map(torch::data::transforms::Stack<>()),
        784, record);
  } else {
    fit(args, DigitsCsv(args.data + "/digits.csv").map(torch::data::transforms::Stack<>()), 64, record);
  }
  record.write();
}
