// What arguments of a script's calls become.
#include <torch/script.h>

#include "case.h"

namespace {

void compare(parity::Case& c, const char* expression, const torch::Tensor& a, const std::string& label = "") {
  const auto unit = torch::jit::compile(std::string("def f(a):\n    return ") + expression + "\n");
  c.out(expression + label, unit->run_method("f", a).toTensor());
}

}  // namespace

PARITY_CASE(script_calls, numbers_before_tensors) {
  for (const auto dtype : {torch::kLong, torch::kFloat, torch::kBFloat16, torch::kByte}) {
    const auto a = torch::tensor({1, 2, 4, 7}).to(dtype);
    for (const char* expression :
         {"2 * a",    "2.5 * a",  "2 + a",     "2.5 + a",         "2 - a",       "2.5 - a",      "1 / a",
          "1.5 / a",  "2 ** a",   "7 % a",     "2 > a",           "2 >= a",      "2 < a",        "2 <= a",
          "2 == a",   "2 != a",   "2j * a",    "torch.sub(2, a)", "a // 2",      "a // 2.5",     "a // a",
          "a + True", "a - True", "a ** True", "a % 2",           "2 * a.sum()", "1.5 - a.sum()"})
      compare(c, expression, a, std::string(" ") + toString(dtype));
  }
  compare(c, "a * True", torch::tensor({true, false}));
}

PARITY_CASE(script_calls, lists_of_one_number) {
  const auto a = c.randn({3, 3});
  for (const char* expression : {"a.sum(1)",
                                 "a.sum(0, True)",
                                 "a.mean(1, True)",
                                 "a.mean(dim=1, keepdim=True)",
                                 "torch.sum(a, dim=1)",
                                 "torch.mean(a, 1, True)",
                                 "a.std(dim=1)",
                                 "a.var(0)",
                                 "torch.roll(a, 1, 0)",
                                 "a.roll(1)",
                                 "a.flip(0)",
                                 "a.norm(2, 0)",
                                 "torch.logsumexp(a, 0)",
                                 "a.amax(0)",
                                 "torch.count_nonzero(a, 0)",
                                 "a.view(-1)",
                                 "a.view(9)",
                                 "a.sum(None)",
                                 "a.repeat(2, 1)",
                                 "a.reshape(9, 1)",
                                 "a.permute(1, 0)",
                                 "a.new_zeros(3)"})
    compare(c, expression, a);
  const auto image = c.randn({1, 1, 5, 5});
  for (const char* expression :
       {"torch.conv2d(a, torch.ones([1, 1, 2, 2]), None, 2, 1)",
        "torch.conv2d(a, torch.ones([1, 1, 2, 2]), stride=2, padding=1)", "torch.max_pool2d(a, 2)",
        "torch.max_pool2d(a, kernel_size=2, stride=1)", "torch.avg_pool2d(a, 2)", "torch.adaptive_avg_pool2d(a, 2)"})
    compare(c, expression, image);
}
