// The files of a bundle. fmt fills in {names}; braces of the text are doubled.
#pragma once

namespace hb::layer_diff::bundle {

// clang-format off
inline constexpr const char* kMain = R"TEXT(// One layer of a reference run: {title}.
// Runs it on the inputs of the reference and compares with what the reference returned. Exit status: 0 agrees, 1 differs.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {{

// A file of the tensor's bytes beside the program's source.
torch::Tensor read(const std::string& name, const std::vector<int64_t>& sizes, torch::Dtype dtype) {{
  torch::Tensor tensor = torch::empty(sizes, torch::TensorOptions().dtype(dtype));
  std::ifstream file(std::string(BUNDLE_FOLDER "/") + name, std::ios::binary);
  const auto bytes = static_cast<std::streamsize>(tensor.numel() * tensor.element_size());
  if (bytes > 0 && !file.read(static_cast<char*>(tensor.data_ptr()), bytes))
    throw std::runtime_error("cannot read " + name);
  return tensor;
}}

template <class Module>
[[maybe_unused]] void set(Module& module, const std::string& name, const torch::Tensor& value) {{
  torch::NoGradGuard no_grad;
  for (const auto& tensors : {{module.named_parameters(), module.named_buffers()}})
    for (const auto& item : tensors)
      if (item.key() == name) {{
        torch::Tensor target = item.value();
        target.copy_(value);
        return;
      }}
  throw std::runtime_error("the layer has no " + name);
}}

bool compare(const std::string& what, const torch::Tensor& test, const torch::Tensor& ref) {{
  if (!test.defined() || test.numel() != ref.numel()) {{
    std::printf("%s: not there, or of another size\n", what.c_str());
    return false;
  }}
  const torch::Tensor a = test.detach().to(torch::kFloat64).reshape({{-1}}).contiguous();
  const torch::Tensor b = ref.to(torch::kFloat64).reshape({{-1}}).contiguous();
  const double *x = a.data_ptr<double>(), *y = b.data_ptr<double>();
  double worst = -1;
  int64_t place = 0, out = 0;
  for (int64_t i = 0; i < a.numel(); ++i) {{
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double share = std::abs(x[i] - y[i]) / ({atol} + {rtol} * std::abs(y[i]));
    out += !(share <= 1);
    if (!(share <= worst)) worst = share, place = i;
  }}
  if (worst < 0) {{
    std::printf("%s: equal\n", what.c_str());
    return true;
  }}
  std::printf("%s: %lld of %lld elements out of tolerance; worst at %lld: %.9g, the reference has %.9g\n", what.c_str(),
              static_cast<long long>(out), static_cast<long long>(a.numel()), static_cast<long long>(place), x[place],
              y[place]);
  return out == 0;
}}

}}  // namespace

int main() try {{
{body}  return same ? 0 : 1;
}} catch (const std::exception& error) {{
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}}
)TEXT";

inline constexpr const char* kCMakeLists = R"TEXT(# With LibTorch or with Halfbridge, whichever CMAKE_PREFIX_PATH names.
cmake_minimum_required(VERSION 3.18)
project(layer CXX)
find_package(Torch REQUIRED)
add_executable(layer main.cpp)
target_compile_features(layer PRIVATE cxx_std_17)
target_compile_definitions(layer PRIVATE BUNDLE_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(layer PRIVATE ${TORCH_LIBRARIES})
)TEXT";

inline constexpr const char* kReadme = R"TEXT(# {title}

```cpp
{code}
```

`main.cpp` runs this layer with the reference's weights on the reference's inputs and compares with the reference's
outputs and gradients, which lie beside it as plain bytes:

```
cmake -S . -B build -DCMAKE_PREFIX_PATH=DIR && cmake --build build && build/layer
```

DIR is LibTorch or an install tree of Halfbridge. It exits with 0 where all agree, 1 where they differ.

What `halfbridge diff` found:

| tensor | shape | max abs | max rel | mean abs | out of tolerance |
| --- | --- | --- | --- | --- | --- |
{figures}
Verdict: {verdict}. {reason}

Causes that were tried and make the layers agree:

{causes})TEXT";
// clang-format on

}  // namespace hb::layer_diff::bundle
