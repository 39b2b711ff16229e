// TorchScript: torch::jit::load reads the modules of a scripted or traced network with their parameters, buffers,
// attributes and code, which forward and other methods run. Loading runs no code.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <halfbridge/bridge/compilation_unit.h>
#include <halfbridge/ivalue.h>

namespace hb::bridge {

/// Where an archive's bytes come from: a class of the program's.
class HB_API ReadAdapterInterface {
 public:
  virtual ~ReadAdapterInterface();
  virtual size_t size() const = 0;
  /// Copies `n` bytes at `pos` to `buf` and gives how many it copied.
  virtual size_t read(uint64_t pos, void* buf, size_t n, const char* what = "") const = 0;
};

}  // namespace hb::bridge

namespace hb::bridge::jit {

using hb::IValue;
using Stack = std::vector<IValue>;
using Kwargs = std::unordered_map<std::string, IValue>;
using ExtraFilesMap = std::unordered_map<std::string, std::string>;
using ObjectPtr = std::shared_ptr<ivalue::Object>;

/// An attribute that is not there.
class ObjectAttributeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A name and what it names.
template <typename T>
struct Named {
  std::string name;
  T value;
};

/// What a module holds, read when the list is made.
template <typename T>
class slot_list_impl {
 public:
  using value_type = T;
  using iterator = typename std::vector<T>::const_iterator;
  using const_iterator = iterator;

  explicit slot_list_impl(std::vector<T> items) : items_(std::move(items)) {}
  iterator begin() const { return items_.begin(); }
  iterator end() const { return items_.end(); }
  size_t size() const { return items_.size(); }

 private:
  std::vector<T> items_;
};

struct Module;
using module_list = slot_list_impl<Module>;
using named_module_list = slot_list_impl<Named<Module>>;
using parameter_list = slot_list_impl<Tensor>;
using named_parameter_list = slot_list_impl<Named<Tensor>>;
using buffer_list = slot_list_impl<Tensor>;
using named_buffer_list = slot_list_impl<Named<Tensor>>;
using attribute_list = slot_list_impl<IValue>;
using named_attribute_list = slot_list_impl<Named<IValue>>;
using NameModule = Named<Module>;
using NameValue = Named<IValue>;
using NameTensor = Named<Tensor>;

/// A method that the module's code declares.
struct HB_API Method {
  Method(ObjectPtr owner, std::string name) : owner_(std::move(owner)), name_(std::move(name)) {}

  Module owner() const;
  const std::string& name() const { return name_; }
  /// Runs the code. What fails there is a std::runtime_error with a traceback, what it raises a JITException; arguments
  /// that do not fit are an Error, functions that Halfbridge lacks a NotImplementedError.
  IValue operator()(Stack inputs, const Kwargs& kwargs = {}) const;
  /// Takes the arguments, without the module, from the stack and leaves the result there.
  void run(Stack& stack) const;
  void run(Stack&& stack) const { run(stack); }
  /// Runs the code as a task of the launcher's, at::launch where there is none.
  intrusive_ptr<ivalue::Future> run_async(Stack stack, const Kwargs& kwargs = {},
                                          std::function<void(std::function<void()>)> launcher = nullptr) const;
  /// With the module.
  size_t num_inputs() const;
  /// The function, with its schema.
  Function& function() const;

 private:
  ObjectPtr owner_;
  std::string name_;
};

/// An object of a class of the archive. Copies are the same object.
struct HB_API Object {
  Object() = default;
  Object(ObjectPtr value) : value_(std::move(value)) {}

  /// Throws hb::Error for an object that holds none.
  ObjectPtr _ivalue() const;
  std::shared_ptr<ClassType> type() const { return _ivalue()->type(); }

  /// The value of an attribute or a constant; throws ObjectAttributeError where there is none, hb::Error for a constant
  /// that is more than numbers, texts, lists and tuples.
  IValue attr(const std::string& name) const;
  IValue attr(const std::string& name, IValue missing) const;
  bool hasattr(const std::string& name) const;
  /// Throws hb::Error for a constant, for an attribute that is not there, and for a value of another type.
  void setattr(const std::string& name, IValue value) const;
  size_t num_slots() const { return _ivalue()->attributes.size(); }

