// A ResNet for 32x32 colour images (three stages of BasicBlocks), SGD with Nesterov momentum and weight
// decay, a hand-made learning-rate schedule, a custom Dataset. The images are drawn by the program: coloured
// stripes whose direction, width and hue tell the class.
#include "run.h"

#include <cmath>
#include <random>

using torch::Tensor;
using torch::indexing::None;
using torch::indexing::Slice;

class StripesDataset : public torch::data::Dataset<StripesDataset> {
  using Example = torch::data::Example<>;

 public:
  static constexpr int64_t kSide = 32;

  StripesDataset(int64_t count, unsigned seed) : images_(torch::empty({count, 3, kSide, kSide})) {
    std::mt19937 random(seed);
    auto uniform = [&] { return static_cast<float>(random() % 10000) / 10000.0f; };
    auto pixels = images_.accessor<float, 4>();
    for (int64_t n = 0; n < count; ++n) {
      const int label = static_cast<int>(random() % 10);
      const float angle = 3.14159265f * static_cast<float>(label % 5) / 5.0f, phase = 6.2831853f * uniform();
      const float step = label < 5 ? 0.6f : 1.1f;
      for (int64_t y = 0; y < kSide; ++y) {
        for (int64_t x = 0; x < kSide; ++x) {
          const float at = std::cos(angle) * static_cast<float>(x) + std::sin(angle) * static_cast<float>(y);
          for (int64_t c = 0; c < 3; ++c) {
            const float hue = 0.3f * static_cast<float>((label + c) % 3);
            pixels[n][c][y][x] = 0.25f * std::sin(step * at + phase + hue) + 0.6f * (uniform() - 0.5f);
          }
        }
      }
      labels_.push_back(label);
    }
  }

  Example get(size_t index) override {
    return {images_[static_cast<int64_t>(index)], torch::tensor(labels_.at(index), torch::kLong)};
  }
  torch::optional<size_t> size() const override { return labels_.size(); }

 private:
  Tensor images_;
  std::vector<int64_t> labels_;
};

torch::nn::Conv2d conv3x3(int64_t in_planes, int64_t out_planes, int64_t stride = 1) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in_planes, out_planes, 3).stride(stride).padding(1).bias(false));
}

struct BasicBlock : torch::nn::Module {
  static constexpr int64_t expansion = 1;

  BasicBlock(int64_t in_planes, int64_t planes, int64_t stride, torch::nn::Sequential downsample)
      : conv1(conv3x3(in_planes, planes, stride)),
        bn1(planes),
        conv2(conv3x3(planes, planes)),
        bn2(torch::nn::BatchNorm2dOptions(planes).eps(1e-5).momentum(0.1).affine(true)),
        downsample(downsample) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("relu", relu);
    register_module("conv2", conv2);
    register_module("bn2", bn2);
    if (!downsample->is_empty()) register_module("downsample", downsample);
  }

  Tensor forward(Tensor x) {
    auto residual = x;
    auto out = relu(bn1(conv1(x)));
    out = bn2(conv2(out));
    if (!downsample->is_empty()) residual = downsample->forward(x);
    out += residual;
    return relu(out);
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  torch::nn::ReLU relu{torch::nn::ReLUOptions(true)};
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d bn2;
  torch::nn::Sequential downsample;
};

template <class Block>
struct ResNet : torch::nn::Module {
  explicit ResNet(const std::vector<int64_t>& layers, int64_t num_classes = 10) {
    conv1 = register_module("conv1", conv3x3(3, 16));
    bn1 = register_module("bn1", torch::nn::BatchNorm2d(16));
    layer1 = register_module("layer1", make_layer(16, layers[0], 1));
    layer2 = register_module("layer2", make_layer(32, layers[1], 2));
    layer3 = register_module("layer3", make_layer(64, layers[2], 2));
    pool = register_module("pool", torch::nn::AdaptiveAvgPool2d(torch::nn::AdaptiveAvgPool2dOptions({1, 1})));
    fc = register_module("fc", torch::nn::Linear(64 * Block::expansion, num_classes));

    for (auto& m : this->modules(/*include_self=*/false)) {
      if (auto* conv = m->template as<torch::nn::Conv2dImpl>()) {
        torch::nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
      } else if (m->name() == "torch::nn::BatchNorm2dImpl") {
        for (auto& p : m->named_parameters()) torch::nn::init::constant_(*p, p.key() == "weight" ? 1 : 0);
      }
    }
    for (auto& m : this->modules(/*include_self=*/false)) {
      // Every block starts as the identity.
      if (auto* block = m->template as<Block>()) torch::nn::init::zeros_(block->bn2->weight);
    }
  }

