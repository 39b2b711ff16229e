// Arguments as an overload takes them.
#include <algorithm>

#include <halfbridge/error.h>
#include <halfbridge/ops.h>

#include "script/operator_call.h"

namespace hb::bridge::script {
namespace {

const Tensor& single(const IValue& value) {
  const Tensor& tensor = value.toTensor();
  HB_CHECK(!tensor.requires_grad(), "Cannot input a tensor that requires grad as a scalar argument");
  HB_CHECK(tensor.dim() == 0, "Cannot input a tensor of dimension other than 0 as a scalar argument");
  return tensor;
}

IValue repeated(const IValue& value, int32_t count) {
  return list_of_items(std::vector<IValue>(static_cast<size_t>(std::max(count, 0)), value));
}

TensorOptions dtype_of_number(const IValue& value) {
  if (value.isBool()) return hb::kBool;
  if (value.isInt()) return hb::kLong;
  if (value.isDouble()) return TensorOptions().dtype(get_default_dtype());
  return hb::kComplexFloat;
}

// Code names dtypes by number.
ScalarType dtype_of_code(int64_t number) {
  HB_CHECK(number >= 0 && number < static_cast<int64_t>(ScalarType::Undefined), "[TorchScript] there is no dtype ",
           number);
  return static_cast<ScalarType>(number);
}

}  // namespace

IValue convert(IValue value, const Plan::Source& source) {
  switch (source.conversion) {
    case Conversion::None:
      return value;
    case Conversion::TensorToInt:
      return single(value).item().to<int64_t>();
    case Conversion::TensorToFloat:
      return single(value).item().to<double>();
    case Conversion::TensorToBool:
      return single(value).item().to<bool>();
    case Conversion::TensorToScalar:
      return IValue(single(value).item());
    case Conversion::IntToFloat:
      return static_cast<double>(value.toInt());
    case Conversion::ToDtype:
      return dtype_of_code(value.toInt());
    case Conversion::BoolToInt:
      return whole(value);
    case Conversion::ToComplex:
      return Complex<double>(real(value));
    case Conversion::ToTensor:
      return hb::scalar_tensor(value.toScalar(), dtype_of_number(value));
    case Conversion::ToDevice:
      return IValue(Device(value.toStringRef()));
    case Conversion::Repeat:
      return repeated(value, source.count);
    case Conversion::TupleToList:
    case Conversion::Varargs:
      return list_of_items(items_of(value));
  }
  return value;
}

}  // namespace hb::bridge::script
