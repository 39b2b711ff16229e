// Mistakes of a port, each in one place of a small program: the layer is named first, and its cause.
#include "programs.h"

namespace {

namespace nn = torch::nn;
using torch::Tensor;

struct Mistake {
  const char* name;
  const char* layer;  // named first, by its path or for functions its type
  const char* cause;  // of its first hint; "" where none is known
  Program program;
  Verdict verdict = Verdict::bug;
};
void PrintTo(const Mistake& mistake, std::ostream* stream) { *stream << mistake.name; }

const std::vector<Mistake> kMistakes = {
    {"swapped_keys", "a", "shifted_keys",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto a = net->add("a", nn::Linear(8, 8)), b = net->add("b", nn::Linear(8, 8));
       train_a_little(*net);
       if (wrong) {
         const Tensor kept = a->weight.detach().clone();
         put(a->weight, b->weight), put(b->weight, kept);
       }
       torch::relu(b(torch::relu(a(torch::randn({4, 8})))));
     }},
    {"forgotten_bias", "b", "missing_bias",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto a = net->add("a", nn::Linear(8, 8));
       const Tensor x = torch::randn({4, 8}), weight = torch::randn({8, 8}), bias = torch::randn({8});
       auto b = net->add("b", nn::Linear(nn::LinearOptions(8, 8).bias(!wrong)));
       put(b->weight, weight);
       if (!wrong) put(b->bias, bias);
       b(torch::relu(a(x)));
     }},
    {"dilation", "conv", "dilation",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       const int64_t d = wrong ? 1 : 2;
       auto conv = net->add("conv", nn::Conv2d(nn::Conv2dOptions(3, 4, 3).dilation(d).padding(2)));
       conv(torch::randn({2, 3, 8, 8})).sum();
     }},
    {"dilation_and_padding", "conv", "options",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       const int64_t d = wrong ? 1 : 2;  // the output has the right size
       auto conv = net->add("conv", nn::Conv2d(nn::Conv2dOptions(3, 4, 3).dilation(d).padding(d)));
       conv(torch::randn({2, 3, 8, 8})).sum();
     }},
    {"stride", "pool", "stride",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto pool = net->add("pool", nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(wrong ? 3 : 2)));
       pool(torch::randn({2, 3, 9, 9})).sum();
     }},
    {"ceil_mode", "pool", "ceil_mode",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto pool = net->add("pool", nn::MaxPool2d(nn::MaxPool2dOptions(2).ceil_mode(!wrong)));
       pool(torch::randn({2, 3, 9, 9})).sum();
     }},
    {"other_activation", "act", "type",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto fc = net->add("fc", nn::Linear(8, 8));
       const Tensor x = fc(torch::randn({4, 8}));
       if (wrong)
         net->add("act", nn::ELU())(x);
       else
         net->add("act", nn::GELU())(x);
     }},
    {"other_function", "silu", "type",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto fc = net->add("fc", nn::Linear(8, 8)), last = net->add("last", nn::Linear(8, 8));
       const Tensor x = fc(torch::randn({4, 8}));
       last(wrong ? torch::gelu(x) : torch::silu(x));
     }},
    {"reduction", "loss", "reduction",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto loss = net->add("loss", nn::MSELoss());
       if (wrong) loss->options.reduction(torch::kSum);
       loss(torch::randn({4, 8}), torch::randn({4, 8}));
     }},
    {"reduction_of_a_function", "cross_entropy_loss", "reduction",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto fc = net->add("fc", nn::Linear(8, 5));
       nn::functional::CrossEntropyFuncOptions options;
       if (wrong) options.reduction(torch::kSum);
       nn::functional::cross_entropy(fc(torch::randn({4, 8})), torch::tensor({0, 1, 4, 2}), options).backward();
     }},
    {"label_smoothing", "loss", "label_smoothing",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto loss =
           net->add("loss", nn::CrossEntropyLoss(nn::CrossEntropyLossOptions().label_smoothing(wrong ? 0.1 : 0)));
       loss(torch::randn({4, 8}), torch::tensor({0, 1, 4, 2}));
     }},
    {"bias_correction_of_batch_norm", "norm", "eps",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto norm = net->add("norm", nn::BatchNorm1d(nn::BatchNorm1dOptions(8).eps(wrong ? 1e-1 : 1e-5)));
       norm(torch::randn({4, 8}));
     }},
    {"layer_norm_dims", "norm", "normalized_shape",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       const std::vector<int64_t> shape = wrong ? std::vector<int64_t>{8} : std::vector<int64_t>{4, 8};
       auto norm = net->add("norm", nn::LayerNorm(nn::LayerNormOptions(shape)));
       norm(torch::randn({3, 4, 8}) * torch::tensor({1.0, 2.0, 3.0, 4.0}).view({4, 1}));
     }},
    {"layer_norm_dims_of_a_function", "layer_norm", "normalized_shape",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto fc = net->add("fc", nn::Linear(8, 8));
       const Tensor x = fc(torch::randn({3, 4, 8})) * torch::tensor({1.0, 2.0, 3.0, 4.0}).view({4, 1});
       const std::vector<int64_t> shape = wrong ? std::vector<int64_t>{8} : std::vector<int64_t>{4, 8};
       nn::functional::layer_norm(x, nn::functional::LayerNormFuncOptions(shape));
     }},
    {"groups", "conv", "groups",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto conv = net->add("conv", nn::Conv2d(nn::Conv2dOptions(4, 4, 3).groups(wrong ? 2 : 4)));
       train_a_little(*net);
       conv(torch::randn({2, 4, 8, 8})).sum();
     }},
    {"initial_state", "lstm", "initial_state",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto lstm = net->add("lstm", nn::LSTM(8, 6));
       const Tensor x = torch::randn({5, 2, 8}), zeros = torch::zeros({1, 2, 6});
       lstm->forward(x, std::make_tuple(wrong ? zeros + 1 : zeros, zeros));
     },
     Verdict::inherited},
    {"initial_state_not_given", "gru", "initial_state",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto gru = net->add("gru", nn::GRU(8, 6));
       const Tensor x = torch::randn({5, 2, 8}), state = torch::randn({1, 2, 6});
       if (wrong)
         gru->forward(x);
       else
         gru->forward(x, state);
     }},
    {"layer_in_bfloat16", "b", "half_precision",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto a = net->add("a", nn::Linear(8, 32)), b = net->add("b", nn::Linear(32, 32)),
            c = net->add("c", nn::Linear(32, 4));
       train_a_little(*net);
       if (wrong) b->to(torch::kBFloat16);
       Tensor x = torch::relu(a(torch::randn({4, 8}) * 3));
       x = b(wrong ? x.to(torch::kBFloat16) : x).to(torch::kFloat32);
       c(torch::relu(x) * 10);
     },
     Verdict::inherited},
    {"autocast_of_the_test", "a", "half_precision",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto a = net->add("a", nn::Linear(8, 32)), b = net->add("b", nn::Linear(32, 32));
       train_a_little(*net);
       const Tensor x = torch::randn({4, 8}) * 3;
       torch::AutocastGuard autocast(torch::kCPU, torch::kBFloat16, wrong);
       b(torch::relu(a(x)));
     },
     Verdict::rounding},
    {"dropout_mask", "drop", "dropout_mask",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto fc = net->add("fc", nn::Linear(8, 16));
       auto drop = net->add("drop", nn::Dropout(0.3));
       const Tensor x = torch::randn({4, 8});
       if (wrong) torch::manual_seed(99);
       drop(fc(x));
     }},
    {"missing_layer", "last", "missing_layer",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto fc = net->add("fc", nn::Linear(8, 8));
       auto norm = net->add("norm", nn::LayerNorm(nn::LayerNormOptions({8})));
       auto last = net->add("last", nn::Linear(8, 8));
       train_a_little(*net);
       const Tensor x = fc(torch::randn({4, 8}));
       last(wrong ? x : norm(x));
     },
     Verdict::inherited},
    {"missing_function", "last", "missing_activation",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto fc = net->add("fc", nn::Linear(8, 8)), last = net->add("last", nn::Linear(8, 8));
       const Tensor x = fc(torch::randn({4, 8}));
       last(wrong ? x : torch::relu(x));
     },
     Verdict::inherited},
    {"doubled_activation", "tanh", "doubled_activation",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto fc = net->add("fc", nn::Linear(8, 8)), last = net->add("last", nn::Linear(8, 8));
       const Tensor x = torch::tanh(fc(torch::randn({4, 8})));
       last(wrong ? torch::tanh(x) : x);
     },
     Verdict::inherited},
    {"rows_in_another_order", "fc", "permuted_input",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto fc = net->add("fc", nn::Linear(8, 8));
       const Tensor x = torch::randn({4, 8});
       fc(wrong ? x.index_select(0, torch::tensor({2, 0, 3, 1})) : x);
     },
     Verdict::inherited},
    {"heads_not_transposed", "last", "transposed_input",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto fc = net->add("fc", nn::Linear(8, 8)), last = net->add("last", nn::Linear(8, 8));
       const Tensor x = fc(torch::randn({2, 3, 8})).view({2, 3, 2, 4});
       last((wrong ? x : x.transpose(1, 2)).reshape({2, 3, 8}));
     },
     Verdict::inherited},
    {"calls_in_another_order", "a", "call_order",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto a = net->add("a", nn::Linear(8, 8)), b = net->add("b", nn::Linear(8, 8));
       train_a_little(*net);
       const Tensor x = torch::randn({4, 8});
       wrong ? a(torch::relu(b(x))) : b(torch::relu(a(x)));
     },
     Verdict::inherited},
    {"attention_scale", "attention", "num_heads",
     [](bool wrong) {
       auto net = std::make_shared<Parts>();
       auto attention = net->add("attention", nn::MultiheadAttention(8, wrong ? 4 : 2));
       train_a_little(*net);
       const Tensor x = torch::randn({5, 2, 8});
       attention(x, x, x);
     }},
};

