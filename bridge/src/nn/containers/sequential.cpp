#include <halfbridge/bridge/nn/containers/sequential.h>

#include <ostream>

namespace hb::bridge::nn {
inline namespace modules {

AnyModulePlaceholder::~AnyModulePlaceholder() = default;

namespace detail_any {
namespace {
class TensorModuleHolder final : public AnyModulePlaceholder {
 public:
  TensorModuleHolder(const std::type_info& type, std::shared_ptr<Module> module, TensorForward forward)
      : AnyModulePlaceholder(type), module_(std::move(module)), forward_(forward) {}

  AnyValue forward(std::vector<AnyValue>&& arguments) override {
    prepare_arguments(*module_, type_info, 1, arguments);
    return AnyValue(run(argument<Tensor>(arguments, 0)));
  }
  bool forward_tensor(Tensor& value) override {
    if (module_->_forward_has_default_args()) return false;
    value = run(std::move(value));
    return true;
  }
  std::shared_ptr<Module> ptr() override { return module_; }
  hb::detail::Owned<AnyModulePlaceholder> copy() const override {
    return hold_tensor_module(type_info, module_, forward_);
  }
  hb::detail::Owned<AnyModulePlaceholder> clone_module(std::optional<Device> device) const override {
    auto clone = module_->clone(device);
    const Module& from = *module_;
    const Module* to = clone.get();
    HB_CHECK(to && typeid(*to) == typeid(from), "Attempted to clone a module of type ", demangle(typeid(from).name()),
             ", but its clone() gave a module of another type");
    return hold_tensor_module(type_info, std::move(clone), forward_);
  }

 private:
  Tensor run(Tensor&& input) {
    auto call = [this](Tensor&& value) { return forward_(*module_, std::move(value)); };
    return module_->call_hooked(call, std::move(input));
  }

  std::shared_ptr<Module> module_;
  TensorForward forward_;
};
}  // namespace

hb::detail::Owned<AnyModulePlaceholder> hold_tensor_module(const std::type_info& type, std::shared_ptr<Module> module,
                                                           TensorForward forward) {
  return hb::detail::Owned<AnyModulePlaceholder>(new TensorModuleHolder(type, std::move(module), forward));
}

void prepare_arguments(Module& module, const std::type_info& type, size_t wanted, std::vector<AnyValue>& arguments) {
  const size_t given = arguments.size();
  if (module._forward_has_default_args()) {
    HB_CHECK(given >= module._forward_num_required_args() && given <= wanted, demangle(type.name()),
             "'s forward() method expects at least ", module._forward_num_required_args(), " argument(s) and at most ",
             wanted, " argument(s), but received ", given, ".");
    arguments = module._forward_populate_default_args(std::move(arguments));
    return;
  }
  HB_CHECK(given == wanted, demangle(type.name()), "'s forward() method expects ", wanted,
           " argument(s), but received ", given, ".",
           given < wanted ? " If " + demangle(type.name()) +
                                "'s forward() method has default arguments, please make sure the forward() method is "
                                "declared with a corresponding `FORWARD_HAS_DEFAULT_ARGS` macro."
                          : "");
}

void wrong_argument(size_t index, const std::type_info& wanted, const std::type_info& got) {
  hb::detail::fail<Error>("Expected argument #", index, " to be of type ", demangle(wanted.name()),
                          ", but received value of type ", demangle(got.name()));
}
void wrong_cast(const std::type_info& from, const std::type_info& to) {
  throw Error(
      hb::detail::str("Attempted to cast module of type ", demangle(from.name()), " to type ", demangle(to.name())));
}
void wrong_result(const std::type_info& is, const std::type_info& wanted) {
  hb::detail::fail<Error>("The type of the return value is ", demangle(is.name()), ", but you asked for type ",
                          demangle(wanted.name()));
}
}  // namespace detail_any

AnyModule::AnyModule() = default;
AnyModule::AnyModule(AnyModule&&) noexcept = default;
AnyModule& AnyModule::operator=(AnyModule&&) noexcept = default;
AnyModule::AnyModule(const AnyModule& other) : content_(other.content_ ? other.content_->copy() : nullptr) {}
AnyModule& AnyModule::operator=(const AnyModule& other) { return *this = AnyModule(other); }
AnyModule::~AnyModule() = default;
void AnyModule::add_value(std::vector<AnyValue>& values, AnyValue&& value) { values.push_back(std::move(value)); }
AnyModule AnyModule::clone(std::optional<Device> device) const {
  AnyModule result;
  if (content_) result.content_ = content_->clone_module(device);
  return result;
}

Sequential::Sequential() = default;
Sequential::Sequential(std::initializer_list<NamedAnyModule> named_modules)
    : ModuleHolder(std::make_shared<SequentialImpl>(named_modules)) {}

SequentialImpl::SequentialImpl() = default;
SequentialImpl::SequentialImpl(OrderedDict<std::string, AnyModule>&& ordered_dict) {
  for (auto& item : ordered_dict) push_back(item.key(), std::move(item.value()));
}
SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> named_modules) {
  for (const auto& m : named_modules) push_back(m.name(), m.module());
}
void SequentialImpl::push_back(AnyModule any_module) {
  push_back(std::to_string(modules_.size()), std::move(any_module));
}
SequentialImpl::Iterator SequentialImpl::begin() { return modules_.begin(); }
SequentialImpl::ConstIterator SequentialImpl::begin() const { return modules_.begin(); }
SequentialImpl::Iterator SequentialImpl::end() { return modules_.end(); }
SequentialImpl::ConstIterator SequentialImpl::end() const { return modules_.end(); }
std::shared_ptr<Module> SequentialImpl::ptr(size_t index) const {
  check_index(index);
  return modules_[index].ptr();
}
void SequentialImpl::check_index(size_t index) const { HB_CHECK(index < size(), "Index out of range"); }

std::shared_ptr<Module> SequentialImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<SequentialImpl>();
  const auto children = named_children();
  size_t from = 0;  // children are in the order of the modules, but for those that have been replaced or unregistered
  const auto name_of = [&](const AnyModule& module) {
    for (size_t i = from; i < children.size(); ++i)
      if (children[i].value() == module.ptr()) return from = i + 1, children[i].key();
    return std::to_string(copy->size());
  };
  for (const auto& module : modules_) copy->push_back(name_of(module), module.clone(device));
  return copy;
}

void SequentialImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Sequential"; }

void SequentialImpl::push_back(std::string name, AnyModule any_module) {
  modules_.push_back(std::move(any_module));
  register_module(std::move(name), modules_.back().ptr());
}

// A plain chain of tensors is not boxed; from the first module with another signature on, values are.
Tensor SequentialImpl::forward_tensor(Tensor input) {
  for (size_t i = 0; i < modules_.size(); ++i) {
    if (modules_[i].forward_tensor(input)) continue;
    AnyValue value = forward_rest(AnyValue(std::move(input)), i);
    if (auto* result = value.try_get<Tensor>()) return std::move(*result);
    detail_any::wrong_result(value.type_info(), typeid(Tensor));
  }
  return input;
}

AnyValue SequentialImpl::forward_rest(AnyValue value, size_t from) {
  for (size_t i = from; i < modules_.size(); ++i) value = modules_[i].any_forward(std::move(value));
  return value;
}

}  // namespace modules
}  // namespace hb::bridge::nn
