"""Forms of operations whose shape depends on values, and of values that decide what comes next."""

from __future__ import annotations

SHAPES = """
form:
torch.nonzero torch.argwhere => {op}(mask).sum() + x
Tensor.nonzero Tensor.argwhere => mask.{name}().sum() + x
torch.unique torch.unique_consecutive => {op}(idx).sum() + x
Tensor.unique Tensor.unique_consecutive => idx.{name}().sum() + x
torch.masked_select => torch.masked_select(x, mask).sum() + x
Tensor.masked_select => x.masked_select(mask).sum() + x
torch.bincount => torch.bincount(idx).sum() + x => torch.bincount(idx, minlength=8).sum() + x
Tensor.bincount => idx.bincount().sum() + x => idx.bincount(minlength=8).sum() + x
torch.combinations => torch.combinations(x[0]).sum() + x
torch.nonzero_static => torch.nonzero_static(mask, size=16)
Tensor.nonzero_static => mask.nonzero_static(size=16)
torch.count_nonzero => torch.count_nonzero(mask)
torch.multinomial => torch.multinomial(x, 2)
torch.randperm => torch.randperm(8, device=x.device)
torch.median torch.mode torch.sort => {op}(x, 1).values
torch.quantile => torch.quantile(x, 0.5)
torch.isin => torch.isin(idx, idx[:2])
torch.searchsorted => torch.searchsorted(x[0].sort().values, x)
torch.bucketize => torch.bucketize(x, x[0].sort().values)
torch.topk torch.kthvalue => {op}(x, 2).values
torch.cumsum => torch.cumsum(x, 0)
torch.cdist => torch.cdist(x, x * 2)
torch.cartesian_prod torch.block_diag => {op}(x[0], x[1])
torch.tril_indices => torch.tril_indices(4, 4, device=x.device)
torch.tensor_split => torch.tensor_split(x, 3)

form: one argument
torch.where => torch.where(mask)[0].sum() + x

form: without a range
torch.histc => torch.histc(x, 4)
Tensor.histc => x.histc(4)

form: repeats is a device tensor
torch.repeat_interleave => torch.repeat_interleave(x, cnt, dim=0) => torch.repeat_interleave(cnt).sum() + x
Tensor.repeat_interleave => x.repeat_interleave(cnt, dim=0)

form: without the number of classes
torch.nn.functional.one_hot => F.one_hot(idx).sum() + x

form: repeats is a number
torch.repeat_interleave => torch.repeat_interleave(x, 2, dim=0)
Tensor.repeat_interleave => x.repeat_interleave(2, dim=0)

form: with output_size
torch.repeat_interleave => torch.repeat_interleave(x, cnt, dim=0, output_size=12)
Tensor.repeat_interleave => x.repeat_interleave(cnt, dim=0, output_size=12)

form: with the number of classes
torch.nn.functional.one_hot => F.one_hot(idx, 8)

form: with a range
torch.histc => torch.histc(x, 4, 0.0, 1.0)
Tensor.histc => x.histc(4, 0.0, 1.0)

form: three arguments
torch.where => torch.where(mask, x, x * 2)

form: forward alone
Tensor.masked_scatter => x.masked_scatter(mask, x * 2)
Tensor.masked_scatter_ => x.clone().masked_scatter_(mask, x * 2)
torch.masked_scatter => torch.masked_scatter(x, mask, x * 2)

form: a boolean device tensor
Tensor.__getitem__ => x[mask].sum() + x => x[mask[:, 0]].sum() + x

form: a boolean device tensor, and a tensor of at least one dimension as value
Tensor.__setitem__ => y = x.clone(); y[mask[:, 0]] = x[0]; y

form: `x[mask] += v`: a boolean device tensor
Tensor.__setitem__ => y = x.clone(); y[mask] += 1.0; y

form: a boolean device tensor, alone or among slices, and a number
Tensor.__setitem__ => y = x.clone(); y[mask] = 0.5; y => y = x.clone(); y[:, mask[0]] = 0.5; y
"""

BRANCHES = """
form: a device tensor as test
if => if t > 0.5: x = x * 2; x + 1
while => while x.sum() < 200: x = x * 2; x + 1
ternary => x * 2 if t > 0.5 else x
and => x * ((t > 0.5) and 2)
or => x * ((t > 0.5) or 2)
not => x * (not t > 0.5)
match => match n:;    case 1: x = x * 2;    case _: x = x * 3; x
assert => assert (x >= 0).all(); x * 2

form: shape, dtype, device, `is None`, isinstance, self.training
if => if x.shape[0] == 8 and x.dtype == torch.float32: x = x * 2; x + 1 => if x is not None and isinstance(x, torch.Tensor) and x.device.type == "cuda": x = x * 2; x + 1

form: in place of a branch
torch.where => torch.where(t > 0.5, x, x * 2)
torch.clamp => torch.clamp(x, max=t)

form:
torch.equal torch.allclose => x * {op}(x, x * 1)
Tensor.equal Tensor.allclose => x * x.{name}(x * 1)
torch.is_nonzero => x * torch.is_nonzero(t)
Tensor.is_nonzero => x * t.is_nonzero()
torch._check_tensor_all => torch._check_tensor_all(x >= 0); x * 2
torch.testing.assert_close => torch.testing.assert_close(x, x * 1); x * 2
torch._assert_async => torch._assert_async((x >= 0).all()); x * 2
torch.isclose => torch.isclose(x, x * 1)
torch.nn.utils.clip_grad_norm_ => w = x.detach().requires_grad_(); w.grad = x * 3; nn.utils.clip_grad_norm_([w], 1.0); w.grad

form: error_if_nonfinite=True
torch.nn.utils.clip_grad_norm_ => w = x.detach().requires_grad_(); w.grad = x * 3; nn.utils.clip_grad_norm_([w], 1.0, error_if_nonfinite=True); w.grad

form: over range of a device tensor
for => for _ in range(n): x = x * 2; x + 1
"""
