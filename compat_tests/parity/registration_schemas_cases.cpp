// Schemas of operators, read and printed.
#include <string>
#include <utility>

#include "parity/operators.h"

using namespace parity;

PARITY_CASE(registration_schemas, schemas_print) {
  for (const char* text :
       {"f(Tensor x) -> Tensor", "ns::f.over(Tensor(a!) x, Tensor(b) y) -> (Tensor(a!), Tensor(b) z)", "f() -> ()",
        "f(Tensor(a! -> b) x) -> Tensor(a)[]", "f(Tensor(a -> *) x) -> Tensor(*)",
        "f(int[2] z=1, SymInt[3] q=0) -> int", "f(float[] w=[1., 2.5], *, ScalarType? dtype=None) -> float",
        "f(str s=\"a'b\\n\") -> str", "f(Layout l=strided, MemoryFormat? m=contiguous_format) -> bool",
        "f(bool b=True, bool d=False) -> bool", "f(Scalar al=1, Scalar be=0.5, float f=1e-5, float g=2) -> Scalar",
        "f(Dict(str, Tensor) d) -> Dict(int, float)", "f((int, Tensor)[] t, int[][] z) -> (Tensor, int[])",
        "va(Tensor x, ...) -> ...", "f(Tensor x=None) -> Tensor", "f(Device? device=None, Generator? g=None) -> Device",
        "f(int x=-3, int[] y=[1,2], *, int z) -> ()", " f . out ( Tensor x ) -> ( Tensor )",
        "f(__torch__.torch.classes.hb_classes.Counter x) -> Any"}) {
    c.text(text, printed(torch::jit::parseSchema(text)));
  }
  c.text("inferred", printed(find("hb_case::inferred").schema()));
  c.text("both", printed(find("hb_case::both").schema()));
  c.text("name", printed(torch::jit::parseName("a::b.c")));
  const auto& schema = find("hb_case::sizes").schema();
  c.text("type", schema.arguments()[2].type()->str() + " " + schema.arguments()[2].real_type()->str());
  c.value("N", *schema.arguments()[1].N());
  c.value("kwarg_only", schema.arguments()[2].kwarg_only());
  c.value("index", *schema.argumentIndexWithName("shape"));
  c.check(find("hb_case::add", "out").schema().arguments()[2].alias_info()->isWrite(), "out is written to");
}

PARITY_CASE(registration_schemas, schemas_refused) {
  const std::pair<const char*, const char*> wrong[] = {
      {"f(Tensor x", "expected ) but found 'eof'"},
      {"f(Tensr x) -> Tensor", "nknown type specifier"},
      {"(Tensor x) -> Tensor", "expected ident but found '('"},
      {"f(Tensor x) -> ", "expected ident but found 'eof'"},
      {"f(int x=a) -> int", "invalid numeric default value"},
      {"f(int[2 x) -> int", "expected ] but found 'ident'"},
      {"f(Tensor(a! x) -> Tensor", "expected ) but found 'ident'"},
      {"f(Tensor 1x) -> Tensor", "expected ident but found 'number'"},
      {"f(str s=\"abc) -> Tensor", "expected a valid token but found '\"'"},
      {"", "expected ident but found 'eof'"},
      {"f(Tensor x, ..., int y) -> Tensor", "... must be the last element of the argument list"},
      {"f(int x=3, int y) -> ()", "Non-default positional argument follows default argument"},
      {"f.default(int x) -> int", "default is not a legal overload name"},
      {"f(Tensor @x) -> Tensor", "expected ident but found '@'"}};
  for (const auto& [text, phrase] : wrong) says(c, phrase, [text = text] { torch::jit::parseSchema(text); });
}
