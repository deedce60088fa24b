"""Forms of the operations that bring a tensor's value to the host."""

from __future__ import annotations

READS = """
form:
Tensor.item Tensor.tolist => x * x[0, 0].{name}()
Tensor.__int__ Tensor.__float__ Tensor.__bool__ Tensor.__complex__ => x * t.{name}().real
Tensor.__index__ => x * n.__index__()
Tensor.size Tensor.stride => x * x.{name}(0)
Tensor.dim Tensor.numel Tensor.is_contiguous Tensor.is_floating_point => x * x.{name}()
Tensor.data_ptr => x * (x.data_ptr() != 0)
builtins.len => x * len(x)
torch.is_tensor => x * torch.is_tensor(x)
builtins.isinstance => x * isinstance(x, torch.Tensor)
Tensor.cpu => x * x.cpu().shape[0]

form: of a device tensor
builtins.int builtins.float builtins.bool builtins.complex => x * {name}(t).real
operator.index => x * operator.index(n)
builtins.chr => x * ord(chr(n))
math.sqrt math.floor math.log math.isnan math.acos math.asin math.asinh math.atan math.atanh => x * {op}(t)
math.ceil math.cos math.cosh math.degrees math.erf math.erfc math.exp math.expm1 math.fabs => x * {op}(t)
math.gamma math.isfinite math.isinf math.lgamma math.log10 math.log1p math.log2 => x * {op}(t)
math.radians math.sin math.sinh math.tan math.tanh => x * {op}(t)
math.acosh => x * math.acosh(t + 1)
math.hypot math.atan2 math.copysign math.fmod math.isclose math.pow => x * {op}(t, 2.0)
math.ldexp => x * math.ldexp(t, 2)
builtins.hash => x * (hash(x) != 0)
builtins.abs => abs(x - 0.5)
builtins.print => print(t); x * 2
builtins.str builtins.repr builtins.format => x * len({name}(t))
builtins.list builtins.tuple => {name}(x)[0] * 2
builtins.zip => list(zip(x, x))[0][1] * 2
builtins.enumerate => [row for _, row in enumerate(x)][1] * 2
builtins.reversed => list(reversed(x))[0] * 2

form: of a tensor on the host
Tensor.item Tensor.tolist => x * hx[0, 0].{name}()
builtins.int builtins.float => x * {name}(hx[0, 0] + 1)

form: the target is the CPU
Tensor.to => x * x.to("cpu").shape[0]

form: the target is the CPU, with non_blocking=True
Tensor.to => y = x.to("cpu", non_blocking=True); wait(); x + y.sum().item()

form: of a device tensor, with force=True
Tensor.numpy => x * x.numpy(force=True).shape[0]

form: a device tensor into one on the host
Tensor.copy_ => hx.copy_(x); x * 2

form: `torch.FloatTensor` and its like
Tensor.type => x * x.type("torch.FloatTensor").shape[0]

form: another dtype, or the device that the tensor is on
Tensor.to => x.to(torch.float64) * 2 => x.to(x.device) * 2

form: of a tensor that is on the device
Tensor.cuda => x.cuda() * 2

form: a message with a device tensor in it
warnings.warn => warnings.warn(f"{t}"); x * 2

form: a device tensor in a field
str.format => x * len("{}".format(t))
str.__mod__ => x * len("%s" % t)
f-string => x * len(f"{t}")

form: `%s` with a device tensor at a level that is switched off
logging.Logger.debug => logging.getLogger("quiet").debug("%s", t); x * 2

form: over a device tensor or over device tensors
builtins.any builtins.all => x * {name}(x[0] > 0.5) => x * {name}([t > 0.5, t > 0.2])
builtins.max builtins.min => {name}(x[0]) * 2 => {name}(t, x[0, 0]) * 2
builtins.sorted => sorted(x[0])[3] * 2

form: `n in values` with a device tensor on a side
operator.contains => x * operator.contains(x, 0.5) => x * (n in [1, 3]) => x * (0.5 in x)

form: over a device tensor or over device tensors: additions on the device
builtins.sum => sum(x) * 2 => sum([t, x[0]])

form: over a device tensor
for => for row in x: y = row * 2; y
"""