  /// The methods that the code declares.
  Method get_method(const std::string& name) const;
  std::optional<Method> find_method(const std::string& name) const;
  std::vector<Method> get_methods() const;
  template <typename... Args>
  IValue run_method(const std::string& name, Args&&... args) const {
    return get_method(name)(Stack{IValue(std::forward<Args>(args))...});
  }
  /// Compiles methods from a source text, "def forward(self, x): ...", and adds them to this object.
  template <typename... Rest>
  void define(const std::string& source, const Rest&... /*rest*/) const {
    add_methods(source);
  }

 private:
  void add_methods(const std::string& source) const;
  ObjectPtr value_;
};

/// torch::jit::Module, torch::jit::script::Module.
struct HB_API Module : public Object {
  Module() = default;
  Module(ObjectPtr value) : Object(std::move(value)) {}
  /// A module without attributes.
  explicit Module(const std::string& class_name);

  /// Runs the method "forward".
  IValue forward(Stack inputs, const Kwargs& kwargs = {}) const;
  IValue operator()(Stack inputs) const;

  /// In the order of the archive, a module's own and its submodules' where these stand. `recurse` goes into submodules.
  parameter_list parameters(bool recurse = true) const;
  named_parameter_list named_parameters(bool recurse = true) const;
  buffer_list buffers(bool recurse = true) const;
  named_buffer_list named_buffers(bool recurse = true) const;
  attribute_list attributes(bool recurse = true) const;
  named_attribute_list named_attributes(bool recurse = true) const;
  module_list children() const;
  named_module_list named_children() const;
  /// With this one.
  module_list modules() const;
  named_module_list named_modules() const;

  void register_parameter(const std::string& name, Tensor value, bool is_buffer);
  void register_buffer(const std::string& name, Tensor value);
  void register_attribute(const std::string& name, const TypePtr& type, IValue value, bool is_param = false,
                          bool is_buffer = false);
  void register_module(const std::string& name, const Module& module);

  void apply(const std::function<void(Module&)>& function);
  /// Sets the attribute "training" of each module that has one.
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return attr("training", true).toBool(); }
  /// Parameters and buffers, in place.
  void to(Device device, ScalarType dtype, bool non_blocking = false);
  void to(ScalarType dtype, bool non_blocking = false);
  void to(Device device, bool non_blocking = false);

  /// Another module with the same tensors, submodules and values.
  Module copy() const;
  /// Returns a module with copies of all.
  Module deepcopy(std::optional<Device> device = std::nullopt) const;
  /// deepcopy(), or with `inplace` copies of the modules alone, which share their tensors and other values.
  Module clone(bool inplace = false) const;

  /// Writes an archive of TorchScript: the module as it is now, with the code that it was read with and the methods of
  /// define(). Throws hb::Error where one archive cannot hold that: with code of two archives.
  void save(const std::string& filename, const ExtraFilesMap& extra_files = {}) const;
  void save(std::ostream& out, const ExtraFilesMap& extra_files = {}) const;

  /// What the module holds, as a text. Methods stand there as source texts, not as graphs.
  std::string dump_to_str(bool print_method_bodies, bool print_attr_values, bool print_param_values) const;
  void dump(bool print_method_bodies = true, bool print_attr_values = true, bool print_param_values = true) const;

  /// Kept for programs that call them; without effect, as in LibTorch.
  void set_optimized(bool) const {}
  bool is_optimized() const { return true; }

  /// An object of a class of the module's archive, made by its code ("__torch__.Name").
  template <typename Name>
  IValue create_class(const Name& name, Stack arguments) const {
    if constexpr (std::is_convertible_v<const Name&, std::string>) {
      return make_object(name, std::move(arguments));
    } else {
      return make_object(name.qualifiedName(), std::move(arguments));
    }
  }

  bool operator==(const Module& other) const noexcept;

 private:
  IValue make_object(const std::string& class_name, Stack arguments) const;
};

