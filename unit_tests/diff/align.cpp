// Which calls are taken for each other, and what is said of those that have no counterpart.
#include <halfbridge/diff/output.h>

#include "diff/diff_traces.h"

namespace {

using namespace diff_test;
using hb::Tensor;
using hb::layer_diff::Match;
using Rows = std::vector<std::string>;

const std::vector<int64_t> kImage = {2, 3, 4, 4};

// A chain of layers, each with values of its own. `types` and `paths` side by side.
TraceBuilder chain(const std::vector<std::pair<std::string, std::string>>& layers) {
  TraceBuilder trace;
  for (const auto& [type, path] : layers) trace.call(type, path, filled(kImage, 1), filled(kImage, 2));
  return trace;
}

TEST(DiffAlign, ByPath) {
  const auto report = compared(chain({{"Conv2d", "a"}, {"ReLU", "b"}}), chain({{"Conv2d", "a"}, {"ReLU", "b"}}));
  EXPECT_EQ(rows(report), (Rows{"path a a", "path b b"}));
  EXPECT_TRUE(report.agree());
  EXPECT_EQ(report.compared, 4);
}

TEST(DiffAlign, OrderOfBranchesDoesNotMatter) {
  const auto report = compared(chain({{"Conv2d", "a"}, {"ReLU", "b"}}), chain({{"ReLU", "b"}, {"Conv2d", "a"}}));
  EXPECT_EQ(rows(report), (Rows{"path a a", "path b b"}));
}

TEST(DiffAlign, InsertedLayerShiftsIndices) {
  const auto report = compared(chain({{"Conv2d", "0"}, {"ReLU", "1"}, {"Conv2d", "2"}}),
                               chain({{"Conv2d", "0"}, {"Dropout", "1"}, {"ReLU", "2"}, {"Conv2d", "3"}}));
  EXPECT_EQ(rows(report), (Rows{"path 0 0", "only_test - 1", "order 1 2", "order 2 3"}));
  EXPECT_TRUE(report.agree());
  EXPECT_EQ(report.only_test, 1);
  EXPECT_EQ(report.only_ref, 0);
}

TEST(DiffAlign, RenamedByTypeAndStates) {
  TraceBuilder ref, test;
  for (auto* side : {&ref, &test}) {
    const bool is_ref = side == &ref;
    for (const auto& [path, size] : {std::pair(is_ref ? "x" : "p", 3), {is_ref ? "y" : "q", 5}}) {
      side->state("parameter", path, "weight", filled({size, 4}, size));
      side->call("Linear", path, filled({2, 4}, 1), filled({2, size}, size));
    }
  }
  const auto report = compared(ref, test);
  EXPECT_EQ(rows(report), (Rows{"order x p", "order y q"}));
  ASSERT_EQ(report.state.size(), 2u);  // states follow their modules
  EXPECT_TRUE(report.state[0].tensor.compared);
  EXPECT_TRUE(report.agree());
  EXPECT_NE(text_report(report).find("Renamed (2): x -> p, y -> q"), std::string::npos) << text_report(report);
}

TEST(DiffAlign, MapsOfPaths) {
  hb::layer_diff::CompareOptions options;
  options.maps = {hb::layer_diff::parse_path_map("enc=body.encoder"),
                  hb::layer_diff::parse_path_map("/h\\.(\\d+)\\.(.*)/=layers.$1.$2")};
  const auto report =
      compared(chain({{"Conv2d", "enc.a"}, {"ReLU", "h.0.act"}, {"ReLU", "other"}}),
               chain({{"ReLU", "other"}, {"ReLU", "layers.0.act"}, {"Conv2d", "body.encoder.a"}}), options);
  EXPECT_EQ(rows(report), (Rows{"map enc.a body.encoder.a", "map h.0.act layers.0.act", "path other other"}));
  EXPECT_THROW(hb::layer_diff::parse_path_map("no equals sign"), hb::Error);
  EXPECT_THROW(hb::layer_diff::parse_path_map("/(/=x"), hb::Error);
}

TEST(DiffAlign, PrefixesAreWholeParts) {
  hb::layer_diff::CompareOptions options;
  options.maps = {hb::layer_diff::parse_path_map("en=x")};
  EXPECT_EQ(rows(compared(chain({{"ReLU", "encoder"}}), chain({{"ReLU", "encoder"}}), options)),
            (Rows{"path encoder encoder"}));
  options.maps = {hb::layer_diff::parse_path_map("=module")};
  EXPECT_EQ(rows(compared(chain({{"ReLU", "a"}}), chain({{"ReLU", "module.a"}}), options)), (Rows{"map a module.a"}));
}

TEST(DiffAlign, OrderOfFunctionsAgainstModules) {
  const auto report = compared(chain({{"conv2d", ""}, {"batch_norm", ""}, {"relu_", ""}, {"aten::max_pool2d", ""}}),
                               chain({{"Conv2d", "c"}, {"BatchNorm2d", "n"}, {"ReLU", "r"}, {"MaxPool2d", "m"}}));
  EXPECT_EQ(rows(report), (Rows{"order conv2d c", "order batch_norm n", "order relu_ r", "order aten::max_pool2d m"}));
}

TEST(DiffAlign, WeightsAmongTheInputsOfAFunction) {
  TraceBuilder ref, test;
  const int64_t id = ref.call("addmm", "", filled({5}, 9), filled({2, 5}, 2));
  ref.tensor_of(id, "input", "addmm", "", filled({2, 4}, 1), 1);
  ref.tensor_of(id, "input", "addmm", "", filled({4, 5}, 3), 2);
  test.call("Linear", "fc", filled({2, 4}, 1), filled({2, 5}, 2));
  const auto report = compared(ref, test);
  EXPECT_EQ(rows(report), (Rows{"order addmm fc"}));
  ASSERT_EQ(report.layers[0].forward.size(), 2u);
  EXPECT_EQ(report.layers[0].forward[0].ref->index, 1);
  EXPECT_TRUE(report.agree());
}

TEST(DiffAlign, FusedByTheTableOfCompositions) {
  TraceBuilder ref, test;
  ref.call("Linear", "fc", filled({2, 4}, 1), filled({2, 5}, 2));
  ref.call("ReLU", "act", filled({2, 5}, 2), filled({2, 5}, 3));
  test.call("matmul", "", filled({2, 4}, 1), filled({2, 5}, 8));
  test.call("add", "", filled({2, 5}, 8), filled({2, 5}, 2));
  test.call("relu", "", filled({2, 5}, 2), filled({2, 5}, 3));
  const auto report = compared(ref, test);
  EXPECT_EQ(rows(report), (Rows{"fused fc add+matmul", "order act relu"}));
  EXPECT_FALSE(report.layers[0].fused_in_ref);
  EXPECT_TRUE(report.agree());
}

TEST(DiffAlign, FoldedLayerIsFoundByItsValues) {
  TraceBuilder ref, test;
  ref.call("Conv2d", "conv", filled(kImage, 1), filled(kImage, 2));
  ref.call("BatchNorm2d", "bn", filled(kImage, 2), filled(kImage, 3));
  ref.call("ReLU", "relu", filled(kImage, 3), filled(kImage, 4));
  test.call("Conv2d", "conv", filled(kImage, 1), filled(kImage, 3));
  test.call("ReLU", "relu", filled(kImage, 3), filled(kImage, 4));
  const auto report = compared(ref, test);
  EXPECT_EQ(rows(report), (Rows{"fused bn conv+conv", "path relu relu"}));
  EXPECT_TRUE(report.layers[0].fused_in_ref);
  EXPECT_TRUE(report.agree()) << text_report(report);
}

TEST(DiffAlign, WrongLayerAtOnePathIsThatLayer) {
  TraceBuilder ref = chain({{"Conv2d", "c"}}), test = chain({{"Conv2d", "c"}});
  ref.call("ReLU", "act", filled(kImage, 2), filled(kImage, 3));
  test.call("GELU", "act", filled(kImage, 2), filled(kImage, 4));
  const auto report = compared(ref, test);
  EXPECT_EQ(rows(report), (Rows{"path c c", "path act act"}));
  EXPECT_EQ(report.first_forward, std::optional<int>(1));
}

TEST(DiffAlign, SharedModuleIsAlignedByOccurrence) {
  TraceBuilder ref, test;
  for (int i = 0; i < 3; ++i) ref.call("Linear", "cell", filled({2, 4}, i), filled({2, 4}, i + 10));
  for (int i = 0; i < 3; ++i) test.call("Linear", "cell", filled({2, 4}, i), filled({2, 4}, i == 1 ? 77 : i + 10));
  const auto report = compared(ref, test);
  EXPECT_EQ(rows(report), (Rows{"path cell cell", "path cell cell", "path cell cell"}));
  EXPECT_EQ(report.first_forward, std::optional<int>(1));
}

TEST(DiffAlign, TwoNetworksWhoseClassesHaveOtherNames) {
  const auto trace = [](const std::string& generator, const std::string& discriminator) {
    TraceBuilder trace;
    trace.root = generator;
    trace.call("Linear", "up", filled({2, 4}, 1), filled({2, 4}, 2));
    trace.root = discriminator;
    trace.call("Linear", "down", filled({2, 4}, 3), filled({2, 4}, 4));
    return trace;
  };
  const auto report = compared(trace("G", "D"), trace("DCGANGenerator", "Critic"));
  EXPECT_EQ(rows(report), (Rows{"path up up", "path down down"}));
}

TEST(DiffAlign, ContainersOfOneSideAreNoFailure) {
  TraceBuilder ref = chain({{"Conv2d", "a"}}), test;
  const int64_t block = test.call("Sequential", "block", filled(kImage, 1), filled(kImage, 2));
  test.call("Conv2d", "block.a", filled(kImage, 1), filled(kImage, 2), block);
  const auto report = compared(ref, test);
  EXPECT_TRUE(report.agree());
  EXPECT_EQ(report.only_test, 0);
  EXPECT_EQ(report.only_ref, 0);
}

TEST(DiffAlign, FunctionsWithinALayerThatIsOneCallOnTheOtherSide) {
  TraceBuilder ref = chain({{"Conv2d", "a"}, {"ReLU", "b"}}), test;
  const int64_t conv = test.call("Conv2d", "a", filled(kImage, 1), filled(kImage, 2));
  test.call("convolution", "", filled(kImage, 1), filled(kImage, 2), conv);
  test.call("ReLU", "b", filled(kImage, 1), filled(kImage, 2));
  const auto report = compared(ref, test);
  EXPECT_EQ(rows(report), (Rows{"path a a", "path b b"}));
}

TEST(DiffAlign, StepsOfOneSideAreNamed) {
  TraceBuilder ref = chain({{"ReLU", "a"}}), test = chain({{"ReLU", "a"}});
  ref.step = 5;
  ref.call("ReLU", "a", filled(kImage, 1), filled(kImage, 2));
  const auto report = compared(ref, test);
  EXPECT_EQ(report.layers.size(), 1u);
  EXPECT_NE(text_report(report).find("only the reference recorded step 5"), std::string::npos);
}

TEST(DiffAlign, LongTracesWithoutPaths) {
  std::vector<std::pair<std::string, std::string>> layers;
  for (int i = 0; i < 3000; ++i) layers.emplace_back(i % 2 ? "relu" : "conv2d", "");
  TraceBuilder ref, test;
  const Tensor one = filled({1}, 1);
  for (const auto& [type, path] : layers) ref.call(type, path, one, one);
  layers.insert(layers.begin() + 1500, {"tanh", ""});
  for (const auto& [type, path] : layers) test.call(type, path, one, one);
  const auto report = compared(ref, test);
  EXPECT_EQ(report.only_ref, 0);
  EXPECT_EQ(report.only_test, 1);
}

}  // namespace
