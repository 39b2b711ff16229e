// Values and meta tensors, which have none: neither takes the other's place in a tensor.
#include "parity/bad.h"

#include <sstream>

using torch::Tensor;
namespace nn = torch::nn;

PARITY_CASE(meta_data, takes_no_ones_place) {
  const Tensor meta = torch::ones({2}, torch::kMeta);
  const char* phrase = "`variable` and `tensor` have incompatible tensor type";
  SAYS(phrase, torch::ones({2}).set_data(meta));
  SAYS(phrase, meta.clone().set_data(torch::ones({2})));
  SAYS(phrase, nn::Linear(2, 3)->to(torch::kMeta));
  SAYS(phrase, nn::BatchNorm1d(3)->to(torch::kMeta, torch::kHalf));
  std::stringstream archive;
  torch::save(torch::ones({2}), archive);
  Tensor target = meta.clone();
  SAYS(phrase, torch::load(target, archive));
  Tensor other = torch::ones({3}, torch::kMeta);
  other.set_data(meta);
  c.check(other.is_meta() && other.size(0) == 2, "one meta tensor takes another's place");
}