/// Reads an archive of TorchScript (torch.jit.save, ScriptModule.save) or of torch::save. With a device, all tensors
/// are put there; without, each goes where it was. For each name in `extra_files` the archive's record of that name is
/// put there, if it has one. Throws hb::Error for a missing or malformed file and for one that holds no module.
HB_API Module load(const std::string& filename, std::optional<Device> device = std::nullopt,
                   bool load_debug_files = true);
HB_API Module load(const std::string& filename, std::optional<Device> device, ExtraFilesMap& extra_files,
                   bool load_debug_files = true);
HB_API Module load(std::istream& stream, std::optional<Device> device = std::nullopt, bool load_debug_files = true);
HB_API Module load(std::istream& stream, std::optional<Device> device, ExtraFilesMap& extra_files,
                   bool load_debug_files = true);

HB_API Module load(std::shared_ptr<ReadAdapterInterface> reader, std::optional<Device> device = std::nullopt,
                   bool load_debug_files = true);
HB_API Module load(std::shared_ptr<ReadAdapterInterface> reader, std::optional<Device> device,
                   ExtraFilesMap& extra_files, bool load_debug_files = true);
/// Reads a dict of tensors that torch::pickle_save or Python's torch.save wrote. Throws hb::Error for anything else.
HB_API std::map<std::string, Tensor> _load_parameters(const std::string& filename,
                                                      std::optional<Device> device = std::nullopt);
HB_API std::map<std::string, Tensor> _load_parameters(std::istream& stream,
                                                      std::optional<Device> device = std::nullopt);

/// A copy that computes the same. As in LibTorch, the module must be in evaluation mode; unlike there, the copy keeps
/// its submodules and parameters, which need no gradients. With `optimize_numerics`, a convolution of torch.nn whose
/// result goes to a batch norm alone runs with weights that the norm is folded into, while the norm is in evaluation;
/// results differ by rounding. They are folded anew where a tensor of theirs is replaced or written to in place.
HB_API Module freeze(const Module& module,
                     const std::optional<std::vector<std::string>>& preserved_attrs = std::nullopt,
                     bool optimize_numerics = true);
/// freeze(), unless the module is frozen.
HB_API Module optimize_for_inference(Module& module, const std::vector<std::string>& other_methods = {});
/// The functions of a source text; throws hb::Error, which names the line, where it is malformed.
HB_API std::shared_ptr<CompilationUnit> compile(const std::string& source);

/// How LibTorch runs code; accepted, without effect.
enum class FusionBehavior { STATIC, DYNAMIC };
using FusionStrategy = std::vector<std::pair<FusionBehavior, size_t>>;
HB_API FusionStrategy getFusionStrategy();
/// Gives the strategy that was set before.
HB_API FusionStrategy setFusionStrategy(FusionStrategy& strategy);
HB_API void setGraphExecutorOptimize(bool on);
HB_API bool getGraphExecutorOptimize();
/// Sets that while it lives.
struct GraphOptimizerEnabledGuard {
  explicit GraphOptimizerEnabledGuard(bool on) : before_(getGraphExecutorOptimize()) { setGraphExecutorOptimize(on); }
  GraphOptimizerEnabledGuard(const GraphOptimizerEnabledGuard&) = delete;
  GraphOptimizerEnabledGuard& operator=(const GraphOptimizerEnabledGuard&) = delete;
  ~GraphOptimizerEnabledGuard() { setGraphExecutorOptimize(before_); }

 private:
  bool before_;
};
HB_API std::atomic<size_t>& getNumProfiledRuns();
HB_API size_t getBailoutDepth();
HB_API bool& getProfilingMode();
HB_API bool& getExecutorMode();
HB_API bool& getInlineEverythingMode();
HB_API void setTensorExprFuserEnabled(bool on);
HB_API bool tensorExprFuserEnabled();
/// A compiler that LibTorch had once; there, too, nothing is switched on.
namespace fuser::cuda {
inline bool setEnabled(bool) { return false; }
inline bool isEnabled() { return false; }
inline bool canBeEnabled() { return false; }
}  // namespace fuser::cuda

}  // namespace hb::bridge::jit
