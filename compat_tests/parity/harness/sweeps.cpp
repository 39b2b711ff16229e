// Sweeps: one body over dtypes, layouts and edge shapes.
#include "recorder.h"

namespace parity {

void Case::scope(const std::string& label, const std::function<void()>& body) {
  const std::string outer = scope_;
  const auto tolerances = tolerances_;
  const auto state = state_;
  scope_ += label + "/";
  seed();  // a step that throws must not change what the next one draws
  try {
    body();
  } catch (const std::exception& error) {
    fail(std::string("threw ") + error.what());
  }
  scope_ = outer;
  tolerances_ = tolerances;
  state_ = state;
}

void Case::for_layouts(Shape shape, Dtype dtype, const std::function<void(Tensor)>& body) {
  for_layouts_of(any(shape, dtype), body);
}

void Case::for_layouts_of(const Tensor& x, const std::function<void(Tensor)>& body) {
  const int64_t rank = x.dim();
  if (rank == 0) throw std::invalid_argument("for_layouts takes a shape of at least one dimension");
  const auto options = x.options();
  Shape sizes(x.sizes().begin(), x.sizes().end());

  scope("contiguous", [&] { body(x.clone()); });
  if (rank >= 2) {
    scope("transposed", [&] { body(x.transpose(0, rank - 1).contiguous().transpose(0, rank - 1)); });
  }
  scope("strided", [&] {  // every second element of the last dimension
    Shape wide = sizes;
    wide.back() *= 2;
    Tensor view = torch::zeros(wide, options).slice(rank - 1, 0, wide.back(), 2);
    view.copy_(x);
    body(view);
  });
  scope("offset", [&] {  // rows 1.. of a taller tensor
    Shape tall = sizes;
    tall.front() += 2;
    Tensor view = torch::zeros(tall, options).narrow(0, 1, sizes.front());
    view.copy_(x);
    body(view);
  });
  if (sizes.front() > 0) {
    scope("expanded", [&] { body(x.narrow(0, 0, 1).clone().expand(sizes)); });
  }
}

void Case::unary(const std::function<Tensor(const Tensor&)>& fn, double low, double high, const Dtypes& dtypes) {
  const auto both = [&](const std::string& name, Tensor x) {
    x.requires_grad_(true);
    gradients(name, {x}, [&] { return fn(x); });
  };
  for_dtypes(dtypes, [&](Dtype dtype) {
    both("vector", rand({37}, dtype, low, high));
    both("scalar", rand({}, dtype, low, high));
    both("empty", rand({0, 3}, dtype, low, high));
    out("special", fn(special(dtype)));
  });
  scope("layout", [&] { for_layouts_of(rand({5, 6}, torch::kFloat, low, high), [&](Tensor x) { both("y", x); }); });
  Tensor x = leaf_in(low, high, {7}, torch::kDouble);
  gradcheck([&] { return fn(x); }, {x});
  gradgradcheck([&] { return fn(x); }, {x});
}

void Case::binary(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, double low, double high,
                  const Dtypes& dtypes) {
  const auto both = [&](const std::string& name, Tensor a, Tensor b) {
    a.requires_grad_(true);
    b.requires_grad_(true);
    gradients(name, {a, b}, [&] { return fn(a, b); });
  };
  const auto of = [&](const std::string& name, Shape a, Shape b, Dtype dtype) {
    both(name, rand(a, dtype, -2, 2), rand(b, dtype, low, high));
  };
  for_dtypes(dtypes, [&](Dtype dtype) {
    of("same", {4, 9}, {4, 9}, dtype);
    of("broadcast", {3, 1, 5}, {4, 1}, dtype);
    of("row", {4, 5}, {5}, dtype);
    of("column", {4, 5}, {4, 1}, dtype);
    of("scalars", {}, {}, dtype);
    of("with_scalar", {3, 2}, {}, dtype);
    of("empty", {0, 3}, {1, 3}, dtype);
    const Tensor edge = special(dtype);
    out("special", fn(edge.unsqueeze(1), edge));
  });
  scope("layout", [&] {
    const Tensor other = rand({5, 6}, torch::kFloat, low, high);
    for_layouts({5, 6}, torch::kFloat, [&](Tensor a) { both("first", a, other.clone()); });
    for_layouts_of(other, [&](Tensor b) { both("second", rand({5, 6}, torch::kFloat, -2, 2), b); });
  });
  Tensor a = leaf_in(-2, 2, {2, 3}, torch::kDouble), b = leaf_in(low, high, {3}, torch::kDouble);
  gradcheck([&] { return fn(a, b); }, {a, b});
  gradgradcheck([&] { return fn(a, b); }, {a, b});
}

}  // namespace parity
