#pragma once
#include <functional>
#include <string>
#include <vector>

#include <halfbridge/tensor.h>

namespace hb {

/// Throws unless `a` is a batch of matrices of float or double; `square` also wants that.
void check_matrices(const char* name, const Tensor& a, bool square);
/// A contiguous tensor of matrices as (b, m, n), without history.
Tensor as_batch(const Tensor& a);
/// A contiguous copy as (b, m, n), without history.
Tensor flat_batch(const Tensor& a);
/// Batch dimensions of `like`, then these.
std::vector<int64_t> batch_sizes(const Tensor& like, std::initializer_list<int64_t> last);
/// Throws with the first matrix whose info is not 0; `explain(info)` says what that means.
void check_info(const char* name, const Tensor& info, bool batched, const std::function<std::string(int64_t)>& explain);

}  // namespace hb
