#include "script_source.h"

#include <array>
#include <regex>

namespace random_calls {
namespace {

enum Type { kInt, kFloat, kTruth, kText, kList, kTensor, kDict, kTypes };

/// Patterns of expressions of each type, two blanks between them: %i, %f, %b, %s, %l, %t and %d stand for expressions.
constexpr const char* kPatterns[kTypes] = {
    R"((%i + %i)  (%i - %i)  (%i * %i)  (%i // 3)  (%i % -3)  (-%i)  (%i if %b else %i)  len(%l)  len(%s)  int(%f)
abs(%i)  min(%i, %i)  max(%i, %i)  %l[%i]  sum(%l)  (%i & %i)  (%i | %i)  (%i ^ %i)  (%i * 2 if %b else %i)
(%i << 2)  (%i >> 1)  int(%b)  %s.find(%s)  %s.rfind(%s, %i, %i)  %s.find('a', %i)  %s.count('a', %i, %i)
%s.index(%s)  len(%s.splitlines())  %s.count('a')  %l.count(%i)  %t.dim()  %t.size(0)  %t.numel()
torch.floor(%f)  torch.ceil(%f)  len(%d)  %d.get(%s, 7)  divmod(%i, 4)[1]  torch.gcd(%i, %i)
int(%t.sum().item())  max(%l)  min(%l)  ord('x')  torch.factorial(%i % 9))",
    R"((%f + %f)  (%f - %i)  (%f * %f)  (%f / %f)  (%i / %i)  (%f // %f)  (%f % %f)  float(%i)  (%f if %b else %f)
abs(%f)  min(%f, %f)  max(%f, %f)  torch.sqrt(abs(%f))  torch.exp(-abs(%f))  round(%f)  (%f ** %i)
torch.tanh(%f)  torch.atan2(%f, %f)  torch.copysign(%f, %f)  torch.fmod(%f, %f)  (%i ** %i)
float(%t.mean().item())  torch.log1p(abs(%f))  torch.degrees(%f))",
    R"((%i < %i)  (%f >= %f)  (%i == %i)  (%i != %i)  (%b and %b)  (%b or %b)  (not %b)  (%i in %l)  (%s == %s)
(%s < %s)  (%l == %l)  bool(%i)  %s.startswith(%s)  %s.startswith(%s, %i)  %s.endswith(%s, %i, %i)  %s.istitle()
%s.isidentifier()  %s.isprintable()  %s.isnumeric()  %s.isupper()  %s.isalnum()  %s.isdigit()  %s.isalpha()
(%s in %d)  torch.isinf(%f)  %t.is_floating_point()  (%f <= %i)  %s.endswith(%s)  (%s in %s)  any([%b, %b])
all([%b, %b])  bool((%t > 0).any())  %s.isspace()  %s.islower())",
    R"((%s + %s)  %s.upper()  %s.replace('a', %s, %i)  %s.rpartition('a')[0]  %s.rsplit('a', 1)[-1]
%s.split(' ', 1)[0]  %s.expandtabs(4)  oct(%i)  %s.lstrip('a')  %s.center(9)  str(%d)  str(%f)  %s.lower()
str(%i)  str(%b)  %s.replace('a', %s)  %s[%i]  %s[%i:%i]  %s.strip()  '{} and {}'.format(%i, %s)
'{}{}'.format(%f, %l)  ','.join([%s, %s])  %s.capitalize()  %s.title()  %s.rjust(6)  %s.center(7, '*')
%s.zfill(5)  (%s if %b else %s)  %s.swapcase()  %s.split('a')[0]  %s.rstrip()  %s.partition('a')[2]  str(%l)
str(%f)  %s[::-1]  %s[%i::2]  %s.ljust(5, '.')  hex(abs(%i))  bin(%i)  chr(97))",
    R"((%l + %l)  %l[%i:%i]  %l[::-1]  %l[%i::2]  sorted(%l)  [v * 2 for v in %l]  [v + %i for v in range(%i)]
(%l * 2)  [%i, %i]  list(%l)  %t.size()  list(range(%i, %i))  list(range(6, %i, -2))
[len(q) for q in %d.keys()]  list(%d.values())  (%l if %b else %l)  [p[0] * p[1] for p in zip(%l, %l)]
[p[0] + p[1] for p in enumerate(%l)])",
    R"((%t + %t)  (%t * %f)  (%t - %i)  (%i - %t)  %t.relu()  torch.sigmoid(%t)  %t[0]  %t[-1:]  %t.sum(0)
torch.cat([%t, %t])  torch.stack([%t, %t])  %t.view(-1)  %t.unsqueeze(%i)  torch.where(%t > 0, %t, %t)
%t.transpose(0, -1)  torch.tensor(%l)  torch.full([2], %f)  torch.zeros(%l)  (%t if %b else %t)  %t.double()
%t.clamp(min=%f)  %t[..., 0]  (%t > %f)  torch.arange(%i)  (%t ** 2)  (%t // 2)  %t.max()  torch.max(%t, 0)[1]
%t.mean(dim=-1, keepdim=True)  (-%t)  (~(%t > 0))  %t.permute([0, 1])  %t.argmax()  %t[None]  %t.long()
%t.float().softmax(0)  torch.tensor(%i)  %t.type_as(%t)  %t.flatten().sort()[0]  %t.repeat([2, 1])  (%t @ %t))",
    R"({%s: %i}  {%s: %i, 'b': %i}  {str(v): v for v in %l}  dict([(%s, %i)])  %d.copy())",
};
using Patterns = std::vector<std::string>;
const std::array<Patterns, kTypes>& compound() {
  static const auto patterns = [] {
    std::array<Patterns, kTypes> all;
    for (int type = 0; type < kTypes; ++type) {
      const std::string text = std::regex_replace(kPatterns[type], std::regex("\n"), "  ");
      const std::regex between("  ");
      all[type].assign(std::sregex_token_iterator(text.begin(), text.end(), between, -1), std::sregex_token_iterator());
    }
    return all;
  }();
  return patterns;
}

