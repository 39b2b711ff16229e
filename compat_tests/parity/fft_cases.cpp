// torch::fft, stft and istft.
#include "parity/complex_leaf.h"

using parity::complex_leaf;
using torch::Tensor;

namespace {
const parity::Dtypes kParts{torch::kFloat, torch::kDouble};
// Powers, small primes and their products, primes that need a convolution, and lengths that are cut in two.
const std::vector<int64_t> kLengths{1,  2,  3,  4,  5,  6,  7,  8,   9,   12,  15,  16,
                                    30, 31, 37, 49, 64, 74, 97, 100, 121, 210, 256, 1009};
}  // namespace

PARITY_CASE(fft, lengths) {
  c.tolerance(torch::kFloat, 1e-4, 2e-4);
  for (const int64_t n : kLengths) {
    c.scope(std::to_string(n), [&] {
      c.for_dtypes(kParts, [&](torch::Dtype dtype) {
        const Tensor x = c.leaf({3, n}, dtype), z = complex_leaf(c, {3, n}, dtype);
        c.gradients("fft", {z}, [&] { return torch::fft::fft(z); });
        c.gradients("ifft", {z}, [&] { return torch::fft::ifft(z); });
        c.gradients("rfft", {x}, [&] { return torch::fft::rfft(x); });
        c.gradients("irfft", {z}, [&] { return torch::fft::irfft(z, n); });
        c.gradients("hfft", {z}, [&] { return torch::fft::hfft(z, n); });
        c.gradients("ihfft", {x}, [&] { return torch::fft::ihfft(x); });
        c.out("of real", torch::fft::fft(x));
      });
    });
  }
}

PARITY_CASE(fft, long_lines) {
  c.tolerance(torch::kFloat, 1e-4, 1e-3);
  for (const int64_t n : {2048, 3000, 4096, 4099, 6561, 65536})
    for (const int64_t lines : {1, 9})
      c.scope(std::to_string(n) + "x" + std::to_string(lines), [&] {
        const Tensor x = c.randn({lines, n}), z = torch::complex(x, c.randn({lines, n}));
        c.out("fft", torch::fft::fft(z));
        c.out("ifft", torch::fft::ifft(z));
        c.out("rfft", torch::fft::rfft(x));
        c.out("irfft", torch::fft::irfft(torch::fft::rfft(x), n));
        c.out("columns", torch::fft::fft(z.t(), {}, 0));
      });
}

PARITY_CASE(fft, many_lines) {
  for (const int64_t lines : {1, 2, 7, 8, 9, 16, 33}) {
    const Tensor z = torch::complex(c.randn({lines, 12}), c.randn({lines, 12}));
    c.out(std::to_string(lines), torch::fft::fft(z));
    c.out(std::to_string(lines) + " columns", torch::fft::fft(z.t().contiguous(), {}, 0));
    c.out(std::to_string(lines) + " real", torch::fft::rfft(torch::real(z)));
  }
  // A line is nobody else's: silence stays silence beside noise, and NaN stays in its line.
  Tensor x = c.randn({5, 16});
  x[1].fill_(0);
  x[3].fill_(std::numeric_limits<float>::quiet_NaN());
  c.out("apart", torch::fft::rfft(x).select(0, 1));
  c.out("not a number", torch::isnan(torch::fft::rfft(x).abs()).all(1));
}

PARITY_CASE(fft, many_lengths) {
  c.tolerance(torch::kFloat, 1e-4, 3e-4);
  for (const int64_t n : {8, 20, 32, 62, 77, 128, 300, 384, 512, 1024, 1040, 2046}) {
    c.scope(std::to_string(n), [&] {
      c.for_dtypes(kParts, [&](torch::Dtype dtype) {
        const Tensor x = c.leaf({21, n}, dtype), z = complex_leaf(c, {21, n}, dtype);
        c.gradients("fft", {z}, [&] { return torch::fft::fft(z); });
        c.gradients("ifft", {z}, [&] { return torch::fft::ifft(z); });
        c.gradients("rfft", {x}, [&] { return torch::fft::rfft(x, {}, -1, "forward"); });
        c.gradients("irfft", {z}, [&] { return torch::fft::irfft(z, n); });
        c.out("columns", torch::fft::fft(z.t().contiguous(), {}, 0));
      });
    });
  }
}

