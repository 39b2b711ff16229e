// A layer as C++ source against torch::.
#pragma once

#include <string>
#include <vector>

#include "../replay/layer.h"

namespace hb::layer_diff::bundle {

struct LayerSource {
  std::string declaration;  // "torch::nn::Conv2d layer(torch::nn::Conv2dOptions(3, 8, {3, 3}));"; empty for a function
  std::string call;         // of it, on inputs named in0, in1, …: "layer->forward(in0)"
  bool tuple = false;       // the call returns a tuple, whose first element is taken
};
/// Throws hb::Error for a type or option that has no such source.
LayerSource source_of(const replay::Layer& layer, const std::string& type, const std::vector<bool>& inputs_defined);

/// {8, 3, 3, 3}
std::string braces(const std::vector<int64_t>& values);

}  // namespace hb::layer_diff::bundle
