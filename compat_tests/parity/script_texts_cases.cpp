// Texts and numbers in TorchScript: what functions make of them, and what str() and format() write.
#include <torch/script.h>

#include "case.h"

namespace {

/// The characters of a text, or of what a value looks like.
torch::Tensor characters(const c10::IValue& value) {
  std::ostringstream out;
  out << value;
  const std::string text = value.isString() ? value.toStringRef() : out.str();
  return torch::tensor(std::vector<int64_t>(text.begin(), text.end()), torch::kLong);
}

void compare(parity::Case& c, const std::string& body) {
  const auto unit = torch::jit::compile("def f(x: float, n: int, s: str):\n" + body);
  c.out(body, characters(unit->run_method("f", 2.0, 7, std::string("an Apple a day"))));
}
void compare_all(parity::Case& c, std::initializer_list<const char*> expressions) {
  for (const char* expression : expressions) compare(c, std::string("    return ") + expression + "\n");
}

}  // namespace

PARITY_CASE(script_texts, letters) {
  compare_all(c, {"s.capitalize()", "s.title()", "s.swapcase()", "'don\\'t'.title()", "s.upper().islower()",
                  "s.islower()", "'a b'.islower()", "'A 1'.isupper()", "'An Apple'.istitle()", "s.istitle()",
                  "'12'.isdecimal()", "'1a'.isnumeric()", "'1a'.isidentifier()", "s.isprintable()",
                  "'a\\n'.isprintable()", "''.isprintable()", "''.isalpha()"});
}

PARITY_CASE(script_texts, places) {
  compare_all(c, {"s.center(20)",
                  "s.center(21, '*')",
                  "'ab'.center(5, fillchar='-')",
                  "s.ljust(17, '.') + '|'",
                  "s.rjust(17)",
                  "s.rjust(3)",
                  "'-5'.zfill(4)",
                  "'a\\tbc\\td'.expandtabs(4)",
                  "'a\\tb'.expandtabs()",
                  "s.find('a', 1)",
                  "s.find('a', 1, 9)",
                  "s.find('z')",
                  "s.rfind('a')",
                  "s.rfind('a', 0, -3)",
                  "s.index('A')",
                  "s.rindex('a')",
                  "s.count('a')",
                  "s.count('a', 1)",
                  "s.count('a', 0, 10)",
                  "s.startswith('A', 3)",
                  "s.startswith('an', 0, 1)",
                  "s.endswith('day', 5)",
                  "s.endswith('a', 0, 10)"});
}

PARITY_CASE(script_texts, parts) {
  compare_all(c, {"s.partition(' ')", "s.partition('z')", "s.rpartition(' ')", "s.rpartition('z')", "s.split()",
                  "s.split(' ', 1)", "s.split(' ', max=2)", "s.rsplit(' ', 1)", "s.rsplit(' ')",
                  "'a\\nb c\\n'.splitlines()", "s.replace('a', 'x', 2)", "s.replace('a', 'x')",
                  "'-'.join(s.split('a'))", "[w.strip('a') for w in s.split()]"});
}

PARITY_CASE(script_texts, written_values) {
  compare_all(
      c, {"str(x)", "str(x / 3)", "str(x * 1e10)", "str(x * 1e20)", "str(-x * 1e-9)", "str([x, 1.5])", "str((n, s))",
          "str({s: x})", "str(['a'])", "'{} of {}'.format(x, [s])", "'%s %d %f %e %c' % (x, n, x, x, s[0])",
          "str(True)", "str(None)", "hex(n * 40)", "hex(-n)", "oct(n * 9)", "bin(-n)"});
}

PARITY_CASE(script_texts, numbers) {
  compare_all(c, {"x / 0", "-x / 0.0", "n / 0", "x // 0.0", "-7.5 // x", "-7.5 % x", "7.5 % -x", "(x % -1.0) * 0.0",
                  "divmod(n, -2)", "torch.frexp(x * 3)", "torch.modf(-x * 1.6)", "torch.ldexp(x, n)", "torch.angle(-x)",
                  "torch.polar(x, 0.0)"});
  bool refused = false;
  try {
    torch::jit::compile("def f(x: float):\n    return x ** -1\n")->run_method("f", 0.0);
  } catch (const std::exception&) {
    refused = true;
  }
  c.out("0.0 to a negative power", torch::tensor(refused));
}

PARITY_CASE(script_texts, lists_that_change) {
  compare(c, "    l = [3, n, 1]\n    m = 0\n    for k in l:\n        l.sort()\n        m = m * 10 + k\n    return m\n");
  compare(c, "    l = [1, 2]\n    for k in l:\n        l.append(k * n)\n    return l\n");
  compare(c, "    k = n\n    l = [k * 2 for k in [1, 2]]\n    return k + len(l)\n");
  compare(c, "    l = [3, n, 1]\n    l.sort(reverse=True)\n    return l\n");
  compare(c, "    l = [1, n]\n    l *= 2\n    return l\n");
  compare(c, "    return {s: n}.get('b', default_value=3)\n");
  for (const char* empty : {"[1, 2][2:]", "[True][1:]", "[1.5][1:]", "[1] * 0", "[1][1:] + [2][1:]", "list(range(0))"})
    compare(c, std::string("    return torch.tensor(") + empty + ").dtype\n");
}
