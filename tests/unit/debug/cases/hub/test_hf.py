"""Tiny models of transformers by their type: what is made, and one line for what cannot be."""

from __future__ import annotations

import os
import warnings
from typing import Any

import pytest
import torch

from capturelint.debug.cases import requirements
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.loading import load
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.cases.requirements import MissingPackageError
from capturelint.debug.settings import Settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    transformers = pytest.importorskip("transformers", reason="it is about transformers' models")


def case_of(name: str, **given: Any) -> Case:
    return load(f"hf:{name}", **given)()


def run(case: Case, seed: int) -> Any:
    assert callable(case.inputs)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.named[""](**case.inputs(seed))


def mistake(name: str) -> str:
    with pytest.raises(CaseError) as error:
        case_of(name)
    return str(error.value)


@pytest.mark.parametrize(
    ("kind", "cls", "inputs"),
    [
        ("llama", "LlamaForCausalLM", {"input_ids", "attention_mask"}),
        ("bert", "BertForMaskedLM", {"input_ids", "attention_mask"}),
        (
            "t5",
            "T5ForConditionalGeneration",
            {"input_ids", "attention_mask", "decoder_input_ids"},
        ),
        (
            "whisper",
            "WhisperForConditionalGeneration",
            {"input_features", "decoder_input_ids"},
        ),
        ("clip", "CLIPModel", {"input_ids", "attention_mask", "pixel_values"}),
        ("vit", "ViTModel", {"pixel_values"}),
        ("wav2vec2", "Wav2Vec2Model", {"input_values"}),
        ("mamba", "MambaForCausalLM", {"input_ids", "attention_mask"}),
        (
            "autoformer",
            "AutoformerModel",
            {"past_values", "past_time_features", "past_observed_mask"},
        ),
        ("siglip_text_model", "SiglipTextModel", {"input_ids", "attention_mask"}),
    ],
)
def test_each_kind_of_model_gets_its_inputs(kind: str, cls: str, inputs: set[str]) -> None:
    case = case_of(kind)
    model: Any = case.callables

    assert type(model).__name__ == cls
    assert set(case.inputs(0)) == inputs  # type: ignore[operator] # a function
    assert sum(one.numel() for one in model.parameters()) < 3e6
    assert not model.training
    run(case, 1)


def test_inputs_are_fresh_and_of_one_shape() -> None:
    inputs: Any = case_of("llama").inputs

    assert inputs(1)["input_ids"].shape == inputs(2)["input_ids"].shape
    assert inputs(1)["input_ids"].tolist() != inputs(2)["input_ids"].tolist()
    assert inputs(1)["input_ids"].tolist() == inputs(1)["input_ids"].tolist()


def test_each_instance_is_fresh_and_alike_for_a_seed() -> None:
    make = load("hf:llama")
    models: list[Any] = []
    for _ in range(2):
        torch.manual_seed(0)
        models.append(make().callables)

    assert models[0] is not models[1]
    assert torch.equal(models[0].lm_head.weight, models[1].lm_head.weight)


def test_every_kind_of_layer_is_there() -> None:
    model: Any = case_of("gemma3_text").callables

    assert model.config.layer_types == ["sliding_attention", "full_attention"]


def test_a_class_can_be_named() -> None:
    assert type(case_of("llama:LlamaModel").callables).__name__ == "LlamaModel"


def test_in_training_the_model_trains() -> None:
    case = case_of("llama", settings=Settings(train=True))
    model: Any = case.callables

    assert model.training
    assert case.mode == "train"


def test_the_notes_say_what_was_made_and_what_was_left_out() -> None:
    size = sum(one.numel() for one in case_of("llava").named[""].parameters())  # type: ignore[attr-defined] # a module

    assert case_of("llava").notes == (
        (
            f"hf:llava: LlavaForConditionalGeneration with random weights, {size:,} parameters, "
            "attention: sdpa"
        ),
        "hf:llava: inputs: text, input_ids (2, 16), attention_mask (2, 16)",
        "hf:llava: not drawn: pixel_values; write a factory: FILE.py:make to judge what they run",
    )


def test_nothing_is_fetched() -> None:
    case_of("llama")

    assert os.environ["HF_HUB_OFFLINE"] == "1"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "lama",
            (
                f"hf:lama: transformers {transformers.__version__} has no such type; "
                "did you mean hf:llama?"
            ),
        ),
        (
            "zzzzzz",
            (
                f"hf:zzzzzz: transformers {transformers.__version__} has no such type; "
                "name one such as hf:llama"
            ),
        ),
        (
            "llama:LlamaMode",
            "hf:llama:LlamaMode: transformers has no such class; did you mean LlamaModel?",
        ),
        (
            "decision_transformer",
            (
                "hf:decision_transformer: DecisionTransformerModel needs states, which cannot be "
                "drawn; write a factory: FILE.py:make"
            ),
        ),
    ],
)
def test_what_cannot_be_made_is_told(name: str, message: str) -> None:
    assert mistake(name) == message


def test_a_configuration_without_defaults_is_told() -> None:
    assert mistake("encoder-decoder").startswith(
        "hf:encoder-decoder: its configuration cannot be made without values: "
    )


def test_without_the_package_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "find_spec", lambda name: None)

    with pytest.raises(MissingPackageError) as error:
        load("hf:llama")

    assert str(error.value) == "transformers is not installed; pip install transformers"
