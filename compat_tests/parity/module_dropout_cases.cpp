#include "parity/modules.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;

PARITY_CASE(module_dropout, edges) {
  auto run = [&](const char* name, auto m) {
    c.scope(name, [&] {
      c.text("text", parity::text_of(m));
      auto x = c.leaf({2, 3, 4, 5});
      m->eval();
      c.gradients("eval", {x}, [&] { return m->forward(x); });
    });
  };
  run("Dropout", nn::Dropout(0.3));
  run("Dropout_options", nn::Dropout(nn::DropoutOptions().p(0.4).inplace(false)));
  run("Dropout2d", nn::Dropout2d(0.3));
  run("Dropout3d", nn::Dropout3d());
  run("AlphaDropout", nn::AlphaDropout(0.1));
  run("FeatureAlphaDropout", nn::FeatureAlphaDropout());
  auto x = c.randn({3, 4});
  c.out("p_zero", nn::Dropout(0.0)->forward(x));
  c.out("p_one", nn::Dropout(1.0)->forward(x));
  c.out("functional_off", F::dropout(x, F::DropoutFuncOptions().p(0.5).training(false)));
  c.throws("bad_p", [&] { nn::Dropout(1.5); });
  c.throws("bad_p_functional", [&] { F::dropout(x, F::DropoutFuncOptions().p(-0.1)); });
}

PARITY_CASE(module_dropout, what_is_kept) {
  // Which values survive may differ; how many do, and their size, may not.
  auto y = nn::Dropout(0.25)->forward(torch::ones({100, 100}));
  c.check(((y == 0) | ((y - 1.0 / 0.75).abs() < 1e-6)).all().item<bool>(), "values are 0 or 1 / (1 - p)");
  double kept = (y != 0).to(torch::kFloat).mean().item<double>();
  c.check(kept > 0.72 && kept < 0.78, "about 1 - p of the values survive");
  auto z = nn::Dropout2d(0.5)->forward(torch::ones({20, 30, 4, 4}));
  auto per_channel = (z != 0).to(torch::kFloat).mean({2, 3});
  c.check(((per_channel == 0) | (per_channel == 1)).all().item<bool>(), "channels survive or not as a whole");
}
