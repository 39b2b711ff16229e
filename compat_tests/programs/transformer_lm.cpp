// A small causal Transformer language model over the characters of a text: embeddings, pre-norm blocks with
// scaled_dot_product_attention, GELU, AdamW in two parameter groups, gradient clipping, a cosine schedule,
// optional weight tying (--tie 1), and greedy writing at the end.
#include "run.h"

#include <cmath>
#include <set>

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::indexing::None;
using torch::indexing::Slice;

static const char* const kText =
    "The miller kept a ledger of the river. In spring he wrote how high it stood against the third stone of "
    "the "
    "weir, and in summer how many hours the wheel could turn before the pond ran low. His daughter read the "
    "ledger "
    "in the evenings and found that the numbers breathed: they rose and fell, and rose again, never twice "
    "the same "
    "and never far from where they had been a year before. She drew them as a line upon the back of a flour "
    "sack. "
    "When the line climbed she baked more bread, and when it fell she mended the sluice. The village thought "
    "her "
    "lucky. She said that luck was only the name people gave to a ledger they had not read. One winter the "
    "river "
    "froze and the line lay flat for forty days. The miller wanted to leave the page empty, but she wrote a "
    "zero "
    "for each of them, because a day on which nothing moves is still a day, and the river would want it "
    "counted. "
    "In the thaw the water came over the third stone, and the fourth, and the wheel turned through the night "
    "without a hand upon it. In the morning there was flour on every step, and the ledger was dry on the "
    "shelf "
    "where she had put it, above the highest line that she had ever drawn. ";

struct Config {
  int64_t vocabulary = 0, width = 64, layers = 2, heads = 4, length = 48, batch = 8;
  double dropout = 0.1;
  bool tie = false;
};

class AttentionImpl : public nn::Module {
 public:
  explicit AttentionImpl(const Config& c)
      : heads_(c.heads), dropout_(c.dropout), qkv(nn::LinearOptions(c.width, 3 * c.width)), out(c.width, c.width) {
    register_module("qkv", qkv);
    register_module("out", out);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto B = x.size(0), T = x.size(1), C = x.size(2);
    auto parts = qkv->forward(x).chunk(3, /*dim=*/-1);
    auto split = [&](const torch::Tensor& t) { return t.view({B, T, heads_, C / heads_}).transpose(1, 2); };
    auto y = torch::scaled_dot_product_attention(split(parts[0]), split(parts[1]), split(parts[2]), {},
                                                 is_training() ? dropout_ : 0.0, /*is_causal=*/true);
    return out->forward(y.transpose(1, 2).contiguous().view({B, T, C}));
  }

 private:
  int64_t heads_;
  double dropout_;
  nn::Linear qkv, out;
};
TORCH_MODULE(Attention);

struct BlockImpl : nn::Module {
  explicit BlockImpl(const Config& c) {
    ln1 = register_module("ln1", nn::LayerNorm(nn::LayerNormOptions({c.width})));
    attention = register_module("attention", Attention(c));
    ln2 = register_module("ln2", nn::LayerNorm(nn::LayerNormOptions({c.width}).eps(1e-5)));
    mlp = register_module("mlp", nn::Sequential({{"up", nn::Linear(c.width, 4 * c.width).ptr()},
                                                 {"gelu", nn::GELU().ptr()},
                                                 {"down", nn::Linear(4 * c.width, c.width).ptr()},
                                                 {"drop", nn::Dropout(c.dropout).ptr()}}));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = x + attention(ln1(x));
    return x + mlp->forward(ln2(x));
  }

  nn::LayerNorm ln1{nullptr}, ln2{nullptr};
  Attention attention{nullptr};
  nn::Sequential mlp{nullptr};
};
TORCH_MODULE(Block);

struct LanguageModelImpl : nn::Module {
  explicit LanguageModelImpl(const Config& c)
      : config(c),
        tokens(c.vocabulary, c.width),
        places(nn::EmbeddingOptions(c.length, c.width)),
        norm(nn::LayerNormOptions(std::vector<int64_t>{c.width})),
        head(nn::LinearOptions(c.width, c.vocabulary).bias(false)) {
    register_module("tokens", tokens);
    register_module("places", places);
    for (int64_t i = 0; i < c.layers; ++i) blocks->push_back(Block(c));
    register_module("blocks", blocks);
    register_module("norm", norm);
    register_module("head", head);
    if (c.tie) head->weight = tokens->weight;
    torch::NoGradGuard no_grad;
    for (auto& p : named_parameters()) {
      if (p.value().dim() == 2) nn::init::normal_(p.value(), 0.0, 0.05);
    }
  }

