// Hashes, copies and parts of values; storages, streams and futures in values; values that are only referred to.
#include <ATen/core/jit_type.h>
#include <torch/script.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "parity/case.h"
#include "parity/error_of.h"

namespace {

using c10::IValue;
using c10::ivalue::Future;
using parity::error_of;

std::vector<IValue> examples() {
  c10::Dict<std::string, int64_t> dict;
  dict.insert("k", 4);
  return {IValue(3),
          IValue(2.5),
          IValue("a b"),
          IValue(true),
          IValue(),
          IValue(std::vector<int64_t>{1, 2}),
          IValue(std::vector<std::string>{"x"}),
          IValue(std::make_tuple(int64_t{1}, 2.0, std::string("q"))),
          IValue(dict)};
}

}  // namespace

PARITY_CASE(value_parts, each_kind) {
  for (const IValue& value : examples()) {
    const std::string name = value.tagKind() + value.type()->str();
    std::ostringstream text;
    value.repr(text, [](std::ostream&, const IValue&) { return false; });
    c.text(name, text.str());
    const IValue copy = value.deepcopy();
    c.check(value.equals(copy).toBool() && value.is(value), "equals its copy");
    c.value(name + " is its copy", value.is(copy));
    IValue::HashAliasedIValues parts;
    value.getSubValues(parts);
    c.value(name + " parts", static_cast<int64_t>(parts.size()));
    int64_t visits = 0;
    value.visit([&](const IValue&) { return ++visits, false; });
    c.value(name + " visits", visits);
    c.value(name + " overlaps", value.overlaps(value) + 2 * value.overlaps(copy));
  }
  c.text("no hash", error_of([] { IValue::hash(IValue(std::vector<int64_t>{1})); }));
  c.check(IValue::hash(IValue(3)) == 3 && IValue::hash(IValue(true)) == 1 && IValue::hash(IValue()) == 0, "hashes");
  c.check(!IValue(1).equals(IValue(1.0)).toBool() && !IValue("a").is(IValue("a")), "not equal, not the same");
  c.out("equal tensors", IValue(torch::ones({2})).equals(IValue(torch::ones({2}))).toTensor());
  c.text("uninitialized", IValue::uninitialized().tagKind());
}

PARITY_CASE(value_parts, storages_and_streams) {
  const torch::Tensor tensor = torch::ones({2});
  const IValue storage(tensor.storage()), stream(c10::Stream(c10::Stream::DEFAULT, c10::Device(c10::kCPU)));
  c.check(storage.isStorage() && storage.toStorage().nbytes() == 8, "a storage");
  c.check(stream.isStream() && stream.toStream().device().is_cpu(), "a stream");
  c.text("kinds", storage.tagKind() + storage.type()->str() + stream.tagKind() + stream.type()->str());
  c.text("stream", c10::str(stream));
}

PARITY_CASE(value_parts, types_and_maps) {
  c10::impl::GenericList list(c10::IntType::get());
  list.push_back(IValue(1));
  c10::impl::GenericDict dict(c10::StringType::get(), c10::FloatType::get());
  c.text("types", list.elementType()->str() + dict.keyType()->str() + dict.valueType()->str() +
                      IValue(list).type()->annotation_str() + IValue(dict).type()->str());
  c.check(IValue(list).isIntList(), "a list of ints");
  const auto values = examples();
  auto map = values[8].to<std::unordered_map<std::string, int64_t>>();
  c.value("map", map.at("k"));
  c.text("tuple", std::get<2>(values[7].to<std::tuple<int64_t, double, std::string>>()));
  const auto point = c10::TupleType::createNamed(c10::QualifiedName("__torch__.P"), std::vector<std::string>{"x", "y"},
                                                 {c10::IntType::get(), c10::FloatType::get()});
  const IValue named(c10::ivalue::Tuple::createNamed({IValue(1), IValue(2.0)}, point));
  c.text("named", named.type()->str() + c10::str(named) + named.deepcopy().type()->str());
}

PARITY_CASE(value_parts, futures) {
  auto future = c10::make_intrusive<Future>(c10::IntType::get());
  const IValue value(future);
  c.check(value.isFuture() && value.toFuture() == future && !future->completed(), "a future");
  c.text("kind", value.tagKind() + value.type()->str() + c10::str(value) + future->elementType()->str());
  int64_t calls = 0;
  future->addCallback([&](Future&) { ++calls; });
  auto next = future->then([](Future& done) { return IValue(done.value().toInt() + 1); }, c10::IntType::get());
  future->markCompleted(IValue(5));
  future->wait();
  c.value("calls", calls);
  c.value("value", future->value().toInt() + 10 * next->constValue().toInt());
  c.check(future->hasValue() && !future->hasError(), "completed");
  c.text("twice", error_of([&] { future->markCompleted(IValue(6)); }));
  c.text("no error", error_of([&] { future->tryRetrieveErrorMessage(); }));
  c10::List<c10::intrusive_ptr<Future>> both(c10::FutureType::create(c10::IntType::get()));
  both.push_back(future);
  both.push_back(next);
  const auto all = c10::collectAll(both);
  c.check(all->completed() && all->value().toList().size() == 2, "all");
  c.text("type of all", all->elementType()->str());
  c.value("any", c10::collectAny(both)->value().toInt());
}

PARITY_CASE(value_parts, futures_that_fail) {
  auto future = c10::make_intrusive<Future>(c10::IntType::get());
  const auto failed = [](const char* text) { return std::make_exception_ptr(std::runtime_error(text)); };
  auto next = future->then([](Future& done) { return done.value(); }, c10::IntType::get());
  future->setError(failed("bad"));
  future->setErrorIfNeeded(failed("third"));
  c.check(future->completed() && future->hasError() && next->hasError(), "failed");
  c.text("texts", future->tryRetrieveErrorMessage() + next->tryRetrieveErrorMessage());
  c.text("value", error_of([&] { future->value(); }));
  c.text("waits", error_of([&] { future->waitAndThrow(); }));
  c.text("twice", error_of([&] { future->setError(failed("second")); }));
}

PARITY_CASE(value_parts, weak) {
  const IValue list(std::vector<int64_t>{1, 2});
  c10::WeakIValue weak(list);
  c.check(weak.lock().isSameIdentity(list), "it finds the list");
  c.value("owners", static_cast<int64_t>(weak.use_count()));
  {
    const IValue gone(std::vector<int64_t>{1});
    weak = c10::WeakIValue(gone);
  }
  c.check(weak.lock().isNone(), "the list is gone");
  c.value("plain", c10::WeakIValue(IValue(3)).lock().toInt());
}
