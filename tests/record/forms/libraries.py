"""Forms of calls that wait for the device, and of library routines that read their status."""

from __future__ import annotations

LIBRARIES = """
form:
torch.cuda.synchronize torch.accelerator.synchronize => {op}(); x * 2
torch.cuda.Event.synchronize torch.cuda.Event.query => e = torch.cuda.Event(); y = x * 2; e.record(); e.{name}(); y
torch.cuda.Stream.synchronize torch.cuda.Stream.query => y = x * 2; torch.cuda.current_stream().{name}(); y
torch.cuda.Event.elapsed_time => e = torch.cuda.Event(enable_timing=True); f = torch.cuda.Event(enable_timing=True); e.record(); y = x * 2; f.record(); wait(); e.elapsed_time(f); y
torch.cuda.Event.record torch.cuda.Event.wait => e = torch.cuda.Event(); e.record(); e.wait(); x * 2
torch.cuda.Stream.wait_stream => s = torch.cuda.Stream(); s.wait_stream(torch.cuda.current_stream()); torch.cuda.current_stream().wait_stream(s); x * 2
torch.cuda.empty_cache torch.cuda.mem_get_info => {op}(); x * 2
torch.linalg.solve => torch.linalg.solve(a, a[0])
torch.linalg.inv torch.linalg.cholesky torch.linalg.pinv torch.linalg.svdvals torch.linalg.eigvalsh => {op}(a)
torch.linalg.matrix_exp torch.matrix_exp => {op}(a / 64)
torch.cholesky torch.inverse torch.pinverse torch.cov torch.corrcoef torch.linalg.matrix_rank => {op}(a)
torch.linalg.svd torch.svd torch.svd_lowrank torch.pca_lowrank => {op}(a)[1]
torch.linalg.eigh torch.linalg.eig => {op}(a).eigenvalues.real
torch.linalg.eigvals => torch.linalg.eigvals(a).real
torch.linalg.lu_factor torch.linalg.ldl_factor => {op}(a)[0]
torch.linalg.tensorinv => torch.linalg.tensorinv(a.reshape(2, 4, 8), ind=2)
torch.linalg.tensorsolve => torch.linalg.tensorsolve(a.reshape(2, 4, 8), x[:2, :4])
torch.linalg.lstsq => torch.linalg.lstsq(a, a).solution
torch.lobpcg => torch.lobpcg(a, k=1)[0]
Tensor.inverse Tensor.pinverse Tensor.cholesky Tensor.cov Tensor.corrcoef => a.{name}()
Tensor.svd => a.svd()[1]
Tensor.matrix_exp => (a / 64).matrix_exp()
torch.linalg.solve_ex => torch.linalg.solve_ex(a, a[0])[0]
torch.linalg.inv_ex torch.linalg.cholesky_ex torch.linalg.lu_factor_ex => {op}(a)[0]
torch.linalg.det torch.logdet => {op}(a)
torch.linalg.qr torch.linalg.lu => {op}(a)[-1]
torch.linalg.slogdet => torch.linalg.slogdet(a).logabsdet
torch.linalg.lu_solve => lu, pivots, _ = torch.linalg.lu_factor_ex(a); torch.linalg.lu_solve(lu, pivots, a)
torch.cholesky_solve => torch.cholesky_solve(a, torch.linalg.cholesky_ex(a).L)
torch.cholesky_inverse => torch.cholesky_inverse(torch.linalg.cholesky_ex(a).L)
torch.linalg.solve_triangular => torch.linalg.solve_triangular(a.tril(), a, upper=False)
torch.linalg.householder_product => torch.linalg.householder_product(*torch.geqrf(a))
torch.geqrf => torch.geqrf(a)[0]
Tensor.to_sparse Tensor.to_sparse_coo Tensor.to_sparse_csr Tensor.to_sparse_csc => x.{name}().to_dense()
Tensor.to_sparse_bsr Tensor.to_sparse_bsc => x.{name}((2, 2)).to_dense()
torch.nested.nested_tensor torch.nested.as_nested_tensor => {op}([x, x[:4]]).to_padded_tensor(0.0)
torch.nn.functional.ctc_loss => F.ctc_loss(x[:, None].log_softmax(-1), torch.ones(1, 3, dtype=torch.long, device=x.device), (8,), (3,))
torch.ctc_loss => torch.ctc_loss(x[:, None].log_softmax(-1), torch.ones(1, 3, dtype=torch.long, device=x.device), [8], [3], 0, 1, False)
torch.nn.CTCLoss => nn.CTCLoss()(x[:, None].log_softmax(-1), torch.ones(1, 3, dtype=torch.long, device=x.device), (8,), (3,))
torch.nested.nested_tensor_from_jagged => torch.nested.nested_tensor_from_jagged(x, torch.arange(0, 12, 4, device=x.device)).values() * 2
torch.fft.fft => torch.fft.fft(x)
torch.einsum => torch.einsum("ij,kj->ik", x, x)

form: enforce_sorted=False: the order is copied to the device
torch.nn.utils.rnn.pack_padded_sequence => nn.utils.rnn.pack_padded_sequence(x, torch.arange(1, 9), True, enforce_sorted=False).data
torch.nn.utils.rnn.pack_sequence => nn.utils.rnn.pack_sequence([x[1, :8], x[0]], enforce_sorted=False).data

form: of sequences in order of their lengths
torch.nn.utils.rnn.pack_padded_sequence => nn.utils.rnn.pack_padded_sequence(x, torch.full((8,), 16), batch_first=True).data
torch.nn.utils.rnn.pack_sequence => nn.utils.rnn.pack_sequence([x[0], x[1, :8]]).data

form: p is None, 2, -2 or `nuc`
torch.linalg.cond => torch.linalg.cond(a) => torch.linalg.cond(a, 2) => torch.linalg.cond(a, -2) => torch.linalg.cond(a, "nuc")

form: of a matrix, with ord 2, -2 or `nuc`
torch.linalg.norm torch.linalg.matrix_norm => {op}(a, 2) => {op}(a, -2) => {op}(a, "nuc")

form: a negative power
torch.linalg.matrix_power => torch.linalg.matrix_power(a, -1)

form: of a vector, or the default order
torch.linalg.norm => torch.linalg.norm(a[0], 2) => torch.linalg.norm(a)
torch.linalg.matrix_norm => torch.linalg.matrix_norm(a)

form: a power of at least zero
torch.linalg.matrix_power => torch.linalg.matrix_power(a / 64, 3)

form: its backward, in the same captured region
torch.prod => r = x.detach().requires_grad_(); torch.autograd.grad(torch.prod(r, -1).sum(), r)
Tensor.prod => r = x.detach().requires_grad_(); torch.autograd.grad(r.prod(-1).sum(), r)
torch.masked_scatter => r = x.detach().requires_grad_(); torch.autograd.grad(torch.masked_scatter(x, mask, r).sum(), r)
Tensor.masked_scatter => r = x.detach().requires_grad_(); torch.autograd.grad(x.masked_scatter(mask, r).sum(), r)
Tensor.masked_scatter_ => r = x.detach().requires_grad_(); torch.autograd.grad(x.clone().masked_scatter_(mask, r).sum(), r)
"""
