// How LibTorch runs code: kept for programs that set it, without effect.
#include <utility>

#include <halfbridge/bridge/jit.h>

namespace hb::bridge::jit {

namespace {

FusionStrategy& fusion_strategy() {
  static FusionStrategy strategy{{FusionBehavior::STATIC, 2}, {FusionBehavior::DYNAMIC, 10}};
  return strategy;
}
bool optimize = true;

}  // namespace

FusionStrategy getFusionStrategy() { return fusion_strategy(); }
FusionStrategy setFusionStrategy(FusionStrategy& strategy) { return std::exchange(fusion_strategy(), strategy); }
void setGraphExecutorOptimize(bool on) { optimize = on; }
bool getGraphExecutorOptimize() { return optimize; }
std::atomic<size_t>& getNumProfiledRuns() {
  static std::atomic<size_t> runs{1};
  return runs;
}
size_t getBailoutDepth() { return fusion_strategy().empty() ? 0 : fusion_strategy()[0].second; }
namespace {
bool tensor_expressions = true;
}
void setTensorExprFuserEnabled(bool on) { tensor_expressions = on; }
bool tensorExprFuserEnabled() { return tensor_expressions; }
bool& getProfilingMode() {
  static bool on = true;
  return on;
}
bool& getExecutorMode() {
  static bool on = true;
  return on;
}
bool& getInlineEverythingMode() {
  static bool on = false;
  return on;
}

}  // namespace hb::bridge::jit
