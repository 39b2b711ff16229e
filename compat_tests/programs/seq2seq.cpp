// Sequences of different lengths, packed: a bidirectional GRU reads them, an LSTM cell with attention writes them
// backwards. Parameter groups, padding that no loss counts, StepLR, and one archive with archives in it, from which a
// second model goes on as the first.
#include "run.h"

#include <sstream>

using torch::Tensor;
namespace rnn = torch::nn::utils::rnn;

constexpr int64_t kWords = 12, kWidth = 16, kBatch = 16, kLongest = 7;

struct ReverserImpl : torch::nn::Module {
  explicit ReverserImpl(double dropout)
      : words(torch::nn::EmbeddingOptions(kWords, kWidth).padding_idx(0)),
        encoder(
            torch::nn::GRUOptions(kWidth, kWidth).num_layers(2).bidirectional(true).batch_first(true).dropout(dropout)),
        cell(3 * kWidth, kWidth),
        start(2 * kWidth, kWidth),
        score(torch::nn::LinearOptions(3 * kWidth, 1).bias(false)),
        out(kWidth, kWords) {
    register_module("words", words);
    register_module("encoder", encoder);
    register_module("cell", cell);
    register_module("start", start);
    register_module("score", score);
    register_module("out", out);
  }

  // source (batch, time), target (batch, time + 1) that begins with a mark: logits (batch, time, words).
  Tensor forward(const Tensor& source, const Tensor& lengths, const Tensor& target) {
    auto packed = rnn::pack_padded_sequence(words(source), lengths, /*batch_first=*/true, /*enforce_sorted=*/false);
    auto [outputs, last] = encoder->forward_with_packed_input(packed);
    auto [memory, counts] = rnn::pad_packed_sequence(outputs, true, 0.0, source.size(1));
    auto padding = (torch::arange(source.size(1)).unsqueeze(0) >= counts.unsqueeze(1)).to(source.device());
    auto h = torch::tanh(start(torch::cat({last[-2], last[-1]}, 1)));
    auto c = torch::zeros_like(h);
    std::vector<Tensor> logits;
    for (int64_t t = 0; t + 1 < target.size(1); ++t) {
      auto beside = h.unsqueeze(1).expand({-1, memory.size(1), -1});
      auto weight = score(torch::cat({beside, memory}, -1)).squeeze(-1).masked_fill(padding, -1e4).softmax(-1);
      auto context = torch::bmm(weight.unsqueeze(1), memory).squeeze(1);
      std::tie(h, c) = cell(torch::cat({words(target.select(1, t)), context}, -1), std::make_tuple(h, c));
      logits.push_back(out(h));
    }
    return torch::stack(logits, 1);
  }

  torch::nn::Embedding words;
  torch::nn::GRU encoder;
  torch::nn::LSTMCell cell;
  torch::nn::Linear start, score, out;
};
TORCH_MODULE(Reverser);

struct Batch {
  Tensor source, lengths, target;
};

Batch make_batch() {
  std::vector<Tensor> sequences, backwards;
  auto lengths = torch::randint(2, kLongest + 1, {kBatch});
  for (int64_t i = 0; i < kBatch; ++i) {
    sequences.push_back(torch::randint(1, kWords, {lengths[i].item<int64_t>()}));
    backwards.push_back(torch::cat({torch::ones({1}, torch::kLong), sequences.back().flip(0)}));
  }
  return {rnn::pad_sequence(sequences, true, 0), lengths, rnn::pad_sequence(backwards, true, 0)};
}

std::vector<torch::optim::OptimizerParamGroup> groups_of(const Reverser& net) {
  std::vector<Tensor> others;
  for (const auto& p : net->named_parameters())
    if (p.key().rfind("words", 0) != 0) others.push_back(p.value());
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(net->words->parameters(),
                      std::make_unique<torch::optim::AdamOptions>(torch::optim::AdamOptions(3e-3)));
  groups.emplace_back(others);
  return groups;
}

using Update = std::function<Tensor(Tensor source, Tensor lengths, Tensor target)>;
Update update_of(Reverser& net, torch::optim::Adam& optimizer, const run::Args& args) {
  const auto update = [&](Tensor source, Tensor lengths, Tensor target) {
    optimizer.zero_grad();
    auto logits = net(source, lengths, target);
    torch::nn::CrossEntropyLoss criterion(torch::nn::CrossEntropyLossOptions().ignore_index(0).label_smoothing(0.02));
    auto loss = criterion(logits.reshape({-1, kWords}), target.slice(1, 1).reshape(-1));
    loss.backward();
    torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    optimizer.step();
    return loss;
  };
  return run::training_step<Tensor(Tensor, Tensor, Tensor)>(args, update);
}
double step(const Update& update, const Batch& batch, const torch::Device& device) {
  return update(batch.source.to(device), batch.lengths, batch.target.to(device)).item<double>();
}

int main(int argc, char** argv) {
  const auto args = run::parse(argc, argv);
  run::Record record("seq2seq", args);
  Reverser net(args.dropout_or(0.1));
  net->to(args.device());
  torch::optim::Adam optimizer(groups_of(net), torch::optim::AdamOptions(1e-2));
  torch::optim::StepLR schedule(optimizer, 20, 0.5);
  record.weights("initial", "net", *net);
  const auto trace = run::trace(args, *net);
  const Update update = update_of(net, optimizer, args);
  for (int64_t i = 0; i + 1 < args.steps; ++i) {
    record.loss(step(update, make_batch(), args.device()));
    schedule.step();
  }

  std::stringstream file;
  torch::serialize::OutputArchive all, model, moments;
  net->save(model);
  optimizer.save(moments);
  all.write("model", model);
  all.write("optimizer", moments);
  all.write("steps", c10::IValue(args.steps - 1));
  all.write("vocabulary", torch::arange(kWords), /*is_buffer=*/true);
  all.save_to(file);

  Reverser again(args.dropout_or(0.1));
  again->to(args.device());
  torch::optim::Adam its_own(groups_of(again), torch::optim::AdamOptions(1));
  torch::serialize::InputArchive read, its_model, its_moments;
  read.load_from(file);
  read.read("model", its_model);
  read.read("optimizer", its_moments);
  again->load(its_model);
  its_own.load(its_moments);
  c10::IValue steps;
  read.read("steps", steps);
  if (steps.toInt() != args.steps - 1) throw std::runtime_error("the archive says another number of steps");

  // Both go on with the same batch and the same masks of dropout.
  const Batch batch = make_batch();
  torch::manual_seed(args.seed + 1);
  const double loss = step(update, batch, args.device());
  torch::manual_seed(args.seed + 1);
  if (step(update_of(again, its_own, args), batch, args.device()) != loss)
    throw std::runtime_error("the model that was read went another way");
  record.loss(loss);
  record.weights("final", "net", *again);
  record.write();
}
