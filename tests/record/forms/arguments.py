"""Forms of arguments that must be Python numbers."""

from __future__ import annotations

ARGUMENTS = """
form: a 0-d integer device tensor, or a slice bound
Tensor.__getitem__ => x[n] * 2 => x[:n] * 2
Tensor.__setitem__ => y = x.clone(); y[n] = x[0]; y => y = x.clone(); y[:n] = x[0]; y

form: a 0-d integer device tensor
torch.nn.ModuleList.__getitem__ => layers[n](x)
builtins.list.__getitem__ => [x, x * 2, x * 3, x * 4, x * 5][n] * 2
builtins.tuple.__getitem__ => (x, x * 2, x * 3, x * 4, x * 5)[n] * 2

form: a device tensor as size or bound
builtins.range => x * len(range(n))
torch.arange torch.eye torch.zeros torch.ones torch.empty torch.rand torch.randperm torch.randn => {op}(n, device=x.device).shape[0] * x
torch.range => torch.range(0, n, device=x.device).sum() * x
torch.linspace torch.logspace => {op}(0, 1, n, device=x.device).sum() * x
torch.full => torch.full((n,), 2.0, device=x.device).sum() * x
torch.randint => torch.randint(0, 8, (n,), device=x.device).shape[0] * x
torch.roll => torch.roll(x, n, 0)
torch.select => torch.select(x, 0, n) * 2
torch.triu torch.tril => {op}(x, n)
torch.narrow => torch.narrow(x, 0, 0, n) * 2
torch.split torch.chunk => {op}(x, n)[0] * 2
torch.tile => torch.tile(x, (n, 1))
torch.topk torch.kthvalue => {op}(x, n).values
torch.reshape => torch.reshape(x, (n, -1)) * 2
Tensor.expand => x[:1].expand(n, 16) * 2
Tensor.repeat Tensor.tile => x.{name}(n, 1)
Tensor.split Tensor.chunk => x.{name}(n)[0] * 2
Tensor.narrow => x.narrow(0, 0, n) * 2
Tensor.roll => x.roll(n, 0)
Tensor.new_zeros Tensor.new_ones Tensor.new_empty => x.{name}((n,)).shape[0] * x
Tensor.new_full => x.new_full((n,), 2.0).sum() * x
Tensor.select => x.select(0, n) * 2
Tensor.topk Tensor.kthvalue => x.{name}(n).values
Tensor.tril Tensor.triu => x.{name}(n)
Tensor.view Tensor.reshape => x.{name}(n, -1) * 2
Tensor.unflatten => x.unflatten(1, (n, -1)) * 2
torch.nn.functional.pad => F.pad(x, (0, n))
torch.nn.functional.interpolate => F.interpolate(x[None], size=(n,))

form: a device tensor as the number of classes
torch.nn.functional.one_hot => F.one_hot(idx, n + 8)

form: a device tensor of at least one dimension, integers, slices
Tensor.__getitem__ => x[idx] * 2 => x[0, 1:3] * 2 => x[:, idx] * 2

form:
Tensor.index_select => x.index_select(0, idx)
torch.index_select => torch.index_select(x, 0, idx)
torch.gather => torch.gather(x, 0, idx[None])
Tensor.gather => x.gather(0, idx[None])
torch.take => torch.take(x, idx)

form: a 0-d device tensor as value
Tensor.masked_fill => x.masked_fill(mask, t)
Tensor.masked_fill_ => x.clone().masked_fill_(mask, t)
torch.masked_fill => torch.masked_fill(x, mask, t)
Tensor.index_fill => x.index_fill(0, idx, t)
Tensor.index_fill_ => x.clone().index_fill_(0, idx, t)
torch.index_fill => torch.index_fill(x, 0, idx, t)

form: a boolean mask and a 0-d device tensor as value
Tensor.__setitem__ => y = x.clone(); y[mask] = t; y

form: a device tensor as value
torch.full => torch.full((8,), t, device=x.device) * 2
torch.full_like => torch.full_like(x, t)
Tensor.new_full => x.new_full((8,), t)
torch.addcmul torch.addcdiv => {op}(x, x, x + 1, value=t)
Tensor.addcmul Tensor.addcdiv => x.{name}(x, x + 1, value=t)
Tensor.addcmul_ Tensor.addcdiv_ => x.clone().{name}(x, x + 1, value=t)

form: a device tensor as alpha
torch.add torch.sub => {op}(x, x, alpha=t)
Tensor.add Tensor.sub => x.{name}(x, alpha=t)
Tensor.add_ Tensor.sub_ => x.clone().{name}(x, alpha=t)
torch.nn.functional.elu => F.elu(x, t)

form: a device tensor as alpha or beta
torch.addmm => torch.addmm(a, a, a, alpha=t) => torch.addmm(a, a, a, beta=t)
torch.baddbmm => torch.baddbmm(a[None], a[None], a[None], alpha=t)

form: a device tensor as beta or threshold
torch.nn.functional.softplus => F.softplus(x, t) => F.softplus(x, 1, t)

form: a device tensor as slope
torch.nn.functional.leaky_relu => F.leaky_relu(x - 0.5, t)

form: a device tensor as bound
torch.nn.functional.threshold => F.threshold(x, t, 0.0)
torch.nn.functional.hardtanh => F.hardtanh(x, 0.0, t)

form: a device tensor as p
torch.nn.functional.dropout => F.dropout(x, t)

form: a device tensor as replacement
torch.nan_to_num => torch.nan_to_num(x, nan=t)

form: one bound a number, the other a device tensor
torch.clamp torch.clip => {op}(x, 0.1, t)
Tensor.clamp Tensor.clip => x.{name}(0.1, t) => x.{name}(min=t, max=0.9)
Tensor.clamp_ Tensor.clip_ => x.clone().{name}(0.1, t)

form: a device tensor as std
torch.normal => torch.normal(x, x + 1)

form: a device tensor as parameter
Tensor.normal_ Tensor.uniform_ => x.clone().{name}(0.0, t)

form: device tensors, without validate_args=False
torch.distributions.Normal torch.distributions.Cauchy torch.distributions.Gumbel => {op}(t, t + 1).loc + x
torch.distributions.Laplace torch.distributions.LogNormal => {op}(t, t + 1).loc + x
torch.distributions.VonMises => torch.distributions.VonMises(t, t + 1).loc + x
torch.distributions.Bernoulli torch.distributions.Geometric => {op}(t).probs + x
torch.distributions.Beta torch.distributions.Gamma => {op}(t + 1, t + 1).mean + x
torch.distributions.Binomial => torch.distributions.Binomial(4, t).mean + x
torch.distributions.Categorical torch.distributions.OneHotCategorical => {op}(x).probs
torch.distributions.Chi2 torch.distributions.HalfNormal torch.distributions.Exponential => {op}(t + 1).mean + x
torch.distributions.Poisson torch.distributions.StudentT => {op}(t + 2).mean + x
torch.distributions.Dirichlet => torch.distributions.Dirichlet(x + 1).mean
torch.distributions.Multinomial => torch.distributions.Multinomial(4, x).mean
torch.distributions.MultivariateNormal => torch.distributions.MultivariateNormal(x[0, :8], a).mean
torch.distributions.Uniform => torch.distributions.Uniform(t, t + 1).mean + x

form: a number or a 0-d tensor on the host
Tensor.masked_fill => x.masked_fill(mask, 0.5) => x.masked_fill(mask, torch.tensor(2.0))
Tensor.masked_fill_ => x.clone().masked_fill_(mask, 0.5) => x.clone().masked_fill_(mask, torch.tensor(2.0))

form: a boolean mask and a number
Tensor.__setitem__ => y = x.clone(); y[mask] = 0.5; y

form: integers and slices alone, and a device tensor as value
Tensor.__setitem__ => y = x.clone(); y[0, 1:3] = t; y => y = x.clone(); y[2] = x[0]; y

form: a 0-d device tensor
Tensor.fill_ Tensor.copy_ => x.clone().{name}(t)
torch.fill => torch.fill(x, t)

form: one bound alone, two numbers, or two device tensors
Tensor.clamp => x.clamp(max=t) => x.clamp(0.2, 0.8) => x.clamp(t, t + 0.1)
torch.clamp => torch.clamp(x, max=t) => torch.clamp(x, 0.2, 0.8) => torch.clamp(x, t, t + 0.1)

form: three arguments: device tensors and numbers
torch.where => torch.where(mask, x, 0.0) => torch.where(t > 0.5, x, t) => torch.where(mask, 1.0, 0.0)

form: validate_args=False
torch.distributions.Normal => torch.distributions.Normal(t, t + 1, validate_args=False).rsample() + x
torch.distributions.Categorical => torch.distributions.Categorical(x, validate_args=False).sample()

form: a number as std
torch.normal => torch.normal(x, 2.0)

form: a device tensor as weight or operand
torch.lerp => torch.lerp(x, x * 2, t)
Tensor.pow Tensor.div => x.{name}(t + 1)
torch.bernoulli => torch.bernoulli(x)
"""
