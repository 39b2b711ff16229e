"""Records what a PyTorch program computes, layer by layer, as a trace for `halfbridge diff`.

    import halfbridge_capture
    with halfbridge_capture.capture(model, "trace-folder"):
        train()

One file, no dependency but torch 2.1 or later. `model` is a module or a list of modules. Options have the names of the
variables HALFBRIDGE_TRACE_STEPS, _LAYERS, _KINDS, _STATS and _MAX_BYTES, which are taken where an option is not given:
`capture(model, "folder", steps="0,10-12", layers="layer1.*", kinds="output", stats=True)`. Steps of all optimizers are
seen; with `optimizer=`, those of it alone (or of a list of them).
"""
import ctypes
import fnmatch
import functools
import json
import os
import re
import struct
import sys
import threading
import weakref

import torch
from torch.autograd.graph import get_gradient_edge
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

KINDS = ("input", "output", "grad_output", "grad_input", "mask", "parameter", "buffer", "parameter_grad",
         "updated_parameter", "updated_buffer", "optimizer_state", "loss_scale")
_DTYPES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
           torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL"}
# Functions that are no layers: they return what they were given in another shape, dtype or place, or make tensors.
_NO_LAYERS = set("""
    view reshape flatten unflatten transpose t permute squeeze unsqueeze select slice narrow chunk split unbind expand
    expand_as view_as reshape_as detach alias as_strided contiguous to type type_as clone movedim moveaxis swapaxes swapdims
    adjoint diagonal unfold real imag ravel cpu cuda float half double bfloat16 long int bool tensor_split hsplit vsplit
    getitem setitem get set item equal allclose size stride dim numel storage_offset requires_grad copy resize empty zeros ones
    full arange range linspace logspace eye rand randn randint randperm zero fill normal uniform random bernoulli exponential
    multinomial tensor as_tensor from_numpy data retain_grad backward register_hook numpy tolist len format repr str hash
    deepcopy reduce_ex empty_like zeros_like ones_like full_like rand_like randn_like randint_like pin_memory iter
    split_with_sizes is_floating_point""".split())


# ---- what is recorded -------------------------------------------------------------------------------------------------

class Options:
    """What a trace records. Texts as in the HALFBRIDGE_TRACE_* variables, which stand in for what is None."""

    def __init__(self, steps=None, layers=None, kinds=None, stats=None, max_bytes=None):
        def value(given, variable, default):
            return str(given if given is not None else os.environ.get("HALFBRIDGE_TRACE_" + variable) or default)

        self._steps = _parse_steps(value(steps, "STEPS", "0"))
        patterns = value(layers, "LAYERS", "*").split(",")
        self._out = [_pattern(p[1:]) for p in patterns if p.startswith("-")]
        self._in = [_pattern(p) for p in patterns if not p.startswith("-")]
        names = value(kinds, "KINDS", "all")
        self.kinds = set(KINDS) if names == "all" else set(names.split(","))
        if self.kinds - set(KINDS):
            raise ValueError(f"[kinds] expected all, or of {','.join(KINDS)}, got '{names}'")
        self.stats = value(None if stats is None else int(stats), "STATS", "0") == "1"
        self.max_bytes = int(value(max_bytes, "MAX_BYTES", 8 << 30))

    def step(self, number):
        return any(first <= number <= last and (number - first) % stride == 0 for first, last, stride in self._steps)

    def layer(self, path):
        if any(p.fullmatch(path) for p in self._out):
            return False
        return not self._in or any(p.fullmatch(path) for p in self._in)


def _pattern(text):
    if not text:
        raise ValueError("[layers] expected patterns of paths such as layer1.*,-*.bn?, got an empty one")
    return re.compile(fnmatch.translate(text.replace("[", "[[]")))


