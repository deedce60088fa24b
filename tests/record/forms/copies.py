"""Forms of the operations that bring host data to the device."""

from __future__ import annotations

COPIES = """
form: Python values, with a device target
torch.tensor torch.as_tensor torch.asarray => x * {op}([2.0, 3.0], device=x.device).sum() => x * {op}(2.0, device=x.device)

form: a list of 0-d device tensors: each is read on the host
torch.tensor => x * torch.tensor([t, t]).shape[0]

form: Python values, on a device tensor
Tensor.new_tensor => x * x.new_tensor([2.0])

form: Python values
torch.cuda.FloatTensor => x * torch.cuda.FloatTensor([2.0])

form: a device tensor
torch.tensor torch.as_tensor torch.asarray => {op}(x) * 2
Tensor.new_tensor => x.new_tensor(x) * 2

form: an empty literal
torch.tensor => x + torch.tensor([], device=x.device).sum()

form: without a device: it stays on the host
torch.tensor => x * torch.tensor(2.0)

form: a list of 0-d device tensors
torch.stack => torch.stack([t, x[0, 0]])

form: a number as value
torch.full => torch.full((8,), 2.0, device=x.device) + t
torch.full_like => torch.full_like(x, 2.0) + x
torch.scalar_tensor => torch.scalar_tensor(2.0, device=x.device) + x
Tensor.new_full => x.new_full((16,), 2.0) + x

form:
torch.zeros torch.ones torch.arange => {op}(16, device=x.device) + x
torch.linspace => torch.linspace(0, 1, 16, device=x.device) + x
torch.eye => torch.eye(8, 16, device=x.device) + x
torch.zeros_like => torch.zeros_like(x) + x

form: an unpinned tensor on the host, non_blocking or not
Tensor.to => x + h.to(x.device) => x + h.to(x.device, non_blocking=True)

form: a pinned tensor on the host, without non_blocking=True
Tensor.to => x + p.to(x.device)

form: a tensor on the host, non_blocking or not
Tensor.cuda => x + h.cuda() => x + h.cuda(non_blocking=True)

form: an unpinned tensor on the host into a device tensor
Tensor.copy_ => x + torch.empty_like(x).copy_(h)

form: a 0-d tensor on the host as one of the two values
torch.where => torch.where(mask, x, h0) => torch.where(mask, h0, x)

form: a pinned tensor on the host, with non_blocking=True
Tensor.to => x + p.to(x.device, non_blocking=True)

form: a list of integers
Tensor.__getitem__ => x[[0, 2, 1]] * 2 => x[:, [0, 2]] * 2
Tensor.__setitem__ => y = x.clone(); y[[0, 2]] = x[:2]; y => y = x.clone(); y[[0, 2]] = 1.0; y

form: a list of booleans, a range or a numpy array
Tensor.__getitem__ => x[[True, False] * 4] * 2 => x[range(3)] * 2 => x[np.array([0, 2])] * 2

form: an integer tensor on the host of at least one dimension
Tensor.__getitem__ => x[hi] * 2
Tensor.__setitem__ => y = x.clone(); y[hi] = x[:2]; y

form: an integer device tensor, and a number as value
Tensor.__setitem__ => y = x.clone(); y[idx] = 1.0; y => y = x.clone(); y[:, idx] = 1.0; y

form: an integer device tensor, and a 0-d host tensor as value
Tensor.__setitem__ => y = x.clone(); y[idx] = h0; y

form: an integer for every dimension, and a number as value
Tensor.__setitem__ => y = x.clone(); y[0, 1] = 5.0; y

form: an integer for every dimension, and a 0-d host tensor as value
Tensor.__setitem__ => y = x.clone(); y[0, 1] = h0; y

form: an integer device tensor, or an integer for every dimension, and a number as value
Tensor.__setitem__ => y = x.clone(); y[idx] = 1.0; y => y = x.clone(); y[0, 1] = 5.0; y

form: a 0-d integer tensor on the host, or a boolean one
Tensor.__getitem__ => x[torch.tensor(1)] * 2 => x[torch.tensor(True)] * 2

form: an empty list, or a numpy integer
Tensor.__getitem__ => x[[]].sum() + x => x[np.int64(2)] * 2

form: fewer integers than dimensions, or slices, and a number
Tensor.__setitem__ => y = x.clone(); y[0] = 5.0; y => y = x.clone(); y[:1] = 5.0; y => y = x.clone(); y[0, :2] = 5.0; y

form: `x[idx] += 1.0` and `x[0, 1] += 1.0`
Tensor.__setitem__ => y = x.clone(); y[idx] += 1.0; y => y = x.clone(); y[0, 1] += 1.0; y

form: a device index and a number as value
Tensor.index_fill_ => x.clone().index_fill_(0, idx, 3.0)
Tensor.scatter_ => x.clone().scatter_(0, idx[None], 3.0)

form: device tensors
Tensor.index_add_ Tensor.index_copy_ => x.clone().{name}(0, idx, x[:4])
Tensor.scatter_add_ => x.clone().scatter_add_(0, idx[None], x[:1, :4])
Tensor.index_put_ => x.clone().index_put_((idx,), x[:4]) => x.clone().index_put_((idx,), t)

form: a pinned tensor on the host that changes
Tensor.to => p.add_(1); x + p.to(x.device, non_blocking=True)

form: a pinned temporary
Tensor.to => x + torch.arange(16.0).pin_memory().to(x.device, non_blocking=True)

form: a temporary that is pinned during capture
Tensor.to => x + torch.arange(16.0).pin_memory().to(x.device, non_blocking=True)

form: a 0-d tensor on the host that changes between calls
Tensor.__mul__ Tensor.__add__ Tensor.__sub__ Tensor.__truediv__ Tensor.__pow__ => h0.add_(0.05); x.{name}(h0)
Tensor.__lt__ Tensor.__gt__ => h0.add_(0.05); x.{name}(h0)
torch.add torch.sub torch.mul torch.div torch.maximum => h0.add_(0.05); {op}(x, h0)
torch.lerp => h0.add_(0.05); torch.lerp(x, x * 2, h0)
"""
