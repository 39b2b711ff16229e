// at::globalContext(): its settings, what attention makes of them, and what a build without devices has not.
#include <ATen/Context.h>
#include <algorithm>

#include "parity/case.h"

namespace {
/// Puts the ways of computing attention back.
struct Restore {
  ~Restore() {
    at::globalContext().setSDPUseFlash(true);
    at::globalContext().setSDPUseMath(true);
  }
};
}  // namespace

PARITY_CASE(context, ways_of_attention) {
  auto& context = at::globalContext();
  c.value("flash", context.userEnabledFlashSDP());
  c.value("math", context.userEnabledMathSDP());
  c.value("efficient", context.userEnabledMemEfficientSDP());
  c.value("cudnn", context.userEnabledCuDNNSDP());
  c.value("fa3", context.userEnabledFA3SDP());
  c.value("half math", context.allowFP16BF16ReductionMathSDP());
  context.setSDPUseMemEfficient(false);
  context.setSDPUseCuDNN(false);
  c.value("efficient off", context.userEnabledMemEfficientSDP());
  c.value("cudnn off", context.userEnabledCuDNNSDP());
  context.setSDPUseMemEfficient(true);
  context.setSDPUseCuDNN(true);
}

PARITY_CASE(context, attention_by_formula) {
  const Restore restore;
  at::globalContext().setSDPUseFlash(false);
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    auto q = c.leaf({2, 3, 5, 4}, dtype), k = c.leaf({2, 3, 6, 4}, dtype), v = c.leaf({2, 3, 6, 4}, dtype);
    c.gradients("plain", {q, k, v}, [&] { return torch::scaled_dot_product_attention(q, k, v); });
    c.gradients("causal", {q, k, v}, [&] { return torch::scaled_dot_product_attention(q, k, v, {}, 0.0, true); });
    auto mask = c.bools({5, 6}) | (torch::arange(6) == 0);
    c.gradients("masked", {q, k, v}, [&] { return torch::scaled_dot_product_attention(q, k, v, mask); });
  });
  c.for_dtypes({torch::kHalf, torch::kBFloat16}, [&](torch::Dtype dtype) {
    auto q = c.randn({2, 2, 5, 4}, dtype), k = c.randn({2, 2, 6, 4}, dtype), v = c.randn({2, 2, 6, 4}, dtype);
    c.out("half", torch::scaled_dot_product_attention(q, k, v));
  });
}

PARITY_CASE(context, layouts_of_attention) {
  const auto by_heads = [&](int64_t length, int64_t width) { return c.randn({2, 4, length, width}); };
  const auto by_places = [&](int64_t length, int64_t width) { return c.randn({2, length, 4, width}).transpose(1, 2); };
  const auto parts = c.randn({2, 5, 3 * 32}).chunk(3, 2);
  const auto part = [&](int i) { return parts[i].view({2, 5, 4, 8}).transpose(1, 2); };
  const auto layout = [&](const char* name, const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v) {
    const auto out = torch::scaled_dot_product_attention(q, k, v);
    c.out(name, out);
    c.text(std::string(name) + " strides", c10::str(out.strides()));
  };
  layout("by heads", by_heads(5, 8), by_heads(6, 8), by_heads(6, 8));
  layout("by places", by_places(5, 8), by_places(6, 8), by_places(6, 8));
  layout("heads of places", by_heads(5, 8), by_places(6, 8), by_places(6, 8));
  layout("places of heads", by_places(5, 8), by_heads(6, 8), by_heads(6, 8));
  layout("wider", by_heads(5, 8), by_heads(6, 8), by_heads(6, 12));
  layout("wider places", by_places(5, 8), by_places(6, 8), by_places(6, 12));
  layout("parts", part(0), part(1), part(2));
  layout("columns", c.randn({2, 4, 8, 5}).transpose(2, 3), by_heads(6, 8), by_heads(6, 8));
  layout("batches", c.randn({4, 2, 5, 8}).transpose(0, 1), by_heads(6, 8), by_heads(6, 8));
}

PARITY_CASE(context, attention_without_a_way) {
  const Restore restore;
  auto q = c.randn({1, 2, 3, 4});
  at::globalContext().setSDPUseMath(false);
  c.out("fused", torch::scaled_dot_product_attention(q, q, q));
  at::globalContext().setSDPUseFlash(false);
  c.throws("none", [&] { torch::scaled_dot_product_attention(q, q, q); });
}

