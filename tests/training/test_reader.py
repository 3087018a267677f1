"""A few steps of the reader's training, and its file against the network it was made of."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: make test-training runs this")

import torch
from training.reader.augment import Augmenter
from training.reader.batches import collated, prepared
from training.reader.conversations import Conversation, is_dev, read_conversations
from training.reader.export import export
from training.reader.labels import example
from training.reader.network import ENCODER, INPUTS, Exported, Reader
from training.reader.train import Course, batches, dev_losses, marker_of, started, train
from training.weights import Arrays, write_parts

from cal_ai.extractors.reader.network import MOST_WINDOWS, PIECES, Network

pytestmark = pytest.mark.training
FOLDER = Path(__file__).parents[2] / "training" / "conversations"
TINY = replace(
    ENCODER, width=48, layers=1, heads=4, feed_forward=64, embedding=48, vocabulary=15_804
)


def some() -> list[Conversation]:
    return [it for it in read_conversations([FOLDER / "a.jsonl"]) if not is_dev(it)][:24]


def cost(reader: Reader) -> float:
    return sum(dev_losses(reader, some(), PIECES).values())


def test_a_few_steps_lower_the_cost() -> None:
    torch.manual_seed(3)
    readers = [Reader(TINY, dropout=0.0), Reader(TINY, dropout=0.0)]
    before = [cost(it) for it in readers]
    told = batches(some(), PIECES, 1, 4, 0)
    train([readers], told, Course(steps=25, body=2e-3, heads=2e-3, trust=0.4))
    assert all(cost(it) < was for it, was in zip(readers, before, strict=True))


def test_a_course_goes_on_from_where_another_ended(tmp_path: Path) -> None:
    reader = Reader(replace(ENCODER, vocabulary=40))
    write_parts({k: v.numpy() for k, v in reader.state_dict().items()}, tmp_path, "reader")
    again = started(tmp_path, "reader").state_dict()
    for name, values in reader.state_dict().items():
        assert torch.allclose(values, again[name], atol=2e-3), name


def test_a_share_of_the_data_is_a_share_of_the_conversations() -> None:
    whole, half = zip(*islice(batches(some(), PIECES, 1, 8, 0, (1.0, 0.5)), 6), strict=True)
    talks = [sum(len(target.get("action", ())) for _, target in it) for it in (whole, half)]
    assert 0 < talks[1] < talks[0]


# The exporter that needs no further library warns that it is the older one.
@pytest.mark.filterwarnings("ignore")
def test_the_file_says_what_the_network_says(tmp_path: Path) -> None:
    torch.manual_seed(3)
    reader = Reader(TINY, dropout=0.0).eval()
    arrays: Arrays = {k: v.clone().numpy() for k, v in reader.state_dict().items()}
    export(reader, tmp_path / "reader.onnx")
    again = Reader(TINY, dropout=0.0).eval()
    again.load_state_dict({k: torch.from_numpy(v) for k, v in arrays.items()})
    network = Network(tmp_path / "reader.onnx")
    for one in map(example, some()[:6]):
        encoded = network.marker.encode(one.talk, one.candidates)
        pairs = range(len(one.candidates.pairs))[:MOST_WINDOWS]
        looks = [encoded.at_pair(one.candidates, it) for it in pairs]
        for arrays in (encoded.arrays, *([encoded.looks(looks)] if looks else ())):
            given = [torch.from_numpy(arrays[name]) for name in INPUTS]
            with torch.no_grad():
                expected = [it.numpy() for it in Exported(again)(*given)]
            found = network.scores(arrays)
            assert np.abs(found.create - expected[0]).max() < 0.1
            assert np.abs(found.verdict - expected[2]).max() < 0.3
            assert np.abs(found.words - expected[3]).max() < 0.3


def test_changed_conversations_keep_their_events_within_reach() -> None:
    pool = some()
    augmenter, chance = Augmenter(pool), random.Random(5)
    whole = {it.id: len(example(it).labels.missed) for it in pool}
    for one in pool:
        changed = augmenter.changed(one, chance)
        assert len(changed.labels.missed) <= sum(whole.values())


def test_examples_of_a_batch_do_not_see_each_other() -> None:
    marker = marker_of(PIECES)
    ready = [prepared(marker, example(it), random.Random(1)) for it in some()[:3]]
    reader = Reader(TINY, dropout=0.0).eval()
    with torch.no_grad():
        together = reader(collated(ready)[0])["create"]
        alone = [reader(collated([it])[0])["create"][0] for it in ready]
    for row, own in zip(together, alone, strict=True):
        assert torch.allclose(row[: len(own)], own, atol=1e-4)


def test_a_conversation_of_the_files_has_what_the_reader_needs() -> None:
    for path in sorted(FOLDER.glob("*.jsonl")):
        first = json.loads(path.read_text("utf-8").splitlines()[0])
        assert {"id", "owner", "now", "calendar", "transcript", "events"} <= set(first)
