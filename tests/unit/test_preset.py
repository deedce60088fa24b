"""What presets say, how a project gets one, and what a broken preset file answers."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from capturelint.errors import ConfigError
from capturelint.modes import ModeAttribute, Modes, ModesOf, ModeTest
from capturelint.preset import (
    Guard,
    Preset,
    UnknownPresetError,
    load_preset,
    preset_names,
    presets_for,
    read_preset,
)

_EXPERTS = "vllm.model_executor.layers.fused_moe"

SMALL = """
name = "small"
summary = "a small engine"
packages = ["small"]
default_device = "cpu"
"""

MODES = SMALL + '[modes]\ncaptured = ["b"]\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "small.toml"
    path.write_text(text, encoding="utf-8")
    return path


def problem(folder: Path, text: str) -> str:
    path = written(folder, text)
    with pytest.raises(ConfigError) as caught:
        read_preset(path)
    return str(caught.value).removeprefix(f"{path}: ")


def is_covered(name: str, patterns: tuple[str, ...]) -> bool:
    parts = name.split(".")
    heads = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    return any(fnmatchcase(head, pattern) for head in heads for pattern in patterns)


def test_six_engines_have_a_preset() -> None:
    assert preset_names() == ("diffusers", "megatron", "sglang", "timm", "transformers", "vllm")


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_loads_and_knows_its_own_package(name: str) -> None:
    preset = load_preset(name)

    assert (preset.name, preset.packages) == (name, (name,))
    assert preset.eager


@pytest.mark.parametrize("name", preset_names())
def test_no_preset_takes_being_compiled_for_being_captured(name: str) -> None:
    last_parts = {guard.name.rpartition(".")[2] for guard in load_preset(name).guards}

    assert last_parts.isdisjoint(
        {"is_compiling", "is_dynamo_compiling", "is_torchdynamo_compiling"}
    )


@pytest.mark.parametrize("name", preset_names())
def test_every_pattern_of_a_preset_starts_in_its_own_package(name: str) -> None:
    preset = load_preset(name)
    patterns = (*preset.roots, *preset.uncaptured, *preset.step)

    elsewhere = [
        text for text in patterns if text.removeprefix("subclasses:").split(".")[0] != name
    ]

    assert elsewhere == []


def test_a_preset_is_chosen_by_the_packages_a_project_is_or_imports() -> None:
    chosen = [preset.name for preset in presets_for(["torch", "vllm", "timm"])]

    assert chosen == ["timm", "vllm"]


def test_a_project_that_imports_no_engine_gets_no_preset() -> None:
    assert presets_for(["torch", "numpy", "vllm_like"]) == ()


@pytest.mark.parametrize(
    ("engine", "function"),
    [
        ("vllm", "vllm.model_executor.models.qwen2_vl.Qwen2VisionBlock.forward"),
        ("vllm", "vllm.model_executor.models.radio.RadioModel.forward"),
        ("vllm", "vllm.model_executor.layers.pooler.special.BgeM3Pooler.forward"),
        ("vllm", "vllm.v1.sample.sampler.Sampler.forward"),
        ("vllm", "vllm.model_executor.layers.linear.LinearMethod.process_weights_after_loading"),
        ("vllm", "vllm.model_executor.models.llama.LlamaForCausalLM.load_weights"),
        ("vllm", "vllm.model_executor.layers.activation.SiluAndMul.forward_cpu"),
        ("vllm", "vllm.models.inkling.common.towers.InklingVision.forward"),
        ("sglang", "sglang.srt.models.kimi_vl_moonvit.MoonVitEncoder.forward"),
        ("sglang", "sglang.srt.layers.sampler.Sampler.forward"),
        ("sglang", "sglang.srt.hardware_backend.npu.attention.Backend.forward_decode"),
        ("sglang", "sglang.multimodal_gen.runtime.models.vaes.wanvae.WanVAE.forward"),
        ("transformers", "transformers.models.mixtral.modular_mixtral.MixtralExperts.forward"),
        ("transformers", "transformers.loss.loss_rt_detr.RTDetrLoss.forward"),
        ("vllm", f"{_EXPERTS}.prepare_finalize.moonep.MoonEPPrepareAndFinalize.prepare"),
        ("vllm", f"{_EXPERTS}.topk_weight_and_reduce.TopKWeightAndReduceNaiveBatched.apply"),
        ("sglang", "sglang.kernels.ops.norm.FusedNorm.forward_native"),
        ("sglang", "sglang.srt.models.deepseek_v4.DeepseekV4Model._forward_layers_tbo"),
        ("transformers", "transformers.generation.logits_process.TopKLogitsWarper.__call__"),
        ("timm", "timm.data.naflex_transforms.Patchify.forward"),
        ("timm", "timm.loss.jsd.JsdCrossEntropy.forward"),
        ("diffusers", "diffusers.schedulers.scheduling_ddim.DDIMScheduler.step"),
        ("diffusers", "diffusers.pipelines.flux.pipeline_flux.FluxPipeline.__call__"),
        ("diffusers", "diffusers.pipelines.stable_diffusion.safety_checker.Checker.forward"),
    ],
)
def test_what_an_engine_never_captures_is_eager(engine: str, function: str) -> None:
    assert is_covered(function, load_preset(engine).uncaptured)


@pytest.mark.parametrize(
    ("engine", "function"),
    [
        ("vllm", "vllm.model_executor.models.llama.LlamaAttention.forward"),
        (
            "vllm",
            "vllm.model_executor.models.cohere2_vision.Cohere2VisionForConditionalGeneration.forward",
        ),
        ("vllm", "vllm.model_executor.models.whisper.WhisperDecoderLayer.forward"),
        ("vllm", "vllm.model_executor.models.bert.BertEncoder.forward"),
        ("vllm", "vllm.model_executor.layers.activation.SiluAndMul.forward_cuda"),
        ("vllm", "vllm.v1.attention.backends.rocm_attn.RocmAttentionImpl.forward"),
        ("vllm", "vllm.compilation.cuda_graph.CUDAGraphWrapper.__call__"),
        ("vllm", f"{_EXPERTS}.prepare_finalize.deepep_ll.DeepEPLLPrepareAndFinalize.prepare"),
        ("sglang", "sglang.srt.layers.layernorm.RMSNorm.forward_native"),
        ("sglang", "sglang.srt.layers.attention.linear.gdn_backend.GDNAttnBackend.forward_extend"),
        ("sglang", "sglang.srt.layers.logits_processor.LogitsProcessor.forward"),
        ("sglang", "sglang.srt.models.sarashina2_vision.Sarashina2VisionForCausalLM.forward"),
        ("sglang", "sglang.multimodal_gen.runtime.models.dits.flux.FluxTransformer.forward"),
        ("transformers", "transformers.models.clip.modeling_clip.CLIPVisionTransformer.forward"),
        (
            "transformers",
            "transformers.models.rt_detr.modeling_rt_detr.RTDetrDecoder.generate_anchors",
        ),
        ("transformers", "transformers.modeling_flash_attention_utils._get_unpad_data"),
        ("transformers", "transformers.modeling_utils.PreTrainedModel.get_extended_attention_mask"),
        ("timm", "timm.layers.patch_embed.PatchEmbedInterpolator.forward"),
        ("diffusers", "diffusers.models.embeddings.get_timestep_embedding"),
        ("diffusers", "diffusers.models.lora.LoRALinearLayer.forward"),
    ],
)
def test_what_an_engine_captures_is_not_eager(engine: str, function: str) -> None:
    assert not is_covered(function, load_preset(engine).uncaptured)


def test_an_unknown_preset_names_the_nearest() -> None:
    with pytest.raises(UnknownPresetError, match=r"^no preset 'vlm'; did you mean vllm\?$"):
        load_preset("vlm")


def test_a_preset_unlike_any_other_lists_them_all() -> None:
    with pytest.raises(UnknownPresetError, match="known are diffusers, megatron, sglang, timm"):
        load_preset("qqq")


def test_all_keys_are_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        SMALL
        + 'roots = ["subclasses:small.Base.forward"]\neager = ["small.*.load"]\n'
        + 'rare = ["small.save"]\nstep = ["small.run"]\nhost_names = ["*_cpu"]\ndecorators = ["no_graph"]\n'
        + 'contexts = ["sync_allowed"]\ncomments = ["sync-ok"]\n'
        + '[[guards]]\nname = "env.capturing"\nvalue = true\nwhy = "set while capturing"\n'
        + "asks_capture = true\n"
        + '[modes]\ncaptured = ["decode", "verify"]\nvalues = ["mode"]\n'
        + '[[modes.tests]]\nname = "is_decode"\ntrue_in = ["decode"]\nunsure_in = ["verify"]\n'
        + '[[modes.attributes]]\nname = "batch.lens"\nnone_in = ["decode"]\n'
        + '[[modes.functions]]\npatterns = ["small.check"]\nmodes = ["verify"]\nwhy = "a name"\n',
    )

    assert read_preset(path) == Preset(
        name="small",
        summary="a small engine",
        packages=("small",),
        default_device="cpu",
        roots=("subclasses:small.Base.forward",),
        eager=("small.*.load",),
        rare=("small.save",),
        step=("small.run",),
        host_names=("*_cpu",),
        guards=(Guard("env.capturing", value=True, why="set while capturing", asks_capture=True),),
        decorators=("no_graph",),
        contexts=("sync_allowed",),
        comments=("sync-ok",),
        modes=Modes(
            captured=("decode", "verify"),
            values=("mode",),
            tests=(ModeTest("is_decode", ("decode",), ("verify",)),),
            attributes=(ModeAttribute("batch.lens", ("decode",)),),
            functions=(ModesOf(("small.check",), ("verify",), "a name"),),
        ),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name = ", "is not valid TOML: "),
        (SMALL + 'eagre = ["a"]', "unknown key 'eagre'; did you mean eager?"),
        (SMALL + "xyz = 1", "unknown key 'xyz'; known are name, summary, default_device"),
        (SMALL.replace('name = "small"', ""), "has no key 'name'; add it"),
        (SMALL.replace("a small engine", " "), "summary is ' '; write a text in quotes"),
        (
            SMALL.replace('"small"\nsum', '"tall"\nsum'),
            "name is 'tall'; name it 'small' like the file",
        ),
        (SMALL.replace('"cpu"', '"gpu"'), "default_device is 'gpu'; write one of cuda, cpu"),
        (SMALL + 'roots = "a"', "roots is 'a'; write a list of texts"),
        (SMALL + "roots = [1]", "roots holds 1; write texts in quotes"),
        (SMALL + 'roots = ["a", "a"]', "roots holds 'a' twice; remove one"),
        (SMALL + 'eager = ["a/b.py"]', "eager holds 'a/b.py'; write a glob such as"),
        (
            SMALL + 'step = ["subclasses:a.*"]',
            "step holds 'subclasses:a.*'; `subclasses:` takes no",
        ),
        (SMALL + "guards = 1", "guards is 1; write [[guards]] tables"),
        (SMALL + "guards = [1]", "guards holds 1; write [[guards]] tables"),
        (SMALL + '[[guards]]\nname = "a"\nvalue = true', "has no key 'why'; add it"),
        (
            SMALL + '[[guards]]\nname = "a()"\nwhy = "b"\nvalue = true',
            "guard 'a()' is not a dotted",
        ),
        (
            SMALL + '[[guards]]\nname = "a"\nwhy = "b"\nvalue = 1',
            "value of guard 'a' is 1; write true",
        ),
        (
            SMALL + '[[guards]]\nname = "a"\nwhy = "b"\nval = true',
            "unknown key 'val'; did you mean value?",
        ),
        (
            SMALL + '[[guards]]\nname = "a"\nwhy = "b"\nvalue = true\n' * 2,
            "two guards are named 'a'; remove one",
        ),
        (SMALL + "modes = 1", "modes is 1; write a [modes] table"),
        (SMALL + "[modes]\nvalue = 1", "unknown key 'value'; did you mean values?"),
        (SMALL + "[modes]\ntests = 1", "modes.tests is 1; write [[modes.tests]] tables"),
        (
            MODES + '[[modes.tests]]\nname = "a"\ntrue_in = ["c"]',
            "true_in holds 'c'; captured modes are b",
        ),
        (MODES + '[[modes.tests]]\nname = "a"\n' * 2, "two tests of modes are named 'a'; remove"),
        (
            MODES + '[[modes.tests]]\nname = "a"\ntrue_in = ["b"]\nunsure_in = ["b"]',
            "'a' is true and unsure in one mode; remove it from one",
        ),
        (
            MODES + '[[modes.attributes]]\nname = "lens"\nnone_in = ["b"]',
            "attribute 'lens' of modes has no owner; write it as owner.attribute",
        ),
        (
            MODES + '[[modes.functions]]\npatterns = ["a"]\nwhy = "b"',
            "modes.functions without modes; name them, or use `eager`",
        ),
        (
            MODES + '[[modes.functions]]\npatterns = ["a/b"]\nmodes = ["b"]\nwhy = "c"',
            "modes.functions holds 'a/b'; write a glob such as",
        ),
    ],
)
def test_a_broken_preset_is_one_line_that_says_what_and_how_to_mend(
    tmp_path: Path, text: str, expected: str
) -> None:
    message = problem(tmp_path, text)

    assert message.startswith(expected)
    assert "\n" not in message


def test_a_preset_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"small\.toml: cannot be read: No such file"):
        read_preset(tmp_path / "small.toml")


@pytest.mark.parametrize("name", preset_names())
def test_what_runs_each_step_is_not_rare(name: str) -> None:
    preset = load_preset(name)

    assert [text for text in preset.step if is_covered(text, preset.rare)] == []
