#pragma once
#include <torch/torch.h>

torch::Tensor scaled_square_cuda(const torch::Tensor& x, double scale);
torch::Tensor row_sums_cuda(const torch::Tensor& x);
