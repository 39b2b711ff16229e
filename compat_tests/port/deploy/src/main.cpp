// A program that runs a scripted network on a GPU: much of it needs an edit.
#include <c10/cuda/CUDAGuard.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <vector>

torch::Tensor spectrum(const torch::Tensor& signal);

int main(int argc, char** argv) {
  torch::InferenceMode guard;
  torch::jit::script::Module module = torch::jit::load(argv[1]);
  module.eval();
  c10::cuda::CUDAGuard on(0);
  std::vector<torch::jit::IValue> inputs{torch::ones({1, 3, 224, 224})};
  at::Tensor output = module.forward(inputs).toTensor();
  auto [values, indices] = output.sort(1, true);
  auto angles = torch::special::bessel_j0(values).angle();
  auto sparse = output.to_sparse_bsc().q_scale();
  TORCH_CHECK(output.defined(), "nothing came back");
  C10_CUDA_CHECK(cudaGetLastError());
  std::vector<float> raw(angles.data_ptr<float>(), angles.data_ptr<float>() + angles.numel());
  return static_cast<int>(raw.size() + torch::nested_to_padded_tensor(angles, 0.0).size(0));
}
