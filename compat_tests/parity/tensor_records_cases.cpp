// What programs ask and change in tensors' records: options, geometry, memory, sizes as SymInts.
#include "parity/case.h"

#include <complex>
#include <cstdlib>
#include <limits>
#include <vector>

using at::Tensor;

PARITY_CASE(tensor_records, options) {
  const auto plain = torch::TensorOptions();
  const auto full = torch::TensorOptions(torch::kDouble)
                        .requires_grad(true)
                        .pinned_memory(false)
                        .memory_format(torch::MemoryFormat::ChannelsLast);
  for (const auto& [name, options] : {std::pair{"plain", plain}, std::pair{"full", full}}) {
    c.value(std::string(name) + ".format", options.has_memory_format());
    c.value(std::string(name) + ".pinned", options.has_pinned_memory());
    c.value(std::string(name) + ".grad", options.requires_grad_opt().value_or(false));
    c.value(std::string(name) + ".grad given", options.requires_grad_opt().has_value());
    c.value(std::string(name) + ".pinned given", options.pinned_memory_opt().has_value());
    c.value(std::string(name) + ".csr", options.is_sparse_csr());
  }
  const auto merged = plain.merge_memory_format(torch::MemoryFormat::ChannelsLast);
  c.value("merged", *merged.memory_format_opt() == torch::MemoryFormat::ChannelsLast);
  c.value("kept", *full.merge_memory_format(std::nullopt).memory_format_opt() == torch::MemoryFormat::ChannelsLast);
  c.value("equal", plain.type_equal(torch::TensorOptions(torch::kFloat)));
  c.value("other dtype", plain.type_equal(full));
  c.value("other layout", plain.type_equal(torch::TensorOptions().layout(torch::kSparse)));
  c.value("backend", plain.backend() == at::Backend::CPU);
  c.value("sparse", torch::TensorOptions().layout(torch::kSparse).backend() == at::Backend::SparseCPU);
  c.value("key", plain.computeDispatchKey() == c10::DispatchKey::CPU);
}

PARITY_CASE(tensor_records, geometry) {
  const Tensor x = torch::arange(24, torch::kFloat);
  const Tensor view = x.alias();
  auto* record = view.unsafeGetTensorImpl();
  record->set_sizes_contiguous({2, 3, 4});
  c.out("contiguous", view);
  record->set_sizes_and_strides(std::vector<int64_t>{4, 3}, std::vector<int64_t>{1, 4}, 2);
  c.out("strided", view);
  c.value("offset", view.storage_offset());
  c.value("size", record->size(-1) * 10 + record->stride(0));
  record->set_storage_offset(5);
  c.out("moved", view);
  c.value("dense", record->is_non_overlapping_and_dense());
  c.value("storage", record->has_storage() && record->storage_initialized() && record->dtype_initialized());
  record->set_storage_keep_dtype(torch::ones({40}).storage());
  c.out("other memory", view);
  const Tensor leaf = torch::ones({2});
  leaf.unsafeGetTensorImpl()->set_requires_grad(true);
  (leaf * 3).sum().backward();
  c.value("asks for gradients", leaf.unsafeGetTensorImpl()->requires_grad());
  c.out("gradient", leaf.unsafeGetTensorImpl()->mutable_grad());
  c.throws("dimension", [&] { record->size(7); });
  c.throws("lengths", [&] { record->set_sizes_and_strides(std::vector<int64_t>{4, 3}, std::vector<int64_t>{1}); });
}

PARITY_CASE(tensor_records, references) {
  const Tensor x = c.arange({6});
  auto& storage = x.storage();
  auto& address = storage.data_ptr();
  c.value("the tensor's", address.get() == x.data_ptr());
  c.value("bytes", static_cast<int64_t>(storage.nbytes()));
  c.value("device", address.device() == x.device());
}

PARITY_CASE(tensor_records, memory) {
  const Tensor x = torch::arange(6, torch::kFloat);
  const Tensor alias = x.view({2, 3});
  static float numbers[] = {9, 8, 7, 6, 5, 4};
  static int freed = 0;
  const auto count = [](void*) { ++freed; };
  c10::Storage storage = x.storage();
  c10::DataPtr before = storage.set_data_ptr(c10::DataPtr(numbers, numbers, count, at::kCPU));
  c.out("both see it", alias);
  c.check(x.data_ptr() == numbers, "the address is the program's");
  c.value("what was there", static_cast<float*>(before.get())[5]);
  x.add_(1);
  c.value("written", numbers[0]);
  storage.set_data_ptr_noswap(std::move(before));
  c.value("freed", freed);
  c.out("back", alias + x.view({2, 3}));

  const Tensor small = torch::zeros({2});
  c10::Storage grown = small.storage();
  auto* block = static_cast<float*>(std::calloc(8, sizeof(float)));
  grown.set_data_ptr_noswap(c10::DataPtr(
      block, block, [](void* p) { std::free(p); }, at::kCPU));
  grown.set_nbytes(8 * sizeof(float));
  c.value("bytes", static_cast<int64_t>(grown.nbytes()));
  c.out("wider", small.as_strided({8}, {1}) + 2);
  Tensor kept;
  {
    const Tensor short_lived = torch::full({3}, 7.f);
    c10::DataPtr mine = short_lived.storage().set_data_ptr(c10::DataPtr());
    kept = torch::from_blob(mine.get(), {3}).clone();
  }
  c.out("outlives its tensor", kept);
}