PARITY_CASE(fft, dimensions) {
  c.for_dtypes(kParts, [&](torch::Dtype dtype) {
    const Tensor x = c.leaf({2, 6, 5, 4}, dtype), z = complex_leaf(c, {2, 6, 5, 4}, dtype);
    const std::vector<int64_t> dims{1, 3}, sizes{8, 3};
    c.gradients("dim", {z}, [&] { return torch::fft::fft(z, {}, 1); });
    c.gradients("longer", {z}, [&] { return torch::fft::fft(z, 9, -2); });
    c.gradients("shorter", {x}, [&] { return torch::fft::rfft(x, 4, 1); });
    c.gradients("fft2", {z}, [&] { return torch::fft::fft2(z); });
    c.gradients("ifft2", {z}, [&] { return torch::fft::ifft2(z); });
    c.gradients("rfft2", {x}, [&] { return torch::fft::rfft2(x); });
    c.gradients("irfft2", {z}, [&] { return torch::fft::irfft2(z); });
    c.gradients("fftn", {z}, [&] { return torch::fft::fftn(z); });
    c.gradients("fftn dims", {z}, [&] { return torch::fft::fftn(z, sizes, dims); });
    c.gradients("ifftn", {z}, [&] { return torch::fft::ifftn(z, {}, dims); });
    c.gradients("rfftn", {x}, [&] { return torch::fft::rfftn(x, {}, dims); });
    c.gradients("rfftn sizes", {x}, [&] { return torch::fft::rfftn(x, sizes, dims); });
    c.gradients("irfftn", {z}, [&] { return torch::fft::irfftn(z, sizes, dims); });
    c.out("hfft2", torch::fft::hfft2(z));
    c.out("ihfft2", torch::fft::ihfft2(x));
    for (const char* norm : {"forward", "backward", "ortho"}) {
      c.gradients(std::string("fft2 ") + norm, {z}, [&] { return torch::fft::fft2(z, {}, {-2, -1}, norm); });
      c.gradients(std::string("ifft ") + norm, {z}, [&] { return torch::fft::ifft(z, {}, -1, norm); });
      c.gradients(std::string("rfft ") + norm, {x}, [&] { return torch::fft::rfft(x, {}, -1, norm); });
      c.gradients(std::string("irfft ") + norm, {z}, [&] { return torch::fft::irfft(z, 7, -1, norm); });
      c.gradients(std::string("hfft ") + norm, {z}, [&] { return torch::fft::hfft(z, {}, -1, norm); });
    }
    c.out("strided", torch::fft::fft(z.detach().permute({3, 1, 0, 2}), {}, 1));
  });
  c.out("integers", torch::fft::fft(c.arange({6}, torch::kLong)));
}

PARITY_CASE(fft, errors) {
  c.throws("points", [&] { torch::fft::fft(c.randn({4}), 0); });
  c.throws("norm", [&] { torch::fft::fft(c.randn({4}), {}, -1, "none"); });
  c.throws("complex", [&] { torch::fft::rfft(torch::zeros({4}, torch::kComplexFloat)); });
  c.throws("dims", [&] { torch::fft::fft2(c.randn({4, 4}), {}, {1, 1}); });
  c.throws("no dim", [&] { torch::fft::fft(torch::tensor(1.0)); });
  c.throws("sizes", [&] { torch::fft::fftn(c.randn({4, 4}), torch::IntArrayRef{4, 4}, torch::IntArrayRef{1}); });
  c.throws("half", [&] { torch::fft::fft(c.randn({5}).to(torch::kHalf)); });
}

PARITY_CASE(fft, gradchecks) {
  const Tensor x = c.leaf({2, 6}, torch::kDouble), pairs = c.leaf({2, 4, 2}, torch::kDouble);
  c.gradgradcheck([&] { return torch::view_as_real(torch::fft::rfft(x)).pow(2); }, {x});
  c.gradgradcheck([&] { return torch::fft::irfft(torch::view_as_complex(pairs), 6).pow(2); }, {pairs});
  c.gradgradcheck([&] { return torch::view_as_real(torch::fft::fft(torch::view_as_complex(pairs))).pow(2); }, {pairs});
}