  Tensor forward(Tensor x) {
    x = torch::relu(bn1->forward(conv1->forward(x)));
    x = layer3->forward(layer2->forward(layer1->forward(x)));
    x = pool(x);
    return fc(x.view({x.size(0), -1}));
  }

 private:
  torch::nn::Sequential make_layer(int64_t planes, int64_t blocks, int64_t stride) {
    torch::nn::Sequential downsample;
    if (stride != 1 || in_planes != planes * Block::expansion) {
      downsample = torch::nn::Sequential(
          torch::nn::Conv2d(
              torch::nn::Conv2dOptions(in_planes, planes * Block::expansion, 1).stride(stride).bias(false)),
          torch::nn::BatchNorm2d(planes * Block::expansion));
    }
    torch::nn::Sequential layers;
    layers->push_back(Block(in_planes, planes, stride, downsample));
    in_planes = planes * Block::expansion;
    for (int64_t i = 1; i < blocks; ++i) layers->push_back(Block(in_planes, planes, 1, torch::nn::Sequential()));
    return layers;
  }

  int64_t in_planes = 16;
  torch::nn::Conv2d conv1{nullptr};
  torch::nn::BatchNorm2d bn1{nullptr};
  torch::nn::Sequential layer1, layer2, layer3;
  torch::nn::AdaptiveAvgPool2d pool{nullptr};
  torch::nn::Linear fc{nullptr};
};

void evaluate(ResNet<BasicBlock>& model, run::Record& record) {
  model.eval();
  torch::NoGradGuard guard;
  StripesDataset held_back(256, 12);
  std::vector<Tensor> images, labels;
  for (size_t i = 0; i < held_back.size().value(); ++i) {
    auto example = held_back.get(i);
    images.push_back(example.data.unsqueeze(0));
    labels.push_back(example.target);
  }
  const torch::Device device = model.parameters().front().device();
  auto logits = model.forward(torch::cat(images, 0).to(device));
  auto target = torch::stack(labels).to(device);
  auto loss = torch::nll_loss(torch::log_softmax(logits, 1), target);
  auto accuracy = (logits.argmax(1) == target).to(torch::kFloat32).mean().item<float>();
  std::cout << "held back: loss " << loss.item<float>() << " accuracy " << accuracy << "\n"
            << logits.index({Slice(None, 2), Slice(0, 5)}) << std::endl;
  record.loss(loss.item<double>(), "held_back_loss");
  record.loss(accuracy, "accuracy");
}

int main(int argc, char** argv) {
  auto args = run::parse(argc, argv);
  run::Record record("resnet32", args);
  const int64_t batch_size = std::stoll(args.get("batch", "32"));
  const int64_t blocks = std::stoll(args.get("blocks", "2"));

  auto model = std::make_shared<ResNet<BasicBlock>>(std::vector<int64_t>{blocks, blocks, blocks});
  const torch::Device device = args.device();
  model->to(device);
  record.weights("initial", "net", *model);
  const auto trace = run::trace(args, *model);
  int64_t weights = 0;
  for (const auto& p : model->parameters()) weights += p.numel();
  std::cout << "parameters: " << weights << ", tensors: " << model->parameters().size() << std::endl;

  auto train_set = StripesDataset(1024, 11).map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(train_set), torch::data::DataLoaderOptions().batch_size(batch_size).drop_last(true));

  double lr = 0.02;
  torch::optim::SGD optimizer(model->parameters(),
                              torch::optim::SGDOptions(lr).momentum(0.9).weight_decay(1e-4).nesterov(true));
  const auto update = run::training_step<torch::Tensor(torch::Tensor, torch::Tensor)>(
      args, [&](torch::Tensor images, torch::Tensor labels) {
        auto loss = torch::nn::functional::cross_entropy(model->forward(images), labels);
        model->zero_grad();
        loss.backward();
        optimizer.step();
        return loss;
      });
  int64_t step = 0;
  model->train();
  while (step < args.steps) {
    for (auto& batch : *loader) {
      // A warm-up, then a fall by ten.
      lr = step < 5 ? 0.004 * static_cast<double>(step + 1) : step < args.steps * 3 / 4 ? 0.02 : 0.002;
      for (auto& group : optimizer.param_groups()) {
        static_cast<torch::optim::SGDOptions&>(group.options()).lr(lr);
      }
      const auto loss = update(batch.data.to(device), batch.target.to(device));
      record.loss(loss.item<double>());
      if (step % 10 == 0) std::cout << "step " << step << " lr " << lr << " loss " << loss.item<float>() << std::endl;
      if (++step == args.steps) break;
    }
  }

  evaluate(*model, record);
  record.weights("final", "net", *model);
  record.write();
}
