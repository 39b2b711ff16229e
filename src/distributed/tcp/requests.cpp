// What the server does for each request.
#include "distributed/tcp/server.h"
#include "distributed/text.h"

namespace hb::distributed::tcp {

void Server::handle(Connection& c, std::string_view frame) {
  Reader in(frame);
  const auto op = static_cast<Op>(in.byte());
  switch (op) {
    case Op::get:
    case Op::wait:
    case Op::multi_get:
    case Op::pop:
    case Op::check:
    case Op::count:
    case Op::list:
    case Op::queue_length:
      return ask(c, op, in);
    case Op::set:
    case Op::compare_set:
    case Op::add:
    case Op::remove:
    case Op::append:
    case Op::multi_set:
    case Op::push:
      return change(c, op, in);
  }
  throw Malformed("an unknown operation");
}

void Server::change(Connection& c, Op op, Reader& in) {
  Writer answer(static_cast<uint8_t>(Status::ok));
  const auto value_of = [](std::string_view text) { return std::string(text); };
  if (op == Op::multi_set) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (uint32_t n = in.count(); n > 0; --n) {
      std::string key = in.key();
      pairs.emplace_back(std::move(key), value_of(in.text()));
    }
    in.end();
    for (auto& [key, value] : pairs) values_[key] = std::move(value);
    c.out += answer.finish();
    return;
  }
  const std::string key = in.key();
  if (op == Op::set) {
    std::string value = value_of(in.text());
    in.end();
    values_[key] = std::move(value);
  } else if (op == Op::compare_set) {
    const std::string expected = value_of(in.text()), wanted = value_of(in.text());
    in.end();
    const auto found = values_.find(key);
    if (found == values_.end() ? expected.empty() : found->second == expected)
      answer.text(values_[key] = wanted);
    else
      answer.text(found == values_.end() ? expected : found->second);
  } else if (op == Op::add) {
    const int64_t value = in.number();
    in.end();
    const auto found = values_.find(key);
    int64_t before = 0;
    try {
      if (found != values_.end()) before = number_of(key, bytes_of(found->second));
    } catch (const Error& e) {
      answer = Writer(static_cast<uint8_t>(Status::error));
      answer.text(e.what());
      c.out += answer.finish();
      return;
    }
    const auto sum = static_cast<int64_t>(static_cast<uint64_t>(before) + static_cast<uint64_t>(value));
    values_[key] = std::to_string(sum);
    answer.number(sum);
  } else if (op == Op::remove) {
    in.end();
    answer.number(static_cast<int64_t>(values_.erase(key)));
  } else if (op == Op::append) {
    const std::string_view more = in.text();
    in.end();
    std::string& value = values_[key];
    if (value.size() + more.size() > kLargestValue) throw Malformed("a value that grows too large");
    value += more;
  } else {
    std::string value = value_of(in.text());
    in.end();
    queues_[key].push_back(std::move(value));
  }
  c.out += answer.finish();
}

void Server::ask(Connection& c, Op op, Reader& in) {
  Writer answer(static_cast<uint8_t>(Status::ok));
  if (op == Op::count) {
    in.end();
    answer.number(static_cast<int64_t>(values_.size()));
  } else if (op == Op::list) {
    in.end();
    size_t bytes = 0;
    for (const auto& [key, value] : values_) bytes += 4 + key.size();
    if (bytes > kLargestFrame - kAnswerHead) {
      c.out += refused(bytes);
      return;
    }
    answer.number(static_cast<int64_t>(values_.size()));
    for (const auto& [key, value] : values_) answer.text(key);
  } else if (op == Op::queue_length) {
    const auto found = queues_.find(in.key());
    in.end();
    answer.number(found == queues_.end() ? 0 : static_cast<int64_t>(found->second.size()));
  } else {
    const int64_t timeout = op == Op::check ? 0 : in.number();
    std::vector<std::string> keys;
    for (uint32_t n = in.count(); n > 0; --n) keys.push_back(in.key());
    const bool block = op != Op::pop || in.number() != 0;
    in.end();
    c.keys = std::move(keys);
    c.queue = op == Op::pop;
    c.values = op == Op::get || op == Op::multi_get;
    c.many = op == Op::multi_get;
    if (c.queue && c.keys.size() != 1) throw Malformed("a pop of several queues");
    if (op == Op::check) {
      answer.number(satisfied(c));
    } else if (satisfied(c)) {
      return answer_wait(c);
    } else if (!block) {
      answer = Writer(static_cast<uint8_t>(Status::empty));
    } else {
      return begin_wait(c, timeout);
    }
  }
  c.out += answer.finish();
}

}  // namespace hb::distributed::tcp