const std::string kLetters = "ifbsltd";  // of the types, and of the variables that hold them

/// Writes the source of one function.
class Writer {
 public:
  Writer(Inputs& in, bool method) : in_(in), method_(method) {}

  std::string source() {
    std::string text =
        method_ ? "def f(self, i: int, x: float, t: Tensor):\n" : "def f(i: int, x: float, t: Tensor):\n";
    text += "    b = i > 1\n    s = 'a b'\n    l = [3, i, -1]\n    d = {'a': 1, 'c': i}\n    f = x\n    turns = 0\n";
    for (int64_t n = in_.between(1, 4); n > 0; --n) text += statement("    ");
    return text + "    return i, f, b, s, l, t, d\n";
  }

 private:
  std::string literal(Type type) {
    if (method_ && in_.coin()) {
      if (type == kInt) return "self.n";
      if (type == kFloat) return "self.scale";
      if (type == kText) return "self.words";
      if (type == kTensor) return in_.of<std::string>({"self.w", "self.child.w", "self.child(self.w)"});
    }
    switch (type) {
      case kInt:
        return std::to_string(in_.between(-2, 6));
      case kFloat:
        return in_.of<std::string>({"0.5", "2.0", "-1.25", "1e-3", "3.0", "0.0"});
      case kTruth:
        return in_.of<std::string>({"True", "False"});
      case kText:
        return in_.of<std::string>({"'a'", "'Ab c'", "''", "'12'", "' x\\n'", "'ab'"});
      case kList:
        return in_.of<std::string>({"[1, 2, 3]", "[5]", "[4, -2, 0, 7]", "[2, 3]"});
      case kDict:
        return "{'a': 3, 'z': 1}";
      default:
        return in_.of<std::string>({"torch.ones([2, 2])", "torch.tensor([1.5, -2.0])", "torch.tensor(3)"});
    }
  }

  std::string expression(Type type, int depth) {
    const int64_t kind = in_.between(0, 3);
    if (kind == 0) return literal(type);
    if (kind == 1 || depth == 0) return {kLetters[type]};
    const std::string pattern = in_.of(compound()[type]);
    std::string text;
    for (size_t i = 0; i < pattern.size(); ++i) {
      const size_t found =
          pattern[i] == '%' && i + 1 < pattern.size() ? kLetters.find(pattern[i + 1]) : std::string::npos;
      if (found == std::string::npos)
        text += pattern[i];
      else
        text += expression(static_cast<Type>(found), depth - 1), ++i;
    }
    return text;
  }
  std::string expression(Type type) { return expression(type, 2); }

  std::string statement(const std::string& indent) {
    const bool simple = indent.size() > 8;
    const auto type = static_cast<Type>(in_.between(0, kTypes - 1));
    const std::string variable{kLetters[type]}, within = indent + "    ";
    switch (in_.between(0, simple ? 5 : 9)) {
      case 6:
        return indent + "if " + expression(kTruth) + ":\n" + statement(within) + indent + "else:\n" + statement(within);
      case 7:
        return indent + "for k in range(" + std::to_string(in_.between(0, 3)) + "):\n" + statement(within) + within +
               "i += k\n";
      case 8:
        return indent + "for k in " + expression(kList, 1) + ":\n" + statement(within) + within + "if k > 2:\n" +
               within + "    " + in_.of<std::string>({"break", "continue"}) + "\n" + within + "f += 1.0\n";
      case 9:
        return indent + "while i < " + literal(kInt) + " and turns < 9:\n" + within + "turns += 1\n" + within +
               "i += 1\n" + statement(within);
      case 0:
        return indent +
               in_.of<std::string>({"l.append(" + expression(kInt) + ")", "l[0] = " + expression(kInt),
                                    "d[" + expression(kText) + "] = " + expression(kInt),
                                    "l.extend(" + expression(kList) + ")", "l.sort()", "l.reverse()",
                                    "l.insert(1, " + expression(kInt) + ")", "i = l.pop()", "i += " + expression(kInt),
                                    "t[0] = " + expression(kFloat), "t += " + expression(kTensor),
                                    "f *= " + expression(kFloat), "l.clear()", "d.update(" + expression(kDict) + ")",
                                    "d.pop('a')", "l += [" + expression(kInt) + "]", "assert " + expression(kTruth),
                                    "i, f = " + expression(kInt) + ", " + expression(kFloat)}) +
               "\n";
      default:
        return indent + variable + " = " + expression(type) + "\n";
    }
  }

  Inputs& in_;
  bool method_;
};

}  // namespace

std::string script_source(Inputs& in, bool method) { return Writer(in, method).source(); }

}  // namespace random_calls
