#include <ostream>

#include <halfbridge/dtype.h>

namespace hb {

const char* type_meta_name(ScalarType t) {
  switch (t) {
    case kByte:
      return "unsigned char";
    case kChar:
      return "signed char";
    case kShort:
      return "short int";
    case kInt:
      return "int";
    case kLong:
      return "long int";
    case kHalf:
      return "c10::Half";
    case kFloat:
      return "float";
    case kDouble:
      return "double";
    case kBool:
      return "bool";
    case kBFloat16:
      return "c10::BFloat16";
    case kUInt16:
      return "short unsigned int";
    case kUInt32:
      return "unsigned int";
    case kUInt64:
      return "long unsigned int";
    case kComplexFloat:
      return "c10::complex<float>";
    case kComplexDouble:
      return "c10::complex<double>";
    case ScalarType::Undefined:
      return "nullptr (uninitialized)";
    default:
      return toString(t);
  }
}

std::ostream& operator<<(std::ostream& out, TypeMeta t) { return out << t.name(); }

}  // namespace hb
