#include "prepared.h"

#include "backend/elementwise.h"
#include "cpu/few_elements.h"

namespace hb::graph {

namespace {

using AnyElementwise = capture::CallOf<const ElementwiseCall&>;

class Prepared final : public capture::Call {
 public:
  Prepared(std::unique_ptr<capture::Call> call, cpu::FewElements few)
      : Call(call->name), call_(std::move(call)), few_(std::move(few)) {}
  void run() override { few_.run(few_); }
  void show(capture::Operands& v) override { call_->show(v); }

 private:
  const std::unique_ptr<capture::Call> call_;
  const cpu::FewElements few_;
};

}  // namespace

void prepare_calls(std::vector<RecordedCall>& calls) {
  for (RecordedCall& c : calls) {
    auto* const call = dynamic_cast<AnyElementwise*>(c.call.get());
    if (!call || c.refresh) continue;
    cpu::FewElements few;
    if (cpu::prepare(call->fn, std::get<0>(call->kept).value, few))
      c.call = std::make_unique<Prepared>(std::move(c.call), std::move(few));
  }
}

}  // namespace hb::graph
