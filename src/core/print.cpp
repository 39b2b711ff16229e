// How tensors are written to streams: the text of LibTorch.
#include <iostream>

#include <halfbridge/grad_mode.h>
#include <halfbridge/tensor.h>

#include "core/print_values.h"

namespace hb {

std::ostream& print(std::ostream& out, const Tensor& tensor, int64_t linesize) {
  if (!tensor.defined()) return out << "[ Tensor (undefined) ]";
  if (tensor.is_sparse()) {
    out << "[ " << tensor.toString() << "{}\nindices:\n" << tensor._indices() << "\nvalues:\n" << tensor._values();
    return out << "\nsize:\n" << tensor.sizes() << "\n]";
  }
  detail::StreamFormat restore(out);
  NoGradGuard no_grad;
  const Tensor values = tensor.detach().to(Device(kCPU), kDouble).contiguous();
  const auto* data = values.const_data_ptr<double>();
  const IntArrayRef sizes = values.sizes();
  if (sizes.empty()) {
    out << detail::shortest(data[0]) << '\n';
  } else if (values.numel() > 0) {
    detail::print_values(out, data, sizes, linesize);
  }
  out << "[ " << tensor.toString() << '{';
  for (size_t d = 0; d < sizes.size(); ++d) out << (d ? "," : "") << sizes[d];
  return out << "} ]";
}

void print(const Tensor& tensor, int64_t linesize) { print(std::cout, tensor, linesize); }

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return print(out, tensor, 80); }

std::string Tensor::toString() const {
  if (!defined()) return "UndefinedType";
  return (is_sparse() ? "Sparse" : "") + DeviceTypeName(device().type()) + hb::toString(scalar_type()) + "Type";
}

void Tensor::print() const {
  if (defined()) {
    std::cerr << "[" << toString() << " " << sizes() << "]\n";
  } else {
    std::cerr << "[UndefinedTensor]\n";
  }
}

}  // namespace hb
