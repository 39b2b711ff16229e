// IValues, of the kinds that LibTorch can copy: nested lists, dicts and tuples that are printed, compared, copied,
// pickled and asked for what they are not.
#include <ATen/core/ivalue.h>
#include <torch/serialize.h>

#include <sstream>

#include "calls.h"

using c10::IValue;
using random_calls::characters;
using random_calls::Inputs;
using random_calls::Tensors;

namespace {

/// A list of one type, which empty lists have, too.
IValue any_list(Inputs& in) {
  const int64_t n = in.between(0, 3);
  const auto filled = [&](auto list, auto element) {
    for (int64_t i = 0; i < n; ++i) list.push_back(element());
    return IValue(list);
  };
  switch (in.between(0, 4)) {
    case 0:
      return filled(c10::List<int64_t>(), [&] { return in.between(-3, 3); });
    case 1:
      return filled(c10::List<double>(), [&] { return 0.5 * static_cast<double>(in.between(-3, 3)); });
    case 2:
      return filled(c10::List<std::string>(), [&] { return in.of<std::string>({"a", "b\n", "it's"}); });
    case 3:
      return filled(c10::List<bool>(), [&] { return in.coin(); });
    default:
      return filled(c10::List<torch::Tensor>(), [&] { return in.tensor({2}).detach(); });
  }
}

IValue any_value(Inputs& in, int depth) {
  switch (in.between(0, depth > 0 ? 10 : 5)) {
    case 0:
      return in.between(-5, 5);
    case 1:
      return 0.25 * static_cast<double>(in.between(-9, 9));
    case 2:
      return in.coin();
    case 3:
      return in.of<std::string>({"", "word", "two words", "'quoted'"});
    case 4:
      return {};
    case 5:
      return in.tensor(in.numbers(in.between(0, 2), 1, 2)).detach().clone();
    case 6: {
      std::vector<IValue> elements;
      for (int64_t n = in.between(0, 3); n > 0; --n) elements.push_back(any_value(in, depth - 1));
      return c10::ivalue::Tuple::create(std::move(elements));
    }
    case 7: {
      c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
      for (int64_t n = in.between(0, 3); n > 0; --n)
        dict.insert_or_assign(in.of<std::string>({"x", "y", "z"}), any_value(in, depth - 1));
      return dict;
    }
    case 8: {
      c10::Dict<int64_t, double> dict;
      for (int64_t n = in.between(0, 3); n > 0; --n) dict.insert(in.between(0, 5), 0.5 * static_cast<double>(n));
      return dict;
    }
    case 9: {
      c10::impl::GenericList list(c10::AnyType::get());
      for (int64_t n = in.between(0, 3); n > 0; --n) list.push_back(any_value(in, depth - 1));
      return list;
    }
    default:
      return any_list(in);
  }
}

/// What f writes, or the word that it refuses.
template <class F>
void tell(std::ostream& out, const char* name, F f) {
  out << name << ' ';
  try {
    f();
  } catch (const std::exception&) {
    out << "refused";
  }
  out << '\n';
}

void describe(const IValue& value, std::ostream& out) {
  tell(out, "printed", [&] { out << value; });
  tell(out, "tag", [&] { out << value.tagKind(); });
  tell(out, "type", [&] { out << value.type()->str() << ' ' << value.type()->annotation_str(); });
  tell(out, "is", [&] {
    out << value.isInt() << value.isDouble() << value.isBool() << value.isString() << value.isNone() << value.isTensor()
        << value.isList() << value.isTuple() << value.isGenericDict() << value.isScalar() << value.isIntList()
        << value.isDoubleList() << value.isBoolList() << value.isTensorList() << value.isComplexDouble()
        << value.isDevice() << value.isPtrType() << value.isObject();
  });
  tell(out, "int", [&] { out << value.toInt(); });
  tell(out, "double", [&] { out << value.toDouble(); });
  tell(out, "bool", [&] { out << value.toBool(); });
  tell(out, "string", [&] { out << value.toStringRef(); });
  tell(out, "scalar", [&] { out << value.toScalar().type(); });
  tell(out, "list", [&] { out << value.toList().size() << value.toListRef().size(); });
  if (value.isList() && value.toListRef().empty()) return;  // which fits any list here
  tell(out, "ints", [&] { out << value.toIntVector(); });
  tell(out, "doubles", [&] { out << value.toDoubleVector(); });
  tell(out, "tensors", [&] { out << value.toTensorVector().size(); });
  tell(out, "tuple", [&] { out << value.toTupleRef().elements().size(); });
  tell(out, "dict", [&] { out << value.toGenericDict().size(); });
  tell(out, "map", [&] { out << (value.to<std::unordered_map<std::string, double>>().size()); });
  tell(out, "optional", [&] { out << value.toOptional<int64_t>().has_value(); });
  tell(out, "vector", [&] { out << value.to<std::vector<std::string>>().size(); });
  tell(out, "use", [&] { out << value.use_count(); });
}

Tensors value(Inputs& in) {
  const IValue first = any_value(in, 2), second = in.one_of(3) ? first : any_value(in, 2);
  std::ostringstream out;
  describe(first, out);
  tell(out, "equal", [&] { out << (first == second) << (first != second) << first.is(second); });
  tell(out, "copy", [&] {
    const IValue copy = first.deepcopy();
    out << copy << (copy == first) << copy.is(first) << copy.isAliasOf(first) << first.overlaps(copy);
  });
  tell(out, "hash", [&] { out << (IValue::hash(first) == IValue::hash(first.deepcopy())); });
  tell(out, "parts", [&] {
    IValue::HashAliasedIValues parts;
    first.getSubValues(parts);
    out << parts.size();
  });
  tell(out, "pickled", [&] {
    const IValue read = torch::pickle_load(torch::pickle_save(first));
    out << read << ' ' << read.type()->str();
  });
  in.note("|" + out.str().substr(0, out.str().find('\n')));
  return {characters(out.str())};
}

}  // namespace

DRAWN(value(in))
