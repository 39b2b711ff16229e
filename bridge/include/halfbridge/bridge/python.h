#pragma once
// Tensors as arguments and results of functions that pybind11 gives to Python. They travel by DLPack, without a copy:
// any object with __dlpack__ is a tensor here (PyTorch's, NumPy's), and a result is a torch.Tensor there. Gradients and
// history stay behind: PyTorch refuses to hand out a tensor that requires a gradient, detach() it first.
// The one header that needs others than the standard's: <torch/python.h> includes it where they are.

#include <Python.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <functional>
#include <utility>

#include <halfbridge/dlpack.h>
#include <halfbridge/error.h>

namespace pybind11::detail {

template <>
struct type_caster<hb::Tensor> {
  PYBIND11_TYPE_CASTER(hb::Tensor, const_name("torch.Tensor"));

  bool load(handle source, bool /*convert*/) {
    if (!hasattr(source, "__dlpack__")) return false;
    const object capsule = source.attr("__dlpack__")();
    void* managed = PyCapsule_GetPointer(capsule.ptr(), "dltensor");
    if (!managed || PyCapsule_SetName(capsule.ptr(), "used_dltensor") != 0) throw error_already_set();
    value = hb::from_dlpack(static_cast<DLManagedTensor*>(managed));
    return true;
  }

  static handle cast(const hb::Tensor& tensor, return_value_policy /*policy*/, handle /*parent*/) {
    if (!tensor.defined()) return none().release();
    const object from_dlpack = module_::import("torch.utils.dlpack").attr("from_dlpack");
    const auto capsule = reinterpret_steal<object>(PyCapsule_New(hb::to_dlpack(tensor), "dltensor", &free_unused));
    if (!capsule) throw error_already_set();
    return object(from_dlpack(capsule)).release();
  }

 private:
  // A capsule that nobody took still owns its tensor.
  static void free_unused(PyObject* capsule) {
    if (!PyCapsule_IsValid(capsule, "dltensor")) return;
    hb::from_dlpack(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor")));
  }
};

}  // namespace pybind11::detail

namespace hb::bridge {

namespace detail {
/// Errors that Python has a class for become that class; pybind11 makes RuntimeError of the rest.
template <typename F>
auto with_python_errors(const F& call) {
  try {
    return call();
  } catch (const IndexError& e) {
    throw pybind11::index_error(e.what());
  } catch (const ValueError& e) {
    throw pybind11::value_error(e.what());
  } catch (const TypeError& e) {
    throw pybind11::type_error(e.what());
  } catch (const NotImplementedError& e) {
    PyErr_SetString(PyExc_NotImplementedError, e.what());
    throw pybind11::error_already_set();
  }
}

template <bool kReleaseGil, typename R, typename... Args>
auto wrapped_for_python(std::function<R(Args...)> function) {
  return [function = std::move(function)](Args... args) -> R {
    return with_python_errors([&]() -> R {
      if constexpr (kReleaseGil) {
        const pybind11::gil_scoped_release released;
        return function(std::forward<Args>(args)...);
      } else {
        return function(std::forward<Args>(args)...);
      }
    });
  };
}
}  // namespace detail

inline namespace api {
/// The function for a module's `def`: its errors reach Python as IndexError, ValueError, TypeError and so on.
template <typename F>
auto wrap_pybind_function(F&& function) {
  return detail::wrapped_for_python<false>(std::function(std::forward<F>(function)));
}
/// The same; other threads of Python run while the function does.
template <typename F>
auto wrap_pybind_function_no_gil(F&& function) {
  return detail::wrapped_for_python<true>(std::function(std::forward<F>(function)));
}
}  // namespace api

}  // namespace hb::bridge
