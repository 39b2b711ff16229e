// torch::save and torch::load: streams that are used again, and the memory that loaded tensors have.
#include "parity/case.h"

#include <sstream>

using torch::Tensor;
namespace nn = torch::nn;

namespace {

std::stringstream saved(const Tensor& t) {
  std::stringstream stream;
  torch::save(t, stream);
  return stream;
}

struct Tied : nn::Module {
  explicit Tied(bool shared) {
    const Tensor memory = torch::arange(6.0);
    a = register_parameter("a", shared ? memory.slice(0, 0, 4) : torch::zeros({4}));
    b = register_parameter("b", shared ? memory.slice(0, 2, 6) : torch::zeros({4}));
  }
  Tensor a, b;
};

}  // namespace

PARITY_CASE(checkpoints, one_stream_for_many_copies) {
  nn::Linear from(2, 2), to(2, 2);
  std::stringstream stream;
  for (int round = 0; round < 3; ++round) {
    c.scope(std::to_string(round), [&] {
      {
        torch::NoGradGuard guard;
        from->weight.fill_(round), from->bias.fill_(-round);
      }
      stream.seekp(0);
      torch::save(from, stream);
      torch::load(to, stream);
      c.out("weight", to->weight), c.out("bias", to->bias);
      c.value("good", stream.good());
    });
  }
  stream.str("");
  torch::save(torch::ones({2}), stream);
  Tensor t;
  torch::load(t, stream);
  c.out("other", t);
  stream << "tail";
  c.check(stream.str().substr(stream.str().size() - 4) == "tail", "what is written after a load is there");
}

PARITY_CASE(checkpoints, aliases_keep_their_values) {
  nn::Linear net(nn::LinearOptions(2, 1).bias(false));
  const Tensor old = net->weight.detach(), values = old.clone();
  nn::Linear other(nn::LinearOptions(2, 1).bias(false));
  torch::NoGradGuard guard;
  other->weight.fill_(4);
  std::stringstream stream;
  torch::save(other, stream);
  torch::load(net, stream);
  c.out("loaded", net->weight), c.out("old minus itself", old - values);
  c.value("is_leaf", net->weight.is_leaf()), c.value("requires_grad", net->weight.requires_grad());

  float memory[3] = {7, 8, 9};
  Tensor lent = torch::from_blob(memory, {3});
  auto three = saved(torch::tensor({1.f, 2.f, 3.f}));
  torch::load(lent, three);
  c.out("lent", lent), c.value("memory", memory[0]);

  const Tensor base = torch::zeros({2, 3});
  Tensor row = base[0], wide = torch::zeros({1}).expand({3});
  auto again = saved(torch::tensor({1.f, 2.f, 3.f}));
  torch::load(row, again);
  c.out("row", row), c.out("base", base);
  auto third = saved(torch::tensor({1.f, 2.f, 3.f}));
  torch::load(wide, third);
  c.layout("wide", wide);
  Tensor turned = torch::zeros({3, 2});
  auto columns = saved(torch::arange(6.0).view({2, 3}).t());
  torch::load(turned, columns);
  c.layout("turned", turned);
}

PARITY_CASE(checkpoints, shared_memory) {
  const auto tied = std::make_shared<Tied>(true), loose = std::make_shared<Tied>(false);
  std::stringstream stream;
  torch::save(tied, stream);
  auto target = loose;
  torch::load(target, stream);
  torch::NoGradGuard guard;
  loose->a.fill_(5);
  c.out("a", loose->a), c.out("b", loose->b);
}

PARITY_CASE(checkpoints, training_goes_on) {
  nn::Linear net(3, 1);
  {
    torch::NoGradGuard guard;
    net->weight.copy_(c.randn({1, 3})), net->bias.zero_();
  }
  torch::optim::Adam optimizer(net->parameters(), 0.1);
  const Tensor x = c.randn({4, 3});
  std::stringstream file, state;
  const auto step = [&] {
    optimizer.zero_grad();
    net(x).pow(2).mean().backward();
    optimizer.step();
  };
  step();
  torch::save(net, file), torch::save(optimizer, state);
  step();
  c.out("on", net->weight);
  torch::load(net, file), torch::load(optimizer, state);
  c.out("back", net->weight);
  step();
  c.out("again", net->weight), c.out("grad", net->weight.grad());
}

PARITY_CASE(checkpoints, missing_value) {
  torch::serialize::OutputArchive out;
  out.write("number", torch::IValue(3));
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  torch::IValue value;
  bool as_runtime_error = false;
  try {
    in.read("none", value);
  } catch (const std::runtime_error&) {
    as_runtime_error = true;
  }
  c.value("std::runtime_error", as_runtime_error);
}
