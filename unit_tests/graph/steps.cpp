#include "graph/steps.h"

namespace steps {

namespace {
struct LeNet : nn::Module {
  nn::Conv2d a{nullptr}, b{nullptr};
  nn::Linear c{nullptr}, d{nullptr};
  nn::Dropout drop{nullptr};
  LeNet() {
    a = register_module("a", nn::Conv2d(1, 6, 5));
    b = register_module("b", nn::Conv2d(6, 16, 5));
    c = register_module("c", nn::Linear(256, 84));
    d = register_module("d", nn::Linear(84, 10));
    drop = register_module("drop", nn::Dropout(0.3));
  }
  Tensor forward(Tensor x) {
    x = torch::max_pool2d(torch::relu(a(x)), 2);
    x = torch::max_pool2d(torch::relu(b(x)), 2);
    x = drop(torch::relu(c(x.flatten(1))));
    return torch::log_softmax(d(x), 1);
  }
};

struct Block : nn::Module {
  nn::Conv2d c1{nullptr}, c2{nullptr}, skip{nullptr};
  nn::BatchNorm2d n1{nullptr}, n2{nullptr};
  Block(int64_t in, int64_t out, int64_t stride) {
    c1 = register_module("c1", nn::Conv2d(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)));
    n1 = register_module("n1", nn::BatchNorm2d(out));
    c2 = register_module("c2", nn::Conv2d(nn::Conv2dOptions(out, out, 3).padding(1).bias(false)));
    n2 = register_module("n2", nn::BatchNorm2d(out));
    if (stride != 1 || in != out)
      skip = register_module("skip", nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)));
  }
  Tensor forward(Tensor x) {
    Tensor y = torch::relu(n1(c1(x)));
    y = n2(c2(y));
    return torch::relu(y + (skip ? skip(x) : x));
  }
};
struct ResNet : nn::Module {
  nn::Conv2d stem{nullptr};
  nn::BatchNorm2d norm{nullptr};
  std::shared_ptr<Block> a, b;
  nn::Linear head{nullptr};
  ResNet() {
    stem = register_module("stem", nn::Conv2d(nn::Conv2dOptions(3, 16, 3).padding(1).bias(false)));
    norm = register_module("norm", nn::BatchNorm2d(16));
    a = register_module("a", std::make_shared<Block>(16, 16, 1));
    b = register_module("b", std::make_shared<Block>(16, 32, 2));
    head = register_module("head", nn::Linear(32, 10));
  }
  Tensor forward(Tensor x) {
    x = b->forward(a->forward(torch::relu(norm(stem(x)))));
    return head(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }
};

struct Layer : nn::Module {
  nn::LayerNorm n1{nullptr}, n2{nullptr};
  nn::Linear qkv{nullptr}, out{nullptr}, up{nullptr}, down{nullptr};
  nn::Dropout drop{nullptr};
  int64_t heads;
  Layer(int64_t width, int64_t heads) : heads(heads) {
    n1 = register_module("n1", nn::LayerNorm(nn::LayerNormOptions({width})));
    n2 = register_module("n2", nn::LayerNorm(nn::LayerNormOptions({width})));
    qkv = register_module("qkv", nn::Linear(width, 3 * width));
    out = register_module("out", nn::Linear(width, width));
    up = register_module("up", nn::Linear(width, 4 * width));
    down = register_module("down", nn::Linear(4 * width, width));
    drop = register_module("drop", nn::Dropout(0.1));
  }
  Tensor forward(Tensor x) {
    const int64_t n = x.size(0), t = x.size(1), w = x.size(2);
    auto parts = qkv(n1(x)).view({n, t, 3, heads, w / heads}).permute({2, 0, 3, 1, 4}).unbind(0);
    Tensor y = torch::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, true);
    x = x + drop(out(y.transpose(1, 2).reshape({n, t, w})));
    return x + drop(down(torch::gelu(up(n2(x)))));
  }
};
struct Gpt : nn::Module {
  nn::Embedding tokens{nullptr}, places{nullptr};
  std::shared_ptr<Layer> a, b;
  nn::LayerNorm norm{nullptr};
  nn::Linear head{nullptr};
  Gpt() {
    tokens = register_module("tokens", nn::Embedding(50, 32));
    places = register_module("places", nn::Embedding(16, 32));
    a = register_module("a", std::make_shared<Layer>(32, 4));
    b = register_module("b", std::make_shared<Layer>(32, 4));
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({32})));
    head = register_module("head", nn::Linear(32, 50));
  }
  Tensor forward(Tensor x) {
    Tensor h = tokens(x) + places(torch::arange(x.size(1), torch::kLong));
    return head(norm(b->forward(a->forward(h))));
  }
};

struct Cells : nn::Module {
  nn::Linear gates{nullptr}, head{nullptr};
  Cells() {
    gates = register_module("gates", nn::Linear(8 + 16, 64));
    head = register_module("head", nn::Linear(16, 4));
  }
  Tensor forward(Tensor x) {
    Tensor h = torch::zeros({x.size(1), 16}), c = torch::zeros({x.size(1), 16});
    for (int64_t t = 0; t < x.size(0); ++t) {
      auto g = gates(torch::cat({x[t], h}, 1)).chunk(4, 1);
      c = torch::sigmoid(g[0]) * c + torch::sigmoid(g[1]) * torch::tanh(g[2]);
      h = torch::sigmoid(g[3]) * torch::tanh(c);
    }
    return head(h);
  }
};

Tensor cross_entropy(Tensor out, Tensor target) { return torch::cross_entropy_loss(out.to(torch::kFloat), target); }
auto images(int64_t channels, int64_t size) {
  return [=] { return std::make_pair(torch::randn({4, channels, size, size}), torch::randint(10, {4}, torch::kLong)); };
}
template <class Net>
World world(std::shared_ptr<Net> net) {
  World w;
  w.net = net;
  w.forward = [n = net.get()](Tensor x) { return n->forward(std::move(x)); };
  w.loss = cross_entropy;
  return w;
}
}  // namespace

World mlp() {
  struct Mlp : nn::Module {
    nn::Sequential layers{nn::Linear(8, 32), nn::Tanh(), nn::Linear(32, 32), nn::GELU(), nn::Linear(32, 4)};
    Mlp() { register_module("layers", layers); }
    Tensor forward(Tensor x) { return layers->forward(x); }
  };
  World w = world(std::make_shared<Mlp>());
  w.loss = [](Tensor out, Tensor target) { return torch::mse_loss(out.to(torch::kFloat), target); };
  w.batch = [] { return std::make_pair(torch::randn({16, 8}), torch::randn({16, 4})); };
  return w;
}
World lenet() {
  World w = world(std::make_shared<LeNet>());
  w.loss = [](Tensor out, Tensor target) { return torch::nll_loss(out.to(torch::kFloat), target); };
  w.batch = images(1, 28);
  return w;
}
World resnet() {
  World w = world(std::make_shared<ResNet>());
  w.batch = images(3, 16);
  return w;
}
World gpt() {
  World w = world(std::make_shared<Gpt>());
  w.loss = [](Tensor out, Tensor target) { return cross_entropy(out.flatten(0, 1), target.flatten()); };
  w.batch = [] {
    return std::make_pair(torch::randint(50, {2, 16}, torch::kLong), torch::randint(50, {2, 16}, torch::kLong));
  };
  return w;
}
World lstm() {
  World w = world(std::make_shared<Cells>());
  w.batch = [] { return std::make_pair(torch::randn({64, 3, 8}), torch::randint(4, {3}, torch::kLong)); };
  return w;
}

}  // namespace steps
