"""Code around captures as the documentation of torch shows it: nothing of it is reported.

After the notes on CUDA semantics of torch (`docs/source/notes/cuda.rst`, "CUDA Graphs").
"""

from __future__ import annotations

from pathlib import Path

from tests.unit.lint.probe import IMPORTS, found

WHOLE_NETWORK = """
def train(real_inputs, real_targets):
    model = nn.Sequential(nn.Linear(16, 8), nn.Dropout(p=0.2), nn.Linear(8, 4)).cuda()
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    static_input = torch.randn(8, 16, device="cuda")
    static_target = torch.randn(8, 4, device="cuda")
    s = torch.cuda.Stream()
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        for i in range(3):
            optimizer.zero_grad(set_to_none=True)
            y_pred = model(static_input)
            loss = loss_fn(y_pred, static_target)
            loss.backward()
            optimizer.step()
    torch.cuda.current_stream().wait_stream(s)
    g = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(g):
        static_y_pred = model(static_input)
        static_loss = loss_fn(static_y_pred, static_target)
        static_loss.backward()
        optimizer.step()
    for data, target in zip(real_inputs, real_targets):
        static_input.copy_(data)
        static_target.copy_(target)
        g.replay()
"""

SHARED_POOL = """
g1 = torch.cuda.CUDAGraph()
g2 = torch.cuda.CUDAGraph()
static_in = torch.full((5,), 3, device="cuda")

def f(x):
    return x * 2

with torch.cuda.graph(g1):
    static_mid = f(static_in)
with torch.cuda.graph(g2, pool=g1.pool()):
    static_out = f(static_mid)
static_in.copy_(torch.full((5,), 4, device="cuda"))
g1.replay()
g2.replay()
print(static_out)
"""

MIXED_PRECISION = """
def train(module1, x):
    with torch.cuda.amp.autocast(cache_enabled=False):
        module1 = torch.cuda.make_graphed_callables(module1, (x,))
    scaler = torch.cuda.amp.GradScaler()
    optimizer = torch.optim.SGD(module1.parameters(), lr=0.1)
    with torch.cuda.amp.autocast():
        loss = module1(x).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""

FORK_AND_JOIN = """
def run(x: Tensor):
    g = torch.cuda.CUDAGraph()
    s = torch.cuda.Stream()
    with torch.cuda.graph(g):
        s.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(s):
            y = x * 2
        torch.cuda.current_stream().wait_stream(s)
    g.replay()
    return y
"""


def test_nothing_is_reported_of_documented_code(tmp_path: Path) -> None:
    texts = {
        "whole.py": WHOLE_NETWORK,
        "pool.py": SHARED_POOL,
        "amp.py": MIXED_PRECISION,
        "fork.py": FORK_AND_JOIN,
    }
    assert found(tmp_path, {name: IMPORTS + text for name, text in texts.items()}) == []


def test_documented_code_without_its_warmup_and_copies_is_reported(tmp_path: Path) -> None:
    before, _, rest = WHOLE_NETWORK.partition("    s = torch")
    _, _, after = rest.partition("    g = torch")
    text = f"{before}    g = torch{after}".replace(
        "static_input.copy_(data)", "static_input = data"
    )

    assert found(tmp_path, {"whole.py": IMPORTS + text}) == [
        "whole.py:14 CL901",
        "whole.py:19 CL904",
    ]
