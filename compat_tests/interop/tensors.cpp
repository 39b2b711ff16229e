#include <cmath>
#include <fstream>
#include <limits>
#include <vector>

#include "interop/check.h"
#include "interop/exchange.h"

namespace interop {
namespace {

std::vector<torch::Tensor> samples() {
  std::vector<torch::Tensor> all;
  for (auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kLong, torch::kInt,
                     torch::kShort, torch::kChar, torch::kByte}) {
    all.push_back(torch::arange(24).view({2, 3, 4}).to(dtype));
    all.push_back(torch::arange(7).to(dtype)[3]);  // 0-d, with an offset
    all.push_back(torch::zeros({0, 5}, torch::TensorOptions().dtype(dtype)));
  }
  all.push_back(torch::tensor({true, false, true}));
  const float inf = std::numeric_limits<float>::infinity();
  all.push_back(torch::tensor({std::nanf("7"), inf, -inf, -0.0f, 1e-42f, std::numeric_limits<float>::max()}));
  all.push_back(torch::arange(12).to(torch::kFloat).view({3, 4}).t());
  all.push_back(torch::arange(3).to(torch::kFloat).view({3, 1}).expand({3, 4}));
  all.push_back(torch::arange(100).slice(0, 10, 90, 7));
  all.push_back(torch::arange(5).to(torch::kDouble).requires_grad_());
  return all;
}

// Views of one storage, enough of them that their numbers in the pickle take more than a byte.
std::vector<torch::Tensor> shared_views() {
  auto base = torch::arange(1000).to(torch::kFloat);
  std::vector<torch::Tensor> views{base};
  for (int i = 0; i < 300; ++i) views.push_back(base.slice(0, i, i + 3));
  return views;
}

void check_all(const std::vector<torch::Tensor>& got, const std::vector<torch::Tensor>& expected,
               const std::string& what) {
  check(got.size() == expected.size(), what + ": number of tensors");
  for (size_t i = 0; i < expected.size() && i < got.size(); ++i) {
    const std::string name = what + " " + std::to_string(i);
    check_bits(got[i], expected[i], name);
    check(got[i].strides() == expected[i].strides(), name + ": strides");
    check(got[i].requires_grad() == expected[i].requires_grad(), name + ": requires_grad");
    check(got[i].is_leaf(), name + ": a leaf");
  }
}

}  // namespace

void write_tensors(const std::string& folder) {
  const auto all = samples();
  torch::save(all, folder + "all.pt");
  torch::save(shared_views(), folder + "shared.pt");
  torch::save(all[0], folder + "one.pt");
  torch::save(std::vector<torch::Tensor>(), folder + "none.pt");
  std::ofstream stream(folder + "stream.pt", std::ios::binary);
  torch::save(all[1], stream);
  check(stream.good(), "the stream takes the file");
}

void read_tensors(const std::string& folder) {
  const auto expected = samples();
  std::vector<torch::Tensor> all;
  torch::load(all, folder + "all.pt");
  check_all(all, expected, "all.pt");

  std::vector<torch::Tensor> shared;
  torch::load(shared, folder + "shared.pt");
  check_all(shared, shared_views(), "shared.pt");
  shared[0].fill_(5);
  check(shared[300][0].item<float>() == 5, "shared.pt: tensors that shared memory share it again");

  torch::Tensor one;
  torch::load(one, folder + "one.pt");
  check_bits(one, expected[0], "one.pt");
  torch::Tensor in_place = torch::zeros({9});
  const torch::Tensor same = in_place;
  torch::load(in_place, folder + "one.pt", torch::Device(torch::kCPU));
  check_bits(same, expected[0], "one.pt into a defined tensor");

  std::vector<torch::Tensor> none;
  torch::load(none, folder + "none.pt");
  check(none.empty(), "none.pt");
  std::ifstream stream(folder + "stream.pt", std::ios::binary);
  torch::Tensor streamed;
  torch::load(streamed, stream);
  check_bits(streamed, expected[1], "stream.pt");
}

}  // namespace interop
