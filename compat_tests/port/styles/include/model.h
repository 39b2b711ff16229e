#pragma once
// Ways of writing that a reader of names has to see through.
#include <torch/torch.h>

#include <map>
#include <memory>
#include <string>

using namespace torch;
using Matrix = at::Tensor;
using torch::indexing::Slice;

namespace shapes {
// The program's own methods, named like those that Halfbridge lacks.
class Grid {
 public:
  int values() const { return 3; }
  Grid crow_indices() const { return *this; }
  std::map<std::string, int> names() const;
  Matrix cells;
};
}  // namespace shapes

struct Net : nn::Module {
  nn::Conv2d conv{nullptr};
  nn::Sequential head;
  std::vector<Tensor> kept;
  Net();
  Tensor forward(Tensor x);
};
