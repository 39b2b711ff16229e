// A DCGAN on 28x28 digits: transposed convolutions, batch normalisation, leaky ReLU, two Adam optimizers,
// binary cross entropy with smoothed labels, checkpoints of both nets and both optimizers.
#include "run.h"

using torch::Tensor;
namespace nn = torch::nn;

constexpr int64_t kNoise = 64;
constexpr int64_t kBatch = 48;

// Noise (N, 64, 1, 1) to images (N, 1, 28, 28) in [-1, 1]; 1 -> 4 -> 7 -> 14 -> 28 pixels a side.
class PainterImpl : public nn::Module {
 public:
  explicit PainterImpl(int64_t width) {
    body = register_module("body", nn::Sequential());
    add_stage(kNoise, 4 * width, nn::ConvTranspose2dOptions(kNoise, 4 * width, 4));
    add_stage(4 * width, 2 * width, nn::ConvTranspose2dOptions(4 * width, 2 * width, 3).stride(2).padding(1));
    add_stage(2 * width, width, nn::ConvTranspose2dOptions(2 * width, width, 4).stride(2).padding(1));
    to_image = register_module(
        "to_image", nn::ConvTranspose2d(nn::ConvTranspose2dOptions(width, 1, 4).stride(2).padding(1).bias(true)));
  }

  Tensor forward(const Tensor& noise) { return torch::tanh(to_image(body->forward(noise))); }

 private:
  void add_stage(int64_t, int64_t out, nn::ConvTranspose2dOptions options) {
    body->push_back(nn::ConvTranspose2d(options.bias(false)));
    body->push_back(nn::BatchNorm2d(nn::BatchNormOptions(out).momentum(0.2)));
    body->push_back(nn::ReLU());
  }

  nn::Sequential body{nullptr};
  nn::ConvTranspose2d to_image{nullptr};
};
TORCH_MODULE(Painter);

// Images to the probability that they are real.
nn::Sequential make_critic(int64_t width, double dropout) {
  auto down = [](int64_t in, int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 4).stride(2).padding(1).bias(false));
  };
  auto leak = [](bool inplace) { return nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2).inplace(inplace)); };
  return nn::Sequential(down(1, width), leak(false), down(width, 2 * width), nn::BatchNorm2d(2 * width), leak(true),
                        nn::Dropout(dropout), down(2 * width, 4 * width), nn::BatchNorm2d(4 * width), leak(false),
                        nn::Conv2d(nn::Conv2dOptions(4 * width, 1, 3).bias(false)), nn::Sigmoid(),
                        nn::Flatten(nn::FlattenOptions().start_dim(0)));
}

void draw_weights(nn::Module& module) {
  torch::NoGradGuard no_grad;
  if (auto* conv = module.as<nn::Conv2d>()) {
    nn::init::normal_(conv->weight, 0.0, 0.1);
  } else if (auto* up = module.as<nn::ConvTranspose2d>()) {
    nn::init::normal_(up->weight, 0.0, 0.1);
  } else if (auto* norm = module.as<nn::BatchNorm2d>()) {
    norm->weight.normal_(1.0, 0.02);
    nn::init::zeros_(norm->bias);
  }
}

class Game {
 public:
  Game(Painter painter, nn::Sequential critic)
      : painter_(painter),
        critic_(critic),
        painter_adam_(painter->parameters(), torch::optim::AdamOptions(5e-5).betas({0.5, 0.999}).eps(1e-5)),
        critic_adam_(critic->parameters(),
                     torch::optim::AdamOptions(5e-5).betas(std::make_tuple(0.5, 0.999)).eps(1e-5)) {}

  /// The losses of the critic and of the painter.
  std::tuple<Tensor, Tensor> play(const Tensor& real) {
    const auto n = real.size(0);
    critic_->zero_grad();
    const auto soft_ones = torch::empty(n, real.options()).uniform_(0.8, 1.0);
    auto loss_real = torch::binary_cross_entropy(critic_->forward(real), soft_ones);
    loss_real.backward();
    const auto made = painter_->forward(torch::randn({n, kNoise, 1, 1}, real.options()));
    auto target = torch::zeros(n, real.options());
    auto loss_made = torch::binary_cross_entropy(critic_->forward(made.detach()), target);
    loss_made.backward();
    critic_adam_.step();

    painter_->zero_grad();
    target.fill_(1);
    auto painter_loss = nn::functional::binary_cross_entropy(critic_->forward(made), target);
    painter_loss.backward();
    painter_adam_.step();
    return {loss_real + loss_made, painter_loss};
  }

  void save(const std::string& base) {
    torch::save(painter_, base + ".painter.pt");
    torch::save(painter_adam_, base + ".painter-adam.pt");
    torch::save(critic_, base + ".critic.pt");
    torch::save(critic_adam_, base + ".critic-adam.pt");
  }

 private:
  Painter painter_;
  nn::Sequential critic_;
  torch::optim::Adam painter_adam_, critic_adam_;
};

int main(int argc, char** argv) {
  const auto args = run::parse(argc, argv);
  run::Record record("dcgan", args);

  Painter painter(16);
  auto critic = make_critic(16, args.dropout_or(0.0));
  painter->apply(draw_weights);
  critic->apply(draw_weights);
  const torch::Device device = args.device();
  painter->to(device);
  critic->to(device);
  record.weights("initial", "painter", *painter);
  record.weights("initial", "critic", *critic);
  const auto trace = run::trace(args, *painter, *critic);
  std::cout << painter << "\n" << critic << std::endl;

  auto images = torch::data::datasets::MNIST(args.data, torch::data::datasets::MNIST::Mode::kTest)
                    .map(torch::data::transforms::Normalize<>(0.5, 0.5))
                    .map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(
      std::move(images), torch::data::DataLoaderOptions().batch_size(kBatch).drop_last(true).workers(1));

  Game game(painter, critic);
  const auto play =
      run::training_step<std::tuple<Tensor, Tensor>(Tensor)>(args, [&](const Tensor& real) { return game.play(real); });
  int64_t step = 0;
  while (step < args.steps) {
    for (const auto& batch : *loader) {
      const auto [critic_loss, painter_loss] = play(batch.data.to(device));
      record.loss(critic_loss.item<float>(), "loss_critic");
      record.loss(painter_loss.item<float>(), "loss_painter");
      if (++step % 10 == 0) {
        std::printf("%4d  critic %.4f  painter %.4f\n", static_cast<int>(step), critic_loss.item<float>(),
                    painter_loss.item<float>());
      }
      if (step == args.steps) break;
    }
  }

  // A checkpoint, and samples from the net that was read back: they must be the same images.
  const std::string base = args.out.empty() ? std::string("dcgan") : args.out;
  game.save(base);
  Painter again(16);
  again->to(device);
  torch::load(again, base + ".painter.pt");
  torch::NoGradGuard no_grad;
  painter->eval();
  again->eval();
  const auto noise = torch::randn({8, kNoise, 1, 1}, torch::device(device));
  const auto samples = painter->forward(noise);
  if (!torch::equal(samples, again->forward(noise))) throw std::runtime_error("the checkpoint gave other samples");
  record.keep("samples", samples);
  record.weights("final", "painter", *painter);
  record.weights("final", "critic", *critic);
  record.write();
}
