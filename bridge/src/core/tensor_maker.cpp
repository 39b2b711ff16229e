#include <halfbridge/bridge/tensor_maker.h>

#include "core/geometry.h"

namespace hb::bridge {
inline namespace api {

Tensor TensorMaker::make_tensor() {
  const DimVector sizes(sizes_);
  const DimVector strides = strides_ ? DimVector(*strides_) : geometry::contiguous_strides(sizes);
  const auto blob = [this](IntArrayRef at, IntArrayRef steps) {
    return deleter_ ? from_blob(data_, at, steps, deleter_, options_) : from_blob(data_, at, steps, options_);
  };
  if (!offset_) return blob(sizes, strides);
  return blob({*offset_ + geometry::extent(sizes, strides)}, {1}).as_strided(sizes, strides, *offset_);
}

}  // namespace api
}  // namespace hb::bridge
