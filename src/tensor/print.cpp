// How tensors are written to streams: the text of LibTorch.
#include <iostream>

#include <halfbridge/grad_mode.h>
#include <halfbridge/indexing.h>
#include <halfbridge/tensor.h>

#include "tensor/print_values.h"

namespace hb {

std::ostream& print(std::ostream& out, const Tensor& tensor, int64_t linesize) {
  if (!tensor.defined()) return out << "[ Tensor (undefined) ]";
  if (detail::is_compressed(tensor.layout())) {
    const bool rows = tensor.is_sparse_csr();
    out << "[ " << tensor.toString() << "{}\n" << (rows ? "crow" : "ccol") << "_indices:\n";
    out << (rows ? tensor.crow_indices() : tensor.ccol_indices()) << '\n' << (rows ? "col" : "row") << "_indices:\n";
    out << (rows ? tensor.col_indices() : tensor.row_indices()) << "\nvalues:\n" << tensor.values();
    return out << "\nsize:\n" << tensor.sizes() << "\n]";
  }
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

void Tensor::print() const {
  if (defined()) {
    std::cerr << "[" << toString() << " " << sizes() << "]\n";
  } else {
    std::cerr << "[UndefinedTensor]\n";
  }
}

namespace subscripts {
std::ostream& operator<<(std::ostream& out, const Slice& slice) {
  return out << slice.start() << ":" << slice.stop() << ":" << slice.step();
}
}  // namespace subscripts
std::ostream& operator<<(std::ostream& out, const TensorIndex& index) {
  switch (index.type()) {
    case TensorIndex::Type::None:
      return out << "None";
    case TensorIndex::Type::Ellipsis:
      return out << "...";
    case TensorIndex::Type::SymInt:
      return out << index.integer();
    case TensorIndex::Type::Boolean:
      return out << (index.boolean() ? "true" : "false");
    case TensorIndex::Type::Slice:
      return out << index.slice();
    case TensorIndex::Type::Tensor:
      return out << index.tensor();
  }
  return out;
}
std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices) {
  out << "(";
  for (size_t i = 0; i < indices.size(); ++i) out << (i ? ", " : "") << indices[i];
  return out << ")";
}

}  // namespace hb
