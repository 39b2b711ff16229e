// Pointers to what LibTorch counts itself, owning and weak, and the types that values say they have.
#include <array>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "parity/case.h"

#include <ATen/TensorUtils.h>

namespace {
struct Counted : c10::intrusive_ptr_target {
  explicit Counted(int* told) : resources_released(told) {}
  void release_resources() override { ++*resources_released; }
  int* resources_released;
  int number = 3;
};

void type_texts(parity::Case& c, const std::string& name, const c10::IValue& value) {
  c.text(name + ".str", value.type()->str());
  c.text(name + ".annotation", value.type()->annotation_str());
}
}  // namespace

PARITY_CASE(object_pointers, weak) {
  int released = 0;
  auto owner = c10::make_intrusive<Counted>(&released);
  c10::weak_intrusive_ptr<Counted> first(owner), second = first;
  c.check(first == second && !first.expired() && first.lock()->number == 3, "it finds the object");
  c.value("owners", static_cast<int64_t>(first.use_count()));
  c.value("weak", static_cast<int64_t>(first.weak_use_count()));
  c.value("weak of an owner", static_cast<int64_t>(owner.weak_use_count()));
  {
    const auto other = owner;
    c.value("two owners", static_cast<int64_t>(first.use_count()));
    c.check(!owner.unique(), "two owners");
  }
  c.check(owner.unique(), "a weak pointer does not own");
  owner.reset();
  c.value("released", static_cast<int64_t>(released));
  c.value("weak alone", static_cast<int64_t>(first.weak_use_count()));
  c.check(first.expired() && !first.lock() && first.use_count() == 0, "the object is gone");
  second.reset();
  c.value("last weak", static_cast<int64_t>(first.weak_use_count()));

  owner = c10::make_intrusive<Counted>(&released);
  c10::weak_intrusive_ptr<Counted>(owner).reset();
  owner.reset();
  c.value("released without weak pointers", static_cast<int64_t>(released));
}

PARITY_CASE(object_pointers, weak_tensor) {
  torch::Tensor t = c.randn({3});
  c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> weak(t.getIntrusivePtr());
  const auto storage = t.storage().getWeakStorageImpl();
  {
    const torch::Tensor again(weak.lock());
    c.out("again", again);
    c.check(again.is_same(t) && t.use_count() == 2, "the same tensor");
  }
  {
    const torch::Storage keeper = t.storage();
    t.reset();
    c.check(weak.expired() && !storage.expired(), "a storage keeps the memory");
  }
  c.check(storage.expired(), "nobody keeps the memory");
}

PARITY_CASE(object_pointers, handed_over) {
  using TensorPtr = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  torch::Tensor t = c.randn({2});
  const TensorPtr other = t.getIntrusivePtr();
  c.value("owners", static_cast<int64_t>(t.use_count()));
  c10::TensorImpl* raw = t.unsafeReleaseTensorImpl();
  c.check(!t.defined() && raw == other.get(), "given away");
  const torch::Tensor back(TensorPtr::reclaim(raw));
  c.value("owners of what is back", static_cast<int64_t>(back.use_count()));
  torch::Tensor released = back;
  auto ptr = released.unsafeReleaseIntrusivePtr();
  c.check(!released.defined() && at::Tensor::wrap_tensor_impl(ptr).is_same(back), "wrapped");
  c10::TensorImpl* counted = ptr.release();
  c.check(!ptr.defined() && back.use_count() == 3, "released, still counted");
  ptr = TensorPtr::reclaim(counted);
  c.check(std::unordered_set<TensorPtr>{ptr, other}.size() == 1, "one hash for one object");
  c.check(torch::Tensor().unsafeGetTensorImpl() == c10::UndefinedTensorImpl::singleton(), "undefined");
  int told = 0;
  const c10::intrusive_ptr<Counted> unique(std::make_unique<Counted>(&told));
  c.value("from unique_ptr", static_cast<int64_t>(unique.use_count()));
}

PARITY_CASE(object_pointers, value_types) {
  type_texts(c, "ints", std::vector<int64_t>{1});
  type_texts(c, "tensors", std::vector<torch::Tensor>{});
  type_texts(c, "lists", c10::Dict<std::string, c10::List<int64_t>>());
  type_texts(c, "tuple", std::make_tuple(1.0, int64_t{2}, std::vector<std::string>{"a"}));
  type_texts(c, "no items", std::make_tuple());
  type_texts(c, "optionals", c10::List<std::optional<torch::Tensor>>());
  type_texts(c, "nested", c10::List<c10::List<double>>());
}

PARITY_CASE(object_pointers, arrays) {
  const c10::IValue ints(std::array<int64_t, 3>{1, 2, 3}), flags(std::array<bool, 2>{true, false});
  type_texts(c, "ints", ints);
  type_texts(c, "flags", flags);
  c.check(ints.isIntList() && flags.isBoolList() && ints.toIntVector()[2] == 3, "lists");
  const auto back = ints.to<std::array<int64_t, 3>>();
  c.check(back[0] == 1 && back[2] == 3, "the same numbers");
  c.throws("size", [&] { ints.to<std::array<int64_t, 2>>(); });
}

PARITY_CASE(object_pointers, check_backend) {
  const auto dense = c.randn({2});
  at::checkBackend("f", {dense, torch::Tensor()}, at::Backend::CPU);
  at::checkBackend("f", {dense.to_sparse()}, at::Backend::SparseCPU);
  c.throws("sparse", [&] { at::checkBackend("f", {dense, dense.to_sparse()}, at::Backend::CPU); });
  c.throws("no GPU", [&] { at::checkBackend("f", {dense}, at::Backend::CUDA); });
}
