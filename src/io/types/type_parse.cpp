// Reads types in Python's form and in that of schemas.
#include <algorithm>
#include <cctype>
#include <iterator>

#include <halfbridge/class_type.h>
#include <halfbridge/tensor_type.h>

#include "io/types/type_maker.h"

namespace hb {

using detail::TypeMaker;

namespace {

struct Word {
  std::string_view text;
  TypePtr type;
};

const std::vector<Word>& words() {
  static const auto* const all = new std::vector<Word>{{"Tensor", TensorType::get()},
                                                       {"int", IntType::get()},
                                                       {"float", FloatType::get()},
                                                       {"bool", BoolType::get()},
                                                       {"str", StringType::get()},
                                                       {"NoneType", NoneType::get()},
                                                       {"None", NoneType::get()},
                                                       {"Any", AnyType::get()},
                                                       {"Scalar", NumberType::get()},
                                                       {"number", NumberType::get()},
                                                       {"complex", ComplexType::get()},
                                                       {"Device", DeviceObjType::get()},
                                                       {"SymInt", SymIntType::get()},
                                                       {"SymFloat", SymFloatType::get()},
                                                       {"SymBool", SymBoolType::get()},
                                                       {"ScalarType", ScalarTypeType::get()},
                                                       {"Layout", LayoutType::get()},
                                                       {"MemoryFormat", MemoryFormatType::get()},
                                                       {"Generator", GeneratorType::get()},
                                                       {"Storage", StorageType::get()},
                                                       {"Stream", StreamObjType::get()},
                                                       {"QScheme", QSchemeType::get()},
                                                       {"Quantizer", QuantizerType::get()},
                                                       {"Capsule", CapsuleType::get()},
                                                       {"PyObject", PyObjectType::get()},
                                                       {"Dimname", StringType::get()},
                                                       {"list", AnyListType::get()},
                                                       {"AnyListType", AnyListType::get()},
                                                       {"AnyList", AnyListType::get()},
                                                       {"tuple", AnyTupleType::get()},
                                                       {"AnyTupleType", AnyTupleType::get()},
                                                       {"AnyTuple", AnyTupleType::get()},
                                                       {"AnyClassType", AnyClassType::get()},
                                                       {"AnyEnumType", AnyEnumType::get()}};
  return *all;
}

bool is_word_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

// Gives null for what it does not understand.
class TypeReader {
 public:
  explicit TypeReader(std::string_view text) : rest_(text) {}

  TypePtr whole() {
    TypePtr type = read();
    skip_spaces();
    return rest_.empty() ? type : nullptr;
  }

 private:
  // Files say types too: deeper than any program nests them is not read.
  static constexpr int kDeepest = 100;

  void skip_spaces() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  bool take(std::string_view text) {
    skip_spaces();
    if (rest_.substr(0, text.size()) != text) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  TypePtr read() {
    if (++depth_ > kDeepest) return nullptr;
    TypePtr type = take("(") ? tuple_of(list(")")) : named();
    int suffixes = 0;
    while (type && ++suffixes <= kDeepest) {
      if (take("?")) {
        type = OptionalType::create(type);
      } else if (take("[]")) {
        type = ListType::create(type);
      } else {
        break;
      }
    }
    --depth_;
    return suffixes > kDeepest ? nullptr : type;
  }

  static TypePtr tuple_of(std::optional<std::vector<TypePtr>> elements) {
    return elements ? TupleType::create(std::move(*elements)) : nullptr;
  }

  // What stands before a closing bracket.
  std::optional<std::vector<TypePtr>> list(std::string_view close) {
    std::vector<TypePtr> types;
    if (take(close)) return types;
    do {
      TypePtr type = read();
      if (!type) return std::nullopt;
      types.push_back(std::move(type));
    } while (take(","));
    if (!take(close)) return std::nullopt;
    return types;
  }

  TypePtr named() {
    skip_spaces();
    size_t end = 0;
    while (end < rest_.size() && is_word_part(rest_[end])) ++end;
    const std::string_view word = rest_.substr(0, end);
    if (word.empty()) return nullptr;
    rest_.remove_prefix(end);
    const bool python = !rest_.empty() && rest_[0] == '[' && rest_.substr(0, 2) != "[]";
    if (!python && (rest_.empty() || rest_[0] != '(')) return plain(word);
    rest_.remove_prefix(1);
    if (python && word == "Tuple" && take("()]")) return TupleType::create();
    auto inside = list(python ? "]" : ")");
    return inside ? made_of(word, std::move(*inside)) : nullptr;
  }

  static TypePtr plain(std::string_view word) {
    const auto& all = words();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Word& known) { return known.text == word; });
    if (found != all.end()) return found->type;
    const bool variable = std::islower(static_cast<unsigned char>(word[0])) && word.find('.') == word.npos;
    if (variable) return VarType::create(std::string(word));
    return ClassType::create(std::string(word));
  }

  static TypePtr made_of(std::string_view word, std::vector<TypePtr> inside) {
    if (word == "Tuple") return TupleType::create(std::move(inside));
    if (word == "Union" && !inside.empty()) return TypeMaker::union_of(inside);
    if (word == "Dict") return inside.size() == 2 ? TypeMaker::dict(inside[0], inside[1]) : nullptr;
    if (inside.size() != 1) return nullptr;
    if (word == "List") return ListType::create(inside[0]);
    if (word == "Optional") return OptionalType::create(inside[0]);
    if (word == "Future") return FutureType::create(inside[0]);
    if (word == "Await") return AwaitType::create(inside[0]);
    if (word == "RRef") return RRefType::create(inside[0]);
    return nullptr;
  }

  std::string_view rest_;
  int depth_ = 0;
};

}  // namespace

TypePtr make_type(std::string_view text) {
  TypePtr type = TypeReader(text).whole();
  return type ? type : ClassType::create(std::string(text));
}

}  // namespace hb