PARITY_CASE(context, what_there_is_not) {
  auto& context = at::globalContext();
  c.value("MAGMA", context.hasMAGMA());
  c.value("IPU", context.hasIPU());
  c.value("HPU", context.hasHPU());
  c.value("MTIA", context.hasMTIA());
  c.value("MAIA", context.hasMAIA());
  c.value("ROCm", context.hasROCM());
  c.value("HIP", at::hasHIP());
  c.value("XPU", at::hasXPU());
  c.throws("cuDNN", [&] { context.versionCuDNN(); });
  c.throws("CUDART", [&] { context.versionCUDART(); });
}

PARITY_CASE(context, quantized_engines) {
  auto& context = at::globalContext();
  const auto& engines = context.supportedQEngines();
  for (at::QEngine engine : engines) context.setQEngine(engine);
  c.value("one of them", std::find(engines.begin(), engines.end(), context.qEngine()) != engines.end());
  c.value("none", static_cast<int64_t>(at::kNoQEngine));
  c.text("name", toString(at::QEngine::FBGEMM));
  c.throws("unknown", [&] { context.setQEngine(static_cast<at::QEngine>(9)); });
}

PARITY_CASE(context, settings) {
  auto& context = at::globalContext();
  c.value("nnpack", context.userEnabledNNPACK());
  context.setUserEnabledNNPACK(false);
  c.value("nnpack off", context.userEnabledNNPACK());
  context.setUserEnabledNNPACK(true);
  c.value("mkldnn", context.deterministicMkldnn());
  c.value("fp16 sums", context.allowFP16ReductionCPU());
  c.value("vmap", context.areVmapFallbackWarningsEnabled());
  c.value("pinned", context.isPinnedPtr(&context));
}

PARITY_CASE(context, functions_without_a_deterministic_form) {
  auto& context = at::globalContext();
  context.alertNotDeterministic("mine");
  context.setDeterministicAlgorithms(true, false);
  c.throws("alert", [&] { context.alertNotDeterministic("mine"); });
  context.setDeterministicAlgorithms(false, false);
}

PARITY_CASE(context, new_memory_in_deterministic_mode) {
  auto& context = at::globalContext();
  context.setDeterministicAlgorithms(true, false);
  for (const auto dtype : {torch::kFloat, torch::kHalf, torch::kBFloat16, torch::kDouble, torch::kLong, torch::kInt,
                           torch::kShort, torch::kChar, torch::kByte, torch::kBool, torch::kComplexFloat}) {
    const std::string name = std::string(" ") + torch::toString(dtype);
    const torch::Tensor x = torch::empty({2, 3}, dtype);
    const bool floats = torch::isFloatingType(dtype) || torch::isComplexType(dtype);
    c.value("nan" + name, floats && x.isnan().all().item<bool>());
    c.value("version" + name, static_cast<int64_t>(x._version()));
    if (!floats) c.out("empty" + name, x);
    if (!floats) c.out("like" + name, torch::empty_like(x.t()));
    if (!floats) c.out("strided" + name, torch::empty_strided({2, 2}, {1, 2}, dtype));
    const torch::Tensor y = torch::ones({2}, dtype);
    y.resize_({2, 2});
    c.out("resized" + name, floats ? y.isnan() : y);
  }
  context.setDeterministicFillUninitializedMemory(false);
  c.value("off", context.deterministicFillUninitializedMemory());
  context.setDeterministicFillUninitializedMemory(true);
  context.setDeterministicAlgorithms(false, false);
}

PARITY_CASE(context, numbers_too_small_to_be_normal) {
  auto x = torch::full({4}, 1e-40f);
  c.value("as they are", x.mul(1).sum().item<float>() > 0);
  c.value("can", at::Context::setFlushDenormal(true));
  c.value("zero", x.mul(1).sum().item<float>() > 0);
  at::Context::setFlushDenormal(false);
}

PARITY_CASE(context, devices_of_other_kinds) {
  torch::mps::manual_seed(3);
  torch::xpu::manual_seed(3);
  torch::xpu::manual_seed_all(3);
  c.value("mps", torch::mps::is_available());
  c.value("xpu", static_cast<int64_t>(torch::xpu::device_count()));
  c.throws("mps has no work", [] { torch::mps::synchronize(); });
  c.throws("mps has no stream", [] { torch::mps::commit(); });
  c.throws("xpu has no work", [] { torch::xpu::synchronize(0); });
}

// <torch/torch.h> alone brings these.
PARITY_CASE(context, names_of_archives) {
  torch::serialize::OutputArchive archive(std::make_shared<torch::jit::CompilationUnit>());
  archive.write("x", c.randn({2}));
  std::stringstream stream;
  archive.save_to(stream);
  torch::serialize::InputArchive read;
  read.load_from(stream);
  torch::Tensor x;
  read.read("x", x);
  c.out("x", x);
}
