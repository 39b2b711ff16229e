// Results that are views of what the step computed: each replay makes them in its own memory.
#include "graph/steps.h"

using namespace steps;

namespace {

using Results = std::vector<Tensor>;

struct Nets {
  nn::Linear linear{8, 8};
  nn::GRU gru{nn::GRUOptions(8, 16)};
  nn::LSTM lstm{nn::LSTMOptions(8, 16).batch_first(true)};
};

/// What calls return, the results of all of them held, and some changed in place.
std::vector<Tensor> called(const std::function<Results(Nets&, Tensor)>& f, bool captured) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(3);
  Nets nets;
  const auto step = [&](Tensor x) { return f(nets, x); };
  auto compiled = hb::graph::compile(step);
  std::vector<Tensor> held, seen;
  for (int i = 0; i < 9; ++i) {
    const Tensor x = torch::randn({4, 8});
    for (const Tensor& t : captured ? compiled(x) : step(x)) {
      if (i % 2) t.mul_(2);
      if (i % 3) held.push_back(t);
      seen.push_back(t.clone());
    }
  }
  for (const Tensor& t : held) seen.push_back(t.clone());
  if (captured) {
    EXPECT_EQ(compiled.counts().replayed, 6) << compiled.counts().reason;
  }
  return seen;
}

}  // namespace

TEST(GraphResults, MayBeViewsOfValues) {
  const std::pair<const char*, std::function<Results(Nets&, Tensor)>> cases[] = {
      {"transposed", [](Nets&, Tensor x) { return Results{(x * 2).t()}; }},
      {"a row", [](Nets&, Tensor x) { return Results{(x * 2)[1]}; }},
      {"a view of a view", [](Nets&, Tensor x) { return Results{(x * 2).slice(1, 2, 6).t()[1]}; }},
      {"two that share memory",
       [](Nets&, Tensor x) {
         Tensor y = x * 2;
         return Results{y[0], y.slice(0, 0, 2)};
       }},
      {"a value and its view",
       [](Nets&, Tensor x) {
         Tensor y = x * 2;
         return Results{y, y.t()};
       }},
      {"the same view twice",
       [](Nets&, Tensor x) {
         Tensor y = (x * 2).t();
         return Results{y, y};
       }},
      {"parts", [](Nets& n, Tensor x) { return n.linear(x).chunk(2, 1); }},
      {"rows", [](Nets& n, Tensor x) { return n.linear(x).unbind(0); }},
      {"a recurrent layer's",
       [](Nets& n, Tensor x) {
         const auto [y, h] = n.gru(x.unsqueeze(1));
         return Results{y, h};
       }},
      {"another one's", [](Nets& n, Tensor x) { return Results{std::get<0>(n.lstm(x.unsqueeze(0)))}; }}};
  for (const auto& [name, f] : cases) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(same_state(called(f, false), called(f, true)));
  }
}

TEST(GraphResults, AnotherViewInAVariableIsAnError) {
  const torch::NoGradGuard no_grad;
  Tensor kept;
  auto step = hb::graph::compile([&](Tensor x) {
    const Tensor y = x * 2;
    kept = y[1];
    return y[0];
  });
  std::string text;
  for (int i = 0; i < 6 && text.empty(); ++i) try {
      step(torch::randn({4, 8}));
    } catch (const c10::Error& e) {
      text = e.what();
    }
  EXPECT_NE(text.find("kept in another place"), std::string::npos) << text;
}