PARITY_CASE(tensor_records, symbolic_sizes) {
  const Tensor x = c.randn({2, 3, 4});
  const std::vector<c10::SymInt> sizes{6, 4};
  c.value("size", x.sym_size(-1).expect_int() + x.sym_numel().expect_int() * 100);
  c.value("stride", x.sym_stride(0).expect_int() + x.sym_storage_offset().expect_int());
  c.value("of all", x.sym_sizes()[1].expect_int() * 10 + x.sym_strides()[1].expect_int());
  c.out("view", x.view_symint(sizes));
  c.out("reshape", x.reshape_symint(sizes));
  c.out("expand", x.select_symint(0, 1).expand_symint(std::vector<c10::SymInt>{5, 3, 4}));
  c.out("narrow", x.narrow_symint(1, c10::SymInt(1), c10::SymInt(2)));
  c.out("slice", x.slice_symint(2, c10::SymInt(1), std::nullopt, 2));
  c.out("zeros", x.new_zeros_symint(sizes));
  c.out("repeat", x.repeat_symint(std::vector<c10::SymInt>{1, 2, 1}));
  c.out("split", x.split_symint(c10::SymInt(2), 2)[1]);
  c.out("topk", std::get<0>(x.topk_symint(2)));
  std::ostringstream text;
  text << x.sym_size(1);
  c.text("text", text.str());
}

PARITY_CASE(tensor_records, scalars_and_generators) {
  const c10::Scalar z(c10::complex<double>(1, -2));
  c.value("conj", z.conj().toComplexDouble().imag());
  c.value("log", z.log().toComplexDouble().real());
  c.value("log of a number", c10::Scalar(2.5).log().toDouble());
  c.value("symbolic", z.isSymbolic() || c10::Scalar(3).isSymInt());
  c.throws("too large", [] { c10::Scalar(c10::complex<double>(1e300, 0)).toComplexFloat(); });
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(5);
  const auto owner = generator.getIntrusivePtr();
  c.value("seed", static_cast<int64_t>(owner->current_seed()));
  c.check(at::Generator(owner).unsafeGetGeneratorImpl() == generator.unsafeGetGeneratorImpl(), "one generator");
  auto copy = generator.clone();
  c.out("same numbers", torch::rand({3}, copy) - torch::rand({3}, generator));
}

PARITY_CASE(tensor_records, requires_grad_of_results) {
  const Tensor x = c.leaf({2}), y = x * 2;
  y.unsafeGetTensorImpl()->set_requires_grad(false);
  c.value("requires_grad", y.requires_grad());
  c.value("history", y.grad_fn() != nullptr);
  struct Holder : torch::nn::Module {
  } holder;
  c.value("as a parameter", holder.register_parameter("p", y, false).requires_grad());
  c.throws("requires_grad_", [&] { y.requires_grad_(false); });
}

PARITY_CASE(tensor_records, undefined) {
  const Tensor none;
  c.value("version", none._version());
  c.value("memory format", static_cast<int64_t>(none.suggest_memory_format()));
}

PARITY_CASE(tensor_records, versions_of_new_tensors) {
  const auto wants_grad = torch::TensorOptions().requires_grad(true);
  const Tensor x = c.rand({3});
  const std::vector<Tensor> fresh{torch::rand({3}),
                                  torch::rand({3}, wants_grad),
                                  torch::randn({3}),
                                  torch::randn({3}, wants_grad),
                                  torch::rand({3}, torch::kComplexFloat),
                                  torch::randn({3}, torch::kComplexFloat),
                                  torch::randint(9, {3}),
                                  torch::randint(2, 9, {3}),
                                  torch::randperm(3),
                                  torch::rand_like(x),
                                  torch::randn_like(x),
                                  torch::randint_like(x, 9),
                                  torch::normal(0, 1, {3}),
                                  at::normal(x, 1),
                                  at::normal(0, x),
                                  at::normal(x, x),
                                  torch::bernoulli(x),
                                  torch::bernoulli(x, 0.5),
                                  torch::poisson(x),
                                  torch::multinomial(x, 2),
                                  torch::full({3}, 1),
                                  torch::full_like(x, 1),
                                  torch::arange(3),
                                  torch::linspace(0, 1, 3),
                                  torch::eye(3),
                                  torch::diag(x)};
  for (size_t i = 0; i < fresh.size(); ++i) c.value(std::to_string(i), static_cast<int64_t>(fresh[i]._version()));
}