PARITY_CASE(fft, helpers) {
  for (const int64_t n : {1, 2, 5, 8}) {
    c.out("fftfreq" + std::to_string(n), torch::fft::fftfreq(n));
    c.out("rfftfreq" + std::to_string(n), torch::fft::rfftfreq(n, 0.5, torch::kFloat));
    const Tensor x = c.arange({n, 3});
    c.out("fftshift" + std::to_string(n), torch::fft::fftshift(x));
    c.out("ifftshift" + std::to_string(n), torch::fft::ifftshift(x, torch::IntArrayRef{0}));
  }
}

PARITY_CASE(fft, stft) {
  c.tolerance(torch::kFloat, 1e-4, 1e-4);
  const Tensor x = c.leaf({2, 100}), window = torch::hann_window(16);
  const auto stft = [&](int64_t n, int64_t hop, int64_t win, const Tensor& w, bool center, bool normalized,
                        c10::optional<bool> onesided) {
    return torch::stft(x, n, hop, win, w, center, "reflect", normalized, onesided, true);
  };
  c.gradients("centred", {x}, [&] { return stft(16, 4, 16, window, true, false, c10::nullopt); });
  c.gradients("not centred", {x}, [&] { return stft(16, 5, 16, window, false, false, c10::nullopt); });
  c.gradients("normalized", {x}, [&] { return stft(16, 4, 16, window, true, true, c10::nullopt); });
  c.gradients("two sides", {x}, [&] { return stft(16, 4, 16, window, true, false, false); });
  c.gradients("short window", {x}, [&] { return stft(20, 6, 16, window, true, false, true); });
  c.gradients("no window", {x}, [&] { return x.stft(15, 5, 11, {}, false, c10::nullopt, true); });
  c.gradients("magnitude", {x}, [&] { return stft(16, 4, 16, window, true, false, c10::nullopt).abs(); });
  c.out("one line", torch::stft(x[0], 16, 4, 16, window, true, "constant", false, c10::nullopt, true));
  c.out("parts", torch::stft(x.detach(), 16, 4, 16, window, true, "reflect", false, true, false));
  c.layout("layout", stft(16, 4, 16, window, true, false, c10::nullopt));
  c.throws("return_complex", [&] { torch::stft(x, 16); });
  c.throws("window", [&] { stft(16, 4, 12, window, true, false, c10::nullopt); });
  c.throws("n_fft", [&] { stft(200, 4, 16, window, false, false, c10::nullopt); });
}

PARITY_CASE(fft, istft) {
  c.tolerance(torch::kFloat, 1e-4, 1e-4);
  const Tensor x = c.randn({2, 96}), window = torch::hann_window(16);
  const Tensor spec = torch::stft(x, 16, 4, 16, window, true, "reflect", false, true, true).detach().requires_grad_();
  c.gradients("back", {spec}, [&] { return torch::istft(spec, 16, 4, 16, window); });
  c.gradients("length", {spec}, [&] { return torch::istft(spec, 16, 4, 16, window, true, false, true, 90); });
  c.gradients("longer", {spec}, [&] { return torch::istft(spec, 16, 4, 16, window, true, false, true, 120); });
  c.gradients("normalized", {spec}, [&] { return spec.istft(16, 4, 16, window, true, true); });
  c.out("one line", torch::istft(spec[0], 16, 4, 16, window));
  const Tensor both = torch::stft(x, 16, 4, 16, window, true, "reflect", false, false, true);
  c.out("two sides", torch::istft(both, 16, 4, 16, window, true, false, false));
  c.throws("real", [&] { torch::istft(c.randn({9, 5, 2}), 16); });
  c.throws("uncovered", [&] { torch::istft(spec, 16, 4, 16, window, false); });
  c.throws("frequencies", [&] { torch::istft(spec, 20); });
}

PARITY_CASE(fft, spectral_convolution) {
  // The layer of a Fourier neural operator: low frequencies times complex weights.
  const Tensor x = c.leaf({2, 3, 8, 8});
  const Tensor w = complex_leaf(c, {3, 4, 3, 3});
  c.gradients("y", {x, w}, [&] {
    const Tensor spectrum = torch::fft::rfft2(x);
    Tensor out = torch::zeros({2, 4, 8, 5}, torch::kComplexFloat);
    using torch::indexing::Slice;
    const auto low = spectrum.index({Slice(), Slice(), Slice(0, 3), Slice(0, 3)});
    out.index_put_({Slice(), Slice(), Slice(0, 3), Slice(0, 3)}, torch::einsum("bixy,ioxy->boxy", {low, w}));
    return torch::fft::irfft2(out, torch::IntArrayRef{8, 8});
  });
}
