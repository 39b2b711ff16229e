// What the classes and calls in PyTorch's pickles mean.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <halfbridge/ivalue.h>

#include "io/io_error.h"
#include "io/pickle_reader.h"

namespace hb::io {

/// What a pickle says about a storage: ('storage', class, key, device, elements) and, in the oldest files, a part of
/// it: (key, offset, elements).
struct StorageId {
  std::string key;
  std::string device;
  ScalarType dtype;
  int64_t numel;
  size_t nbytes;
};
/// Reads the argument of a node of kind Persistent; throws hb::Error for one that names no storage of a supported
/// dtype. `label` names the pickle.
StorageId storage_id(const PickleNode& persistent, const std::string& label);

/// Turns a pickle's nodes into values. Only the classes and functions that PyTorch itself writes are known;
/// any other is an error, and nothing is ever called. Shared nodes give shared values.
class TorchUnpickler {
 public:
  /// Gives the storage that the pickle calls `key`; throws if it is not there or has another size than
  /// `nbytes`.
  using StorageReader = std::function<intrusive_ptr<StorageImpl>(const std::string& key, size_t nbytes)>;

  /// Gives what the archive's code declares about a class; nothing where it has no such class.
  using ClassReader = std::function<std::shared_ptr<const ivalue::ClassData>(const std::string& name)>;

  /// With a device, all tensors are put there; without, each goes where it was.
  TorchUnpickler(const PickleGraph& graph, StorageReader read_storage, std::optional<Device> device = std::nullopt,
                 ClassReader read_class = nullptr);
  /// The tensors whose places a pickle with a table holds; they must outlive this object.
  void set_table(TensorList table) { table_ = table; }
  IValue run() { return convert(graph_.root()); }

 private:
  struct LoadedStorage {
    intrusive_ptr<StorageImpl> memory;
    ScalarType dtype;
    int64_t numel;
  };
  template <typename... Parts>
  [[noreturn]] void fail(const PickleNode& node, const Parts&... parts) const {
    io_fail("pickle", "'", graph_.label(), "', byte ", node.offset, ": ", parts...);
  }
  void expect(const PickleNode& node, PickleNode::Kind kind, const char* what) const;
  const PickleNode& argument(const PickleNode& call, size_t index, PickleNode::Kind kind, const char* what) const;

  void charge_items(const PickleNode& node, size_t count);
  void charge_text(const PickleNode& node, size_t bytes);

  /// `again`: what holds the node may be read a second time, as what it is by itself.
  IValue convert(const PickleNode& node, bool again = false);
  IValue convert_new(const PickleNode& node);
  std::vector<IValue> convert_items(const PickleNode& node, bool again = false);
  void check_key(const PickleNode& node, const IValue& key);
  IValue convert_dict(const PickleNode& node);
  IValue convert_global(const PickleNode& node);
  IValue convert_object(const PickleNode& node);
  void set_declared(const PickleNode& node, std::shared_ptr<const ivalue::ClassData> declared,
                    const ivalue::ObjectData& state, ivalue::ObjectData& object) const;
  IValue convert_call(const PickleNode& node);

  IValue call_ordered_dict(const PickleNode& call);
  IValue call_build_list(const PickleNode& call, TypePtr element_type);
  IValue call_restore_type_tag(const PickleNode& call);
  IValue call_device(const PickleNode& call);
  IValue call_complex(const PickleNode& call);
  IValue call_encode(const PickleNode& call);
  IValue call_rebuild_tensor(const PickleNode& call, size_t arguments);
  IValue call_rebuild_parameter(const PickleNode& call);
  IValue call_tensor_of_table(const PickleNode& call);

  DimVector dimensions(const PickleNode& node);
  void check_geometry(const PickleNode& call, int64_t offset, const DimVector& sizes, const DimVector& strides,
                      int64_t numel) const;
  struct Window {
    int64_t offset;
    int64_t numel;
  };
  const LoadedStorage& storage(const PickleNode& persistent);
  Window window(const PickleNode& persistent, const LoadedStorage& source, ScalarType dtype) const;
  LoadedStorage load_storage(const StorageId& id);

  const PickleGraph& graph_;
  StorageReader read_storage_;
  ClassReader read_class_;
  std::optional<TensorList> table_;
  std::optional<Device> device_;
  std::unordered_map<const PickleNode*, IValue> values_;  // of shared nodes
  std::unordered_set<const PickleNode*> in_progress_;
  std::unordered_map<std::string, LoadedStorage> storages_;
  int depth_ = 0;
  size_t items_ = 0, text_ = 0;  // what was copied from nodes that may be shared
};

}  // namespace hb::io
