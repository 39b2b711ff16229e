// Recording: what a case computed goes to one safetensors file under family.case/scope/name.
#include <cstring>

#include "recorder.h"

namespace parity {
namespace {

uint64_t hash_of(const std::string& text) {  // FNV-1a
  uint64_t h = 0xcbf29ce484222325ull;
  for (unsigned char ch : text) h = (h ^ ch) * 0x100000001b3ull;
  return h;
}

template <typename List>
std::string joined(const List& list) {
  std::string out;
  for (auto v : list) out += (out.empty() ? "" : ", ") + std::to_string(v);
  return "[" + out + "]";
}

std::string number(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

}  // namespace

SafetensorsWriter& recorder() {
  static SafetensorsWriter writer;
  return writer;
}

std::string dtype_name(Dtype dtype) {
  if (dtype == torch::kComplexFloat) return "c64";
  if (dtype == torch::kComplexDouble) return "c128";
  std::string name = safetensors_dtype(dtype);
  for (auto& ch : name) ch = static_cast<char>(std::tolower(ch));
  return name;
}

const char* safetensors_dtype(Dtype dtype) {
  if (dtype == torch::kFloat) return "F32";
  if (dtype == torch::kDouble) return "F64";
  if (dtype == torch::kHalf) return "F16";
  if (dtype == torch::kBFloat16) return "BF16";
  if (dtype == torch::kLong) return "I64";
  if (dtype == torch::kInt) return "I32";
  if (dtype == torch::kShort) return "I16";
  if (dtype == torch::kChar) return "I8";
  if (dtype == torch::kByte) return "U8";
  if (dtype == torch::kBool) return "BOOL";
  throw std::invalid_argument("a dtype that the parity file cannot hold");
}

Case::Case(std::string full_name) : name_(std::move(full_name)) { seed(); }

void Case::seed() { state_ = hash_of(full("")); }

std::string Case::full(const std::string& name) const { return name_ + "/" + scope_ + name; }

void Case::record(const std::string& name, const Tensor& tensor) {
  if (tensor.is_complex()) return record(name + ".parts", torch::view_as_real(tensor.detach().resolve_conj()));
  const Tensor t = tensor.detach().clone(torch::MemoryFormat::Contiguous).cpu();
  const auto sizes = t.sizes();
  const Dtype dtype = t.scalar_type();
  recorder().add(full(name), safetensors_dtype(dtype), Shape(sizes.begin(), sizes.end()), t.data_ptr(),
                 static_cast<size_t>(t.numel()) * t.element_size());
  for (const auto& tol : tolerances_) {
    if (tol.dtype == dtype) recorder().add_metadata("tol:" + full(name), number(tol.rtol) + " " + number(tol.atol));
  }
}

void Case::out(const std::string& name, const Tensor& tensor) {
  if (tensor.defined()) {
    record(name, tensor);
  } else {
    text(name, "undefined tensor");
  }
}

void Case::shape_only(const std::string& name, const Tensor& tensor) {
  text(name, parity::dtype_name(tensor.scalar_type()) + joined(tensor.sizes()));
}

void Case::layout(const std::string& name, const Tensor& tensor) {
  text(name, parity::dtype_name(tensor.scalar_type()) + " sizes " + joined(tensor.sizes()) + " strides " +
                 joined(tensor.strides()) + " offset " + std::to_string(tensor.storage_offset()));
}

namespace {
void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// As it reads where the inputs are on the CPU.
std::string of_cpu(std::string text) {
  const torch::Device& device = input_device();
  if (device.is_cpu()) return text;
  std::string kind = device.str().substr(0, device.str().find(':'));
  replace_all(text, kind + ":0", "cpu");
  replace_all(text, kind, "cpu");
  for (auto& ch : kind) ch = static_cast<char>(std::toupper(ch));
  replace_all(text, kind, "CPU");
  return text;
}
}  // namespace

void Case::text(const std::string& name, const std::string& text) {
  recorder().add_metadata("text:" + full(name), of_cpu(text));
}

void Case::printed(const std::string& name, const Tensor& tensor) {
  std::ostringstream out;
  out << tensor;
  text(name, out.str());
}

void Case::value(const std::string& name, double number) { record_value(name, "F64", &number, sizeof number); }
void Case::value(const std::string& name, int64_t number) { record_value(name, "I64", &number, sizeof number); }
void Case::value(const std::string& name, bool flag) { record_value(name, "BOOL", &flag, sizeof flag); }

void Case::record_value(const std::string& name, const char* dtype, const void* data, size_t bytes) {
  recorder().add(full(name), dtype, {}, data, bytes);
  if (std::string(dtype) != "F64") return;
  for (const auto& tol : tolerances_) {
    if (tol.dtype == torch::kDouble) {
      recorder().add_metadata("tol:" + full(name), number(tol.rtol) + " " + number(tol.atol));
    }
  }
}

void Case::throws(const std::string& name, const std::function<void()>& fn) {
  std::string kind = "nothing", message;
  try {
    fn();
  } catch (const c10::Error& error) {
    kind = "c10::Error";
    message = error.what();
  } catch (const std::exception& error) {
    kind = "std::exception";
    message = error.what();
  }
  if (kind != "nothing" && message.empty()) fail("'" + name + "' threw with an empty message");
  recorder().add_metadata("throws:" + full(name), kind);
}

void Case::check(bool ok, const std::string& what) {
  if (!ok) fail(what);
}

void Case::fail(const std::string& what) { failures_.push_back(full("") + ": " + what); }

void Case::tolerance(Dtype dtype, double rtol, double atol) {
  for (auto& tol : tolerances_) {
    if (tol.dtype == dtype) {
      tol = {dtype, rtol, atol};
      return;
    }
  }
  tolerances_.push_back({dtype, rtol, atol});
}

void Case::tolerance(double rtol, double atol) {
  tolerance(torch::kFloat, rtol, atol);
  tolerance(torch::kDouble, rtol, atol);
}

}  // namespace parity
