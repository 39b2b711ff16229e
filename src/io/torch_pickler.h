// Values as PyTorch pickles them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <halfbridge/ivalue.h>

#include "io/pickle_writer.h"

namespace hb::io {

/// Turns a value into a pickle and a list of storages, which the pickle calls "0", "1", ... in the list's
/// order. Tensors that share memory share it again when they are read; the same tensor twice becomes one
/// tensor.
class TorchPickler {
 public:
  /// How lists and dicts are written.
  enum class Flavour {
    TorchScript,  // with their types, as LibTorch needs them
    Python,       // plain, as Python's torch.load(weights_only=True) accepts them
  };
  /// With a table, tensors are appended to it, and the pickle holds their places there.
  explicit TorchPickler(Flavour flavour, std::vector<Tensor>* table = nullptr) : flavour_(flavour), table_(table) {}

  /// Names that objects have instead of their own class names, by object.
  using ClassNames = std::unordered_map<const ivalue::ObjectData*, std::string>;
  std::string pickle(const IValue& value, const ClassNames& class_names = {});

  /// Each storage as a 1-d tensor on the CPU.
  const std::vector<Tensor>& storages() const { return storages_; }

 private:
  void write(const IValue& value);
  void write_container(const IValue& value);
  void write_text(const std::string& text);
  void write_list(const ivalue::ListData& list);
  void write_dict(const ivalue::DictData& dict);
  void write_tuple(const std::vector<IValue>& items);
  void write_object(const ivalue::ObjectData& object);
  void write_complex(const Complex<double>& value);
  static IValue state_of(const ivalue::ObjectData& object);
  void write_device(const Device& device);
  void write_tensor(const Tensor& tensor);
  void write_place_in_table(const Tensor& tensor);
  void write_storage(const Tensor& tensor);
  void write_dimensions(IntArrayRef values);
  void write_elements(const std::vector<IValue>& items);
  void write_entries(const ivalue::DictData& dict);
  void begin_type_tag();
  void end_type_tag(const std::string& type);

  Flavour flavour_;
  std::vector<Tensor>* table_;
  PickleWriter out_;
  const ClassNames* class_names_ = nullptr;
  std::vector<Tensor> storages_;
  std::unordered_map<const void*, uint32_t> containers_;
  std::unordered_map<const TensorImpl*, uint32_t> tensors_;
  std::unordered_map<std::string, uint32_t> storage_memo_;
  std::vector<Tensor> alive_;  // an address names a tensor only while that lives
  int depth_ = 0;
};

}  // namespace hb::io