class OneMistake : public testing::TestWithParam<Mistake> {};

TEST_P(OneMistake, IsNamedWithItsCause) {
  const Mistake& mistake = GetParam();
  const Report report = compare_programs(std::string("mistake_") + mistake.name, mistake.program);
  ASSERT_FALSE(report.agree());
  ASSERT_TRUE(report.first_forward.has_value()) << describe(report);
  const auto& layer = report.layers[static_cast<size_t>(*report.first_forward)];
  ASSERT_NE(layer.ref, nullptr) << describe(report);
  EXPECT_EQ(layer.ref->has_path ? layer.ref->path : layer.ref->type, mistake.layer) << describe(report);
  EXPECT_EQ(layer.verdict, mistake.verdict) << describe(report);
  EXPECT_EQ(layer.hints.empty() ? "" : layer.hints[0].cause, mistake.cause) << describe(report);
}
INSTANTIATE_TEST_SUITE_P(Explain, OneMistake, testing::ValuesIn(kMistakes),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(OneMistake, NothingIsNamedWithoutIt) {
  const Program& program = GetParam().program;
  const Report report = compare_programs(std::string("right_") + GetParam().name, [&](bool) { program(false); });
  EXPECT_TRUE(report.agree()) << describe(report);
  EXPECT_FALSE(report.first_forward.has_value());
  for (const auto& layer : report.layers) EXPECT_TRUE(layer.hints.empty()) << describe(report);
}

}  // namespace