  torch::Tensor forward(const torch::Tensor& ids) {
    auto at = torch::arange(ids.size(1), torch::TensorOptions().dtype(torch::kLong).device(ids.device()));
    auto x = tokens(ids) + places(at).unsqueeze(0);
    for (const auto& block : *blocks) x = block->as<Block>()->forward(x);
    x = norm(x);
    return config.tie ? torch::matmul(x, tokens->weight.t()) : head(x);
  }

  Config config;
  nn::Embedding tokens, places;
  nn::ModuleList blocks;
  nn::LayerNorm norm;
  nn::Linear head;
};
TORCH_MODULE(LanguageModel);

// Decay for matrices only, as is usual.
torch::optim::AdamW make_optimizer(LanguageModel& model) {
  std::vector<torch::Tensor> decayed, plain;
  for (const auto& p : model->named_parameters()) (p.value().dim() >= 2 ? decayed : plain).push_back(p.value());
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(decayed, std::make_unique<torch::optim::AdamWOptions>(
                                   torch::optim::AdamWOptions(3e-3).betas({0.9, 0.95}).weight_decay(0.1)));
  groups.emplace_back(plain, std::make_unique<torch::optim::AdamWOptions>(
                                 torch::optim::AdamWOptions(3e-3).betas({0.9, 0.95}).weight_decay(0.0)));
  return torch::optim::AdamW(std::move(groups), torch::optim::AdamWOptions(3e-3));
}

int main(int argc, char** argv) {
  const auto args = run::parse(argc, argv);
  run::Record record("transformer_lm", args);
  const std::string text = kText;
  const std::set<char> seen(text.begin(), text.end());
  const std::string alphabet(seen.begin(), seen.end());
  std::vector<int64_t> ids;
  for (char c : text) ids.push_back(static_cast<int64_t>(alphabet.find(c)));
  const auto data = torch::tensor(ids, torch::dtype(torch::kInt64)).to(args.device());

  Config config;
  config.vocabulary = static_cast<int64_t>(alphabet.size());
  config.dropout = args.dropout_or(0.1);
  config.tie = args.get("tie", "0") == "1";
  LanguageModel model(config);
  model->to(args.device());
  record.weights("initial", "model", *model);
  const auto trace = run::trace(args, *model);
  auto optimizer = make_optimizer(model);

  model->train();
  double norm = 0;
  const auto update = run::training_step<torch::Tensor(torch::Tensor, torch::Tensor)>(
      args,
      [&](torch::Tensor x, torch::Tensor y) {
        const auto logits = model(x);
        const auto loss = F::cross_entropy(logits.view({-1, config.vocabulary}), y.view(-1),
                                           F::CrossEntropyFuncOptions().label_smoothing(0.02));
        optimizer.zero_grad(/*set_to_none=*/true);
        loss.backward();
        norm = nn::utils::clip_grad_norm_(model->parameters(), 1.0);
        optimizer.step();
        return loss;
      },
      {&norm});
  const double pi = 3.141592653589793;
  for (int64_t step = 0; step < args.steps; ++step) {
    const double lr = 3e-3 * 0.5 * (1.0 + std::cos(pi * static_cast<double>(step) / static_cast<double>(args.steps)));
    for (auto& group : optimizer.param_groups()) group.options().set_lr(lr);
    const auto starts = torch::randint(data.size(0) - config.length - 1, {config.batch}, torch::kLong);
    std::vector<torch::Tensor> xs, ys;
    for (int64_t b = 0; b < config.batch; ++b) {
      const auto at = starts[b].item<int64_t>();
      xs.push_back(data.index({Slice(at, at + config.length)}));
      ys.push_back(data.slice(0, at + 1, at + 1 + config.length));
    }
    const auto loss = update(torch::stack(xs), torch::stack(ys));
    record.loss(loss.item<float>());
    record.loss(norm, "grad_norm");
    if (step % 10 == 0) std::cout << "step " << step << " loss " << loss.item<float>() << " |g| " << norm << "\n";
  }

  model->eval();
  torch::NoGradGuard guard;
  auto written = data.index({Slice(None, 16)}).unsqueeze(0);
  while (written.size(1) < config.length) {
    auto next = model(written).index({Slice(), -1}).argmax(-1, /*keepdim=*/true);
    written = torch::cat({written, next}, 1);
  }
  std::string line;
  written = written.cpu();
  const auto letters = written.accessor<int64_t, 2>();
  for (int64_t i = 0; i < letters.size(1); ++i) line += alphabet[static_cast<size_t>(letters[0][i])];
  std::cout << line << std::endl;
  record.weights("final", "model", *model);
  record.write();
}
