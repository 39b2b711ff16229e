#include "io/checked_json.h"

namespace hb::io {
namespace {

using Json = nlohmann::json;

/// Sees the parts of a text one after the other and keeps none of them.
class Checker {
 public:
  Checker(size_t max_depth, const std::function<void(const std::string&)>& fail) : max_depth_(max_depth), fail_(fail) {}

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(Json::number_integer_t) { return true; }
  bool number_unsigned(Json::number_unsigned_t) { return true; }
  bool number_float(Json::number_float_t, const std::string&) { return true; }
  bool string(std::string&) { return true; }
  bool binary(Json::binary_t&) { return true; }
  bool start_object(size_t) { return begin(); }
  bool start_array(size_t) { return begin(); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(std::string& name) {
    if (!keys_.back().insert(name).second) fail_("'" + name + "' is there twice");
    return true;
  }
  bool parse_error(size_t, const std::string&, const Json::exception&) { return false; }  // the second pass reports it

 private:
  bool begin() {
    if (keys_.size() >= max_depth_) fail_("it is nested too deep");
    keys_.emplace_back();
    return true;
  }
  bool end() {
    keys_.pop_back();
    return true;
  }

  size_t max_depth_;
  const std::function<void(const std::string&)>& fail_;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open; sets: no keys are slow to insert
};

}  // namespace

Json parse_checked_json(std::string_view text, size_t max_depth,
                        const std::function<void(const std::string& why)>& fail) {
  {
    Checker checker(max_depth, fail);
    Json::sax_parse(text, &checker);
  }
  return Json::parse(text);
}

}  // namespace hb::io
