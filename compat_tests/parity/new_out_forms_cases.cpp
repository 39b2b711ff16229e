// New tensors that are written to a tensor of the caller's, and their options one by one.
#include "parity/bad.h"
#include "parity/case.h"

PARITY_CASE(new_out_forms, filled) {
  const torch::Tensor x = c.randn({2, 3});
  for (const torch::Dtype dtype : {torch::kFloat, torch::kDouble, torch::kLong}) {
    c.scope(torch::toString(dtype), [&] {
      const auto fresh = [&] { return torch::empty({0}, x.options().dtype(dtype)); };
      torch::Tensor out = fresh();
      c.out("zeros_like", torch::zeros_like_out(out, x));
      c.out("ones_like", torch::ones_like_out(out, x));
      c.out("full_like", torch::full_like_out(out, x, 3));
      c.layout("turned around", torch::zeros_like_out(out = fresh(), x.t()));
      c.out("new_zeros", torch::new_zeros_out(out = fresh(), x, {2}));
      c.out("new_ones", torch::new_ones_out(out, x, {2}));
      c.out("new_full", torch::new_full_out(out, x, {2}, 7));
      c.out("scalar_tensor", torch::scalar_tensor_out(out = fresh(), 3));
      c.shape_only("empty", torch::empty_out(out = fresh(), {2, 3}));
      c.shape_only("empty_like", torch::empty_like_out(out, x));
      c.shape_only("new_empty", torch::new_empty_out(out = fresh(), x, {4}));
      c.shape_only("empty_strided", torch::empty_strided_out(out = fresh(), {2, 2}, {1, 2}));
      c.shape_only("new_empty_strided", torch::new_empty_strided_out(out, x, {2, 2}, {1, 2}));
      c.shape_only("empty_permuted", torch::empty_permuted_out(out = fresh(), {2, 3}, {1, 0}));
      c.out("outf", torch::new_full_outf(x, torch::IntArrayRef({2}), 7, out = fresh()));
    });
  }
}

PARITY_CASE(new_out_forms, random) {
  const torch::Tensor x = c.randn({2, 3});
  torch::Tensor out = torch::empty({0}, x.options()), numbers = torch::empty({0}, x.options().dtype(torch::kLong));
  torch::manual_seed(5);
  c.out("rand_like", torch::rand_like_out(out, x));
  c.out("randn_like", torch::randn_like_out(out, x));
  c.out("randint_like", torch::randint_like_out(out, x, 5));
  c.out("randint_like of two", torch::randint_like_out(out, x, 2, 5));
  c.out("randint_like of int64", torch::randint_like_out(numbers, x, 5));
  BAD(torch::rand_like_out(numbers, x));
}

PARITY_CASE(new_out_forms, series) {
  for (const torch::Dtype dtype : {torch::kFloat, torch::kDouble}) {
    c.scope(torch::toString(dtype), [&] {
      const auto fresh = [&] { return torch::empty({0}, c.randn({1}).options().dtype(dtype)); };
      torch::Tensor out;
      c.out("fftfreq", torch::fft_fftfreq_out(out = fresh(), 5));
      c.out("rfftfreq", torch::fft_rfftfreq_out(out = fresh(), 4, 0.5));
      c.out("hann", torch::hann_window_out(out = fresh(), 5));
      c.out("hann, symmetric", torch::hann_window_out(out, 5, false));
      c.out("hamming", torch::hamming_window_out(out, 5));
      c.out("hamming of two", torch::hamming_window_out(out, 5, true, 0.5, 0.4));
      c.out("blackman", torch::blackman_window_out(out, 5, true));
      c.out("bartlett", torch::bartlett_window_out(out, 5, false));
      c.out("kaiser", torch::kaiser_window_out(out, 5));
      c.out("kaiser of one", torch::kaiser_window_outf(5, false, 3.0, out));
    });
  }
}

PARITY_CASE(new_out_forms, refused) {
  const torch::Tensor x = c.randn({2, 3});
  torch::Tensor out = torch::empty({0}, x.options());
  SAYS("memory_format' argument is incompatible",
       torch::empty_out(out, {1, 2, 2, 2}, torch::MemoryFormat::ChannelsLast));
}