def _parse_steps(text):
    if text == "all":
        return [(0, sys.maxsize, 1)]
    ranges = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?(?::(\d+))?", part)
        if not match:
            raise ValueError(f"[steps] expected all, or numbers and ranges such as 0,10-12,100-1000:100, got '{text}'")
        first, last, stride = match.groups()
        ranges.append((int(first), int(last or first), int(stride or 1)))
    return ranges


# ---- the files --------------------------------------------------------------------------------------------------------

class _Writer:
    """Safetensors files with room in front for the header, which is filled in when a file is complete."""

    _SPARE, _LARGEST_ROOM, _FILE_BYTES = 4096, 4 << 20, 1 << 30

    def __init__(self, folder, options):
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            if re.fullmatch(r"trace-\d{5,}\.safetensors", name):
                os.remove(os.path.join(folder, name))
        self._folder, self._options = folder, options
        self._lock = threading.Lock()
        self._number, self._order, self._total, self._file = -1, 0, 0, None
        self._room = 8 << 10
        self.end = None  # why nothing more is recorded
        self._open(0)

    def write(self, record, tensor):
        with self._lock:
            if self.end is None:
                self._add(record, tensor)

    def close(self, end="complete"):
        with self._lock:
            self.end = self.end or end
            if self._file:
                self._finish(self.end)

    def _add(self, record, tensor):
        if tensor.is_complex():
            tensor = torch.view_as_real(tensor.detach().resolve_conj())  # a last dimension of 2
        dtype = _DTYPES.get(tensor.dtype)
        if dtype is None or tensor.layout != torch.strided:
            return  # safetensors has no such type
        plain = tensor.detach().cpu().contiguous()
        entry = dict(record, order=self._order, dtype=dtype, shape=list(tensor.shape))
        of = record.get("path") or record.get("root") or record.get("type", "")
        name = "/".join(filter(None, [f"{self._order:06d}", of, record["kind"], record.get("name", str(record["index"]))]))
        count = 0 if self._options.stats else plain.numel() * plain.element_size()
        if self._options.stats:
            entry["stats"] = _statistics(plain)
        meta = json.dumps(json.dumps(entry))
        characters = len(meta) + 2 * len(json.dumps(name)) + len(json.dumps(entry["shape"])) + 160
        if self._used + characters > self._room or (self._offset and self._offset + count > self._FILE_BYTES):
            self._finish(None)
            self._open(characters)
        if self._total + count > self._options.max_bytes:
            self.end = f"limit of {self._options.max_bytes} bytes"
            print(f"[trace] stopped: {self.end} (HALFBRIDGE_TRACE_MAX_BYTES)", file=sys.stderr)
            return
        self._metadata[name] = json.dumps(entry)
        if not self._options.stats:
            span = [self._offset, self._offset + count]
            self._tensors[name] = {"dtype": dtype, "shape": entry["shape"], "data_offsets": span}
            if count:
                self._file.write(memoryview((ctypes.c_char * count).from_address(plain.data_ptr())))
        self._used += characters
        self._offset += count
        self._total += count
        self._order += 1

    def _open(self, at_least):
        self._number += 1
        self._room = max(min(self._room * 2, self._LARGEST_ROOM), (at_least + self._SPARE + 7) // 8 * 8)
        self._used, self._offset, self._tensors = self._SPARE, 0, {}
        self._metadata = {"halfbridge.trace": "1", "producer": "pytorch " + torch.__version__.split("+")[0],
                          "file": str(self._number)}
        self._file = open(os.path.join(self._folder, f"trace-{self._number:05d}.safetensors"), "wb")
        self._total += 8 + self._room
        self._file.write(self._header())

    def _header(self):
        text = json.dumps(dict({"__metadata__": self._metadata}, **self._tensors), separators=(",", ":")).encode()
        return struct.pack("<Q", self._room) + text.ljust(self._room)

    def _finish(self, end):
        if end:
            self._metadata["end"] = end[:500]
        self._file.seek(0)
        self._file.write(self._header())
        self._file.close()
        self._file = None


def _statistics(t):
    values = t.double().flatten()
    finite = values[torch.isfinite(values)]
    some = finite.numel() > 0

    def number(x):
        return x.item() if some else None

    return {"min": number(finite.min() if some else None), "max": number(finite.max() if some else None),
            "mean": number(finite.mean() if some else None), "std": number(finite.std(unbiased=False) if some else None),
            "l2": number(finite.norm() if some else None), "nan": int(torch.isnan(values).sum()),
            "inf": int(torch.isinf(values).sum()), "zeros": int((values == 0).sum())}


# ---- calls ------------------------------------------------------------------------------------------------------------

def _apart(method):
    """What the trace itself computes is no function of the program."""
    @functools.wraps(method)
    def apart(*args, **kwargs):
        with torch._C.DisableTorchFunction(), torch.no_grad():
            return method(*args, **kwargs)

    return apart


def _tensors(value):
    """The tensors in arguments or results, in their order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _printed(text):
    """As LibTorch prints it: kernel_size=[3, 3], bias=true."""
    text = text.replace(",)", ")").replace("(", "[").replace(")", "]")
    return re.sub(r"\b(True|False)\b", lambda m: m.group().lower(), text)


class _Call:
    """A call of a module or function while it runs, and its part of the graph after that."""

    def __init__(self, trace, about, inputs):
        self.trace, self.about, self.masks = trace, about, 0
        grad = torch.is_grad_enabled()
        self.edges = [get_gradient_edge(t) if grad and t.requires_grad else None for t in inputs]
        for index, t in enumerate(inputs):
            self.write("input", index, t)
        self.begin = torch._C._autograd._get_sequence_nr()

    @_apart
    def write(self, kind, index, tensor):
        self.trace._write(dict(self.about, kind=kind, index=index), tensor)

    def end(self, outputs):
        for index, t in enumerate(outputs):
            self.write("output", index, t)
        if self.trace._options.kinds & {"grad_output", "grad_input"}:
            self._watch(outputs)

    def _watch(self, outputs):
        """Hooks on the nodes that this call recorded, between the edges of its outputs and those of its inputs: what flows
        over an input's edge from them is this call's own share."""
        watched, queue = {}, []
        for index, t in enumerate(outputs):
            node = t.grad_fn if t.requires_grad else None
            if self._recorded_here(node):
                if node not in watched:
                    watched[node] = ([], [])
                    queue.append(node)
                watched[node][0].append((t.output_nr, index))
        shares = [[0, 0, None] for _ in self.edges]  # edges, how many arrived, their sum
        while queue:
            node = queue.pop()
            seen = [0] * len(self.edges)
            for edge, (following, number) in enumerate(node.next_functions):
                index = self._input_at(following, number, seen)
                if index is not None:
                    watched[node][1].append((edge, index))
                    shares[index][0] += 1
                elif self._recorded_here(following) and following not in watched:
                    watched[following] = ([], [])
                    queue.append(following)
        self.edges = None
        for node, (of_outputs, of_inputs) in watched.items():
            if of_outputs or of_inputs:
                self.trace._hooks.append(node.register_hook(self._hook(of_outputs, of_inputs, shares)))

    def _recorded_here(self, node):
        return node is not None and self.begin <= node._sequence_nr() < 1 << 63  # above: AccumulateGrad

    def _input_at(self, node, number, seen):
        """A tensor that was given twice has an edge for each."""
        found = None
        for index, edge in enumerate(self.edges):
            if edge is not None and node is edge.node and number == edge.output_nr:
                if found is None or seen[index] < seen[found]:
                    found = index
        if found is not None:
            seen[found] += 1
        return found

    def _hook(self, of_outputs, of_inputs, shares):
        def hook(to_inputs, to_outputs):
            for position, index in of_outputs:
                if to_outputs[position] is not None:
                    self.write("grad_output", index, to_outputs[position])
            for position, index in of_inputs:
                share, gradient = shares[index], to_inputs[position]
                share[1] += 1
                if gradient is not None:
                    share[2] = gradient if share[2] is None else share[2] + gradient
                if share[1] == share[0]:
                    if share[2] is not None:
                        self.write("grad_input", index, share[2])
                    share[1:] = [0, None]  # the graph may be walked again

        return hook


class _Masks(TorchDispatchMode):
    """Sees what a dropout draws."""

    def __init__(self, call):
        super().__init__()
        self._call = call

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = function.overloadpacket.__name__
        mask = result if name.startswith("bernoulli") else result[1] if name == "native_dropout" else None
        if mask is not None:
            self._call.write("mask", self._call.masks, mask != 0)
            self._call.masks += 1
        return result


class _Functions(TorchFunctionMode):
    """Sees the functions that the program calls; those inside of a layer are its own business."""

    def __init__(self, trace):
        super().__init__()
        self._trace = trace

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        call = self._trace._begin_function(function, args, kwargs)
        if call is None:
            result = function(*args, **kwargs)
            self._trace._follow(args, result)
            return result
        draws = "dropout" in call.about["type"] or kwargs.get("dropout_p") or call.about["type"].endswith("attention")
        if draws:
            with _Masks(call):
                result = function(*args, **kwargs)
        else:
            result = function(*args, **kwargs)
        self._trace._end_function(call, result)
        return result


# ---- the trace --------------------------------------------------------------------------------------------------------

class Trace:
    """A trace that is being written; see capture()."""

    def __init__(self, models, folder, optimizers, options):
        self._options = options
        self._writer = _Writer(folder, options)
        self._optimizers = optimizers
        self._step, self._calls = 0, 0
        self._running = []  # (call or None, module, mode of masks or None) of the modules that run, outermost first
        self._hooks, self._root_names, self._names = [], {}, {}
        self._produced = {}  # id of a tensor that a call returned: a weak reference
        self._places = {}    # module: (root module, path)
        self._parameters = _Parameters(self)
        for model in models:
            self.add(model)
        self._hooks.append(register_optimizer_step_pre_hook(self._step_begins))
        self._hooks.append(register_optimizer_step_post_hook(self._step_ended))
        self._scaler_update = torch.amp.GradScaler.update
        torch.amp.GradScaler.update = self._watched_scaler_update()
        self._functions = _Functions(self)
        self._functions.__enter__()

    def add(self, model):
        """A further module whose layers are named by their paths below it."""
        for path, module in model.named_modules():
            self._places.setdefault(module, (model, path))
            self._hooks.append(module.register_forward_pre_hook(self._module_begins, with_kwargs=True))
            self._hooks.append(module.register_forward_hook(self._module_ended, with_kwargs=True, always_call=True))
        return self

    def __enter__(self):
        return self

    def __exit__(self, error_type, error, traceback):
        self.close("complete" if error is None else f"exception: {error}")

    def close(self, end="complete"):
        """Completes the files; no hook is left."""
        if self._functions is None:
            return
        self._functions.__exit__(None, None, None)
        self._functions = None
        torch.amp.GradScaler.update = self._scaler_update
        for hook in self._hooks:
            hook.remove()
        self._parameters.trace_ends()
        self._writer.close(end)

    def _recording(self):
        return self._writer.end is None and self._options.step(self._step)

    def _write(self, record, tensor):
        options = self._options
        if record["kind"] in options.kinds and options.step(record["step"]) and options.layer(record.get("path", "")):
            self._writer.write(record, tensor)

    def _place(self, module):
        root, path = self._places[module]
        if root not in self._root_names:
            name = type(root).__name__
            self._names[name] = self._names.get(name, 0) + 1
            self._root_names[root] = name if self._names[name] == 1 else f"{name}#{self._names[name]}"
        return {"root": self._root_names[root], "path": path}

    def _new_call(self, about, inputs):
        about = dict(about, step=self._step, call=self._calls)
        self._calls += 1
        around = next((call for call, _, _ in reversed(self._running) if call), None)
        if around:
            about["parent"] = around.about["call"]
        return _Call(self, about, inputs)

    # Modules.

    def _module_begins(self, module, args, kwargs):
        with torch._C.DisableTorchFunction():
            masks = self._begin_module(module, args, kwargs)
        if masks:
            masks.__enter__()

    def _begin_module(self, module, args, kwargs):
        if not self._recording():
            self._running.append((None, module, None))
            return None
        about = dict(self._place(module), type=type(module).__name__, training=module.training,
                     config=_printed(module.extra_repr()))
        self._parameters.module_called(module, about)
        call = self._new_call(about, list(_tensors((args, kwargs))))
        masks = _Masks(call) if _is_layer(module) and module.training and _drops(module) else None
        self._running.append((call, module, masks))
        return masks

    def _module_ended(self, module, args, kwargs, result):
        if not self._running or self._running[-1][1] is not module:
            return  # its pre-hook did not run
        call, _, masks = self._running.pop()
        if masks:
            masks.__exit__(None, None, None)
        if call and result is not None:
            with torch._C.DisableTorchFunction():
                outputs = list(_tensors(result))
                call.end(outputs)
                self._produce(outputs)

    # Functions.

    def _begin_function(self, function, args, kwargs):
        name = getattr(function, "__name__", "")
        if not self._recording() or torch.jit.is_tracing():
            return None
        if name.startswith("__") and name.endswith("__"):
            name = name[2:-2]
            for prefix in "ri":  # __radd__, __iadd__
                if name[:1] == prefix and hasattr(torch.Tensor, name[1:]):
                    name = name[1:]
        name = name.rstrip("_") or name
        if name in _NO_LAYERS or name.startswith(("_", "is_", "new_")):
            return None
        if self._running and (self._running[-1][0] is None or _is_layer(self._running[-1][1])):
            return None
        inputs = list(_tensors((args, kwargs)))
        grad = torch.is_grad_enabled()
        if not any((grad and t.requires_grad) or self._is_produced(t) for t in inputs):
            return None
        plain = [a for a in args if not any(True for _ in _tensors(a))]
        words = [_printed(repr(a)) for a in plain if isinstance(a, (int, float, bool, str, tuple, list))]
        words += [f"{k}={_printed(repr(v))}" for k, v in kwargs.items()
                  if k[0] != "_" and isinstance(v, (int, float, bool, str, tuple, list)) and not any(True for _ in _tensors(v))]
        return self._new_call({"type": name, "config": ", ".join(words)}, inputs)

    def _end_function(self, call, result):
        outputs = list(_tensors(result))
        if any(t.is_floating_point() or t.is_complex() for t in outputs):
            call.end(outputs)
            self._produce(outputs)

    def _produce(self, tensors):
        if len(self._produced) > 4096:
            self._produced = {k: r for k, r in self._produced.items() if r() is not None}
        for t in tensors:
            self._produced[id(t)] = weakref.ref(t)

    def _is_produced(self, t):
        known = self._produced.get(id(t))
        return known is not None and known() is t

    def _follow(self, args, result):
        """What is a view of a layer's result is one too."""
        if self._produced and args and isinstance(args[0], torch.Tensor) and self._is_produced(args[0]):
            self._produce(list(_tensors(result)))

    # Steps.

    def _step_begins(self, optimizer, args, kwargs):
        if self._optimizers is None or optimizer in self._optimizers:
            self._parameters.step_begins(optimizer)

    def _step_ended(self, optimizer, args, kwargs):
        if self._optimizers is None or optimizer in self._optimizers:
            self._parameters.step_ended(optimizer)
            self._step += 1

    def _watched_scaler_update(self):
        update, trace = self._scaler_update, self

        def watched(scaler, *args, **kwargs):
            result = update(scaler, *args, **kwargs)
            if scaler.is_enabled():
                # The step that the scale belongs to has been counted, unless it overflowed.
                about = {"step": max(trace._step - 1, 0), "kind": "loss_scale", "index": 0, "name": "scale"}
                with torch._C.DisableTorchFunction():
                    trace._write(about, torch.tensor(scaler.get_scale()))
            return result

        return watched


class _Parameters:
    """Parameters and buffers around the optimizer's steps."""

    def __init__(self, trace):
        self._trace = trace
        self._called = {}   # module: what is known of it, of the modules called in this step
        self._updated = {}  # (module, name): step whose updated_ record holds it
        self._buffers = {}   # (module, name): the values when the module was called

    def _write(self, kind, about, name, tensor):
        record = {k: v for k, v in about.items() if k not in ("config", "training")}
        self._trace._write(dict(record, step=self._trace._step, kind=kind, index=0, name=name), tensor.detach())

    @_apart
    def module_called(self, module, about):
        if module in self._called:
            return
        self._called[module] = about
        for kind, tensors in (("parameter", module._parameters), ("buffer", module._buffers)):
            for name, t in tensors.items():
                if t is None:
                    continue
                if self._updated.get((module, name)) != self._trace._step - 1:
                    self._write(kind, about, name, t)
                if kind == "buffer":
                    self._buffers[module, name] = t.detach().clone()  # batch_norm changes it without counting

    def _own(self, parameters):
        """(about, module, name, parameter) of those that belong to modules called in this step."""
        ids = {id(p) for p in parameters}
        for module, about in self._called.items():
            for name, p in module._parameters.items():
                if p is not None and id(p) in ids:
                    yield about, module, name, p

    @_apart
    def step_begins(self, optimizer):
        if self._trace._recording():
            for about, _, name, p in self._own(_of(optimizer)):
                if p.grad is not None:
                    self._write("parameter_grad", about, name, p.grad)

    @_apart
    def step_ended(self, optimizer):
        if self._trace._recording():
            for about, module, name, p in self._own(_of(optimizer)):
                if p.grad is None:
                    continue
                self._write("updated_parameter", about, name, p)
                self._updated[module, name] = self._trace._step
                for key, value in optimizer.state.get(p, {}).items():
                    if isinstance(value, torch.Tensor):
                        self._write("optimizer_state", about, f"{name}/{key}", value)
            for module, about in self._called.items():
                for name, t in module._buffers.items():
                    if t is not None and not torch.equal(t, self._buffers.get((module, name), t)):
                        self._write("updated_buffer", about, name, t)
                        self._updated[module, name] = self._trace._step
        self._called, self._buffers = {}, {}

    @_apart
    def trace_ends(self):
        if self._trace._recording():
            for module, about in self._called.items():
                for name, p in module._parameters.items():
                    if p is not None and p.grad is not None:
                        self._write("parameter_grad", about, name, p.grad)


def _of(optimizer):
    return [p for group in optimizer.param_groups for p in group["params"]]


def _is_layer(module):
    containers = (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict)
    place = type(module).__module__
    return place.startswith("torch.nn.modules") and not isinstance(module, containers) and "transformer" not in place


def _drops(module):
    return "Dropout" in type(module).__name__ or bool(getattr(module, "dropout", 0))


def capture(model, folder, optimizer=None, **options):
    """Begins a trace of a module, or of a list of them, in a folder; an earlier trace there is removed. Use it in a `with`
    statement, or call close(). `options`: steps, layers, kinds, stats, max_bytes; see the top of this file."""
    models = list(model) if isinstance(model, (list, tuple)) else [model]
    optimizers = [optimizer] if isinstance(optimizer, torch.optim.Optimizer) else optimizer
    return Trace(models, folder, optimizers, Options(**options))
