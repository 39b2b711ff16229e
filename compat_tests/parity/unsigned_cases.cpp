// uint16, uint32 and uint64 tensors: stored, converted, moved, compared, summed.
#include <ATen/Dispatch_v2.h>

#include "parity/case.h"

using torch::Tensor;

namespace {
const parity::Dtypes kWide{torch::kUInt16, torch::kUInt32, torch::kUInt64};

std::string name_of(torch::Dtype t) { return c10::toString(t); }
// Files hold no wide unsigned types: the values as int64, the dtype as text.
void record(parity::Case& c, const std::string& name, const Tensor& t) {
  c.text(name + " dtype", name_of(t.scalar_type()));
  c.out(name, t.to(torch::kLong));
}
void for_wide(parity::Case& c, const std::function<void(torch::Dtype)>& body) {
  for (const torch::Dtype t : kWide) c.scope(name_of(t), [&] { body(t); });
}
}  // namespace

PARITY_CASE(unsigned, conversions) {
  const Tensor reals = c.values({0, 1, 2.75, 255, 256, 40000, 65535}, torch::kDouble);
  for_wide(c, [&](torch::Dtype t) {
    for (const torch::Dtype other : parity::kAll) {
      record(c, "from " + parity::dtype_name(other), reals.to(other).to(t));
      c.out("to " + parity::dtype_name(other), reals.to(t).to(other));
    }
    for (const torch::Dtype other : kWide) record(c, "to " + name_of(other), reals.to(t).to(other));
    c.out("to complex", reals.to(t).to(torch::kComplexFloat));
    record(c, "negative", c.values({-1, -2, -40000}, torch::kLong).to(t));
    record(c, "large", c.values({65536, 100000, 3e9}, torch::kLong).to(t));
    record(c, "strided", reals.to(t).view({7, 1}).expand({7, 3}).t().contiguous());
    record(c, "copied", torch::empty({7}, t).copy_(reals));
  });
  const Tensor top = torch::full({3}, -5, torch::kLong).to(torch::kUInt64);
  c.out("uint64 beyond int64 as double", top.to(torch::kDouble));
  const at::Scalar large(uint64_t{18446744073709551611U});
  record(c, "filled", torch::full({3}, large, torch::kUInt64));
  c.out("equal to a number", top == torch::full({}, large, torch::kUInt64));
  c.out("as float", top.to(torch::kFloat));
  c.out("as bool", top.to(torch::kBool));
  record(c, "back from double", c.values({1.8e19, 9.3e18, 3}, torch::kDouble).to(torch::kUInt64));
}

PARITY_CASE(unsigned, elements) {
  for_wide(c, [&](torch::Dtype t) {
    const Tensor a = torch::tensor({3, 60000}).to(t), b = torch::tensor({5, 3}).to(t);
    record(c, "mul", a * b);
    record(c, "mul number", a * 2);
    c.out("div", a / b);
    c.out("add real number", a + 2.5);
    c.out("add float", a + b.to(torch::kFloat));
    c.out("eq", a == b.flip({}));
    c.out("ne number", a != 3);
    record(c, "and", a & b);
    record(c, "or", a | b);
    record(c, "xor", a ^ b);
    c.out("sqrt", a.sqrt());
    c.out("sum", a.sum());
    c.out("sum of dim", torch::stack({a, b}).sum(0));
    c.out("prod", a.prod());
    c.out("cumsum", a.cumsum(0));
    c.out("all", a.all());
    c.out("any", a.any());
    record(c, "sort", std::get<0>(torch::cat({a, b}).sort()));
    record(c, "unique", std::get<0>(at::_unique(torch::cat({a, b, a}))));
    record(c, "index", a.index({torch::tensor({1, 0, 1})}));
    record(c, "slice", torch::cat({a, b}).index({torch::indexing::Slice(1, 4, 2)}));
    record(c, "roll", a.roll(1));
    record(c, "repeat", a.repeat({2, 2}));
    record(c, "floor", a.floor());
    record(c, "fill", torch::empty({3}, t).fill_(7));
    record(c, "full", torch::full({3}, 7, t));
    record(c, "ones", torch::ones({3}, t));
    record(c, "tensor", torch::tensor({1, 2}, t));
    c.value("equal", a.equal(a.clone()));
    c.value("item", a[1].item<int64_t>());
    c.value("signed", a.is_signed());
    c.printed("printed", a);
    c.text("name", std::string(a.dtype().name()) + " " + a.toString());
    c.value("bytes", static_cast<int64_t>(a.element_size()));
    c.throws("promoted", [&] { a + b.to(torch::kInt); });
    c.throws("promoted byte", [&] { a* b.to(torch::kByte); });
    c.throws("mean", [&] { a.mean(); });
    c.throws("gradient", [&] { a.clone().requires_grad_(true); });
  });
}

PARITY_CASE(unsigned, memory) {
  uint16_t depth[6] = {0, 1, 500, 40000, 65534, 65535};
  const Tensor image = torch::from_blob(depth, {2, 3}, torch::kUInt16);
  c.out("metres", image.to(torch::kFloat) / 1000);
  c.value("accessor", static_cast<int64_t>(image.accessor<uint16_t, 2>()[1][0]));
  c.value("pointer", static_cast<int64_t>(image.data_ptr<uint16_t>()[4]));
  c.out("bits", image.view(torch::kShort));
  std::stringstream file;
  torch::save(image, file);
  Tensor loaded;
  torch::load(loaded, file);
  record(c, "loaded", loaded);
  for_wide(c, [&](torch::Dtype t) {
    std::string seen;
    AT_DISPATCH_V2(t, "seen", AT_WRAP([&] { seen = std::to_string(sizeof(scalar_t)); }),
                   AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), torch::kFloat);
    c.text("dispatched", seen);
  });
}