PARITY_CASE(new_out_forms, permuted) {
  c.layout("three", torch::empty_permuted({2, 3, 4}, {2, 0, 1}).zero_());
  c.layout("one", torch::empty_permuted({2}, {0}, torch::kLong).zero_());
  c.layout("none", torch::empty_permuted({0, 3}, {1, 0}));
  c.layout("by options", at::empty_permuted({2, 3}, {1, 0}, torch::kLong, {}, {}, {}).zero_());
  SAYS("does not match the length of the physical_layout", torch::empty_permuted({2, 3, 4}, {2, 0}));
  SAYS("Duplicate dim not allowed", torch::empty_permuted({2, 3, 4}, {2, 0, 0}));
  SAYS("Dimension out of range", torch::empty_permuted({2, 3, 4}, {2, 0, 5}));
}

PARITY_CASE(new_out_forms, options_one_by_one) {
  const torch::Tensor x = c.randn({2, 3});
  c.out("new_zeros", x.new_zeros({2}, torch::kLong, {}, {}, {}));
  c.out("new_ones", x.new_ones({2}, {}, {}, {}, {}));
  c.out("new_full", x.new_full({2}, 3, torch::kDouble, {}, {}, {}));
  c.shape_only("new_empty", x.new_empty({2}, torch::kHalf, {}, {}, {}));
  c.layout("new_empty_strided", x.new_empty_strided({2, 2}, {1, 2}, torch::kInt, {}, {}, {}).zero_());
  c.out("to", x.to(torch::kLong, {}, {}, {}, false, true, {}));
  c.check(x.to({}, {}, {}, {}, false, false, {}).is_same(x), "to nothing else is the tensor");
  c.out("_to_copy", at::_to_copy(x, torch::kDouble, {}, {}, {}, false, {}));
  torch::Tensor out = torch::empty({0}, x.options().dtype(torch::kDouble));
  c.out("_to_copy, out", torch::_to_copy_out(out, x));
}

PARITY_CASE(new_out_forms, batch_norm) {
  const torch::Tensor x = c.randn({4, 3}), weight = c.randn({3}), bias = c.randn({3});
  torch::Tensor out = torch::empty({0}, x.options()), mean = torch::empty({0}, x.options()),
                invstd = torch::empty({0}, x.options()), reserve = torch::empty({0}, x.options().dtype(torch::kByte)),
                running_mean = c.randn({3}), running_var = c.rand({3});
  torch::native_batch_norm_out(out, mean, invstd, x, {}, {}, {}, {}, true, 0.1, 1e-5);
  c.out("out", out);
  c.out("mean", mean);
  c.out("invstd", invstd);
  torch::_batch_norm_with_update_out(out, mean, invstd, reserve, x, weight, bias, running_mean, running_var, 0.1, 1e-5);
  c.out("updated", out);
  c.out("running mean", running_mean);
  c.out("running var", running_var);
  c.shape_only("reserve", reserve);
  const auto made = torch::_batch_norm_with_update(x, weight, bias, running_mean, running_var, 0.1, 1e-5);
  c.out("with update", std::get<0>(made));
  c.out("its mean", std::get<1>(made));
  c.shape_only("its reserve", std::get<3>(made));
  c.out("no update", std::get<0>(torch::_batch_norm_no_update(x, weight, bias, running_mean, running_var, 0.1, 1e-5)));
  const auto functional =
      torch::_batch_norm_with_update_functional(x, weight, bias, running_mean, running_var, 0.1, 1e-5);
  c.out("functional", std::get<0>(functional));
  c.out("new running mean", std::get<4>(functional));
  c.out("new running var", std::get<5>(functional));
  c.out("old running mean", running_mean);
  const auto legit =
      torch::_native_batch_norm_legit_functional(x, weight, bias, running_mean, running_var, true, 0.1, 1e-5);
  c.out("legit", std::get<0>(legit));
  c.out("legit running var", std::get<4>(legit));
  const torch::Tensor leaf = c.leaf({4, 3}, torch::kFloat);
  c.gradients("gradient", {leaf}, [&] {
    return std::get<0>(torch::_batch_norm_with_update(leaf, weight, bias, running_mean, running_var, 0.1, 1e-5));
  });
}
