"""A few steps of the reader's training, and its file against the network it was made of."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: make test-training runs this")

import torch
from training.reader.augment import Augmenter, Shares
from training.reader.batches import collated, prepared
from training.reader.conversations import (
    Conversation,
    TrueEvent,
    is_dev,
    read_conversations,
)
from training.reader.export import export
from training.reader.labels import example
from training.reader.network import ENCODER, INPUTS, LONGEST_TITLE, Exported, Reader
from training.reader.shipped import read_shipped
from training.reader.train import (
    Course,
    answered,
    batches,
    dev_losses,
    marker_of,
    started,
    train,
    within_lines,
)
from training.weights import Arrays, write_parts

from cal_ai.events import ContextEvent
from cal_ai.extractors.protocol import Request
from cal_ai.extractors.reader import titles
from cal_ai.extractors.reader.decide import UPDATE
from cal_ai.extractors.reader.network import MOST_WINDOWS, PIECES, Network
from cal_ai.transcripts.reading import parse_transcript

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
    told = batches(some(), PIECES, 1, 4000, 0)
    train(readers, told, Course(25, [2e-3, 2e-3], [0.4, 0.4], heads=2e-3))
    assert all(cost(it) < was for it, was in zip(readers, before, strict=True))


def test_rounded_weights_are_those_of_the_step() -> None:
    reader = Reader(TINY, dropout=0.0)
    reader.in_half = True
    marker, chance = marker_of(PIECES), random.Random(1)
    source, target = collated([prepared(marker, example(it), chance) for it in some()[:6]])

    def said() -> torch.Tensor:
        return answered([reader], source, target)[0][0]["create"]

    with torch.autocast("cpu", torch.bfloat16):
        before = said()
        with torch.no_grad():
            reader.create.weight.zero_()
            reader.create.bias.fill_(5.0)
        after = said()
    assert not torch.allclose(before, torch.tensor(5.0))
    assert torch.allclose(after, torch.tensor(5.0))


def test_a_course_goes_on_from_where_another_ended(tmp_path: Path) -> None:
    reader = Reader(replace(ENCODER, vocabulary=40))
    write_parts({k: v.numpy() for k, v in reader.state_dict().items()}, tmp_path, "reader")
    again = started(tmp_path, "reader").state_dict()
    for name, values in reader.state_dict().items():
        assert torch.allclose(values, again[name], atol=2e-3), name


def test_a_reader_comes_closer_to_its_teacher() -> None:
    torch.manual_seed(3)
    teacher = Reader(TINY, dropout=0.0, sees_distance=True).eval()
    reader = Reader(TINY, dropout=0.0)
    marker, chance = marker_of(PIECES), random.Random(1)
    source, _ = collated([prepared(marker, example(it), chance) for it in some()[:6]])

    def apart() -> float:
        with torch.no_grad():
            said, told = (it.eval()(source)["create"].sigmoid() for it in (reader, teacher))
        return float((said - told).abs().mean())

    with torch.no_grad():
        teacher.create.bias += 3.0
    before = apart()
    train(
        [reader],
        batches(some(), PIECES, 1, 4000, 0),
        Course(20, [2e-3], [1.0], heads=2e-3),
        teacher,
    )
    assert apart() < before / 2


def test_a_title_is_scored_against_all_others_of_its_line() -> None:
    lines = torch.tensor([[-1, 0, 0, -1, 1, 1]])
    within = within_lines(lines)[0]
    assert within[0].tolist() == [False, True, True, False, True, True]
    assert within[1].tolist() == [False, True, False, False, True, False]
    assert not within[2:].any()
    assert np.array_equal(within.numpy(), titles.within_lines(lines[0].numpy(), LONGEST_TITLE))


def test_labels_are_those_of_what_the_reader_reads() -> None:
    """Greetings and calendar events that share no word with the talk are not read."""
    events = (
        ContextEvent(1, "Zumba", datetime(2026, 3, 9, 8)),
        ContextEvent(2, "Dentist", datetime(2026, 3, 6, 9)),
    )
    said = "[Ann]: Hello!\n[Ben]: The dentist moves to Friday at 10 am.\n[Ann]: Fine."
    request = Request(parse_transcript(said), "Ann", datetime(2026, 3, 4, 9), events)
    moved = TrueEvent("update", "Dentist", datetime(2026, 3, 6, 10), target=1, lines=(1, 2))
    found = example(Conversation("x", request, (moved,)))
    assert [event.summary for event in found.talk.request.context] == ["Dentist"]
    assert found.labels.actions == [UPDATE]
    assert found.labels.changed == {0: (0, 1)}


# The exporter that needs no further library warns that it is the older one.
@pytest.mark.filterwarnings("ignore")
def test_the_file_says_what_the_network_says(tmp_path: Path) -> None:
    torch.manual_seed(3)
    reader = Reader(TINY, dropout=0.0).eval()
    with torch.no_grad():
        for values in reader.parameters():
            values += 0.02 * torch.randn_like(values)  # no two are alike
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
            assert np.abs(found.titles - expected[4]).max() < 0.5
    shipped = read_shipped(tmp_path / "reader.onnx")
    for name, values in again.state_dict().items():
        assert np.abs(shipped[name] - values.numpy()).max() < 0.03, name


def test_changed_conversations_keep_their_events_within_reach() -> None:
    pool = some()
    augmenter, chance = Augmenter(pool), random.Random(5)
    whole = {it.id: len(example(it).labels.missed) for it in pool}
    for one in pool:
        changed = augmenter.changed(one, chance)
        assert len(changed.labels.missed) <= sum(whole.values())


def test_a_new_title_stands_wherever_the_old_one_was_said() -> None:
    request = Request(
        parse_transcript("[Ben]: Dentist on Friday at 9?\n[Ana]: Yes. The dentist at 9."),
        "Ana",
        datetime(2026, 3, 4, 9, 0),
        (),
    )
    event = TrueEvent("create", "Dentist", datetime(2026, 3, 6, 9, 0))
    pool = [Conversation(f"a-00{number}", request, (event,)) for number in (1, 2)]
    pool[1] = replace(
        pool[1],
        request=replace(request, transcript=parse_transcript("[Ben]: A flea market, Friday at 9.")),
        events=(replace(event, title="Flea market"),),
    )
    only_titles = Shares(1.0, *[0.0] * 8)
    augmenter, seen = Augmenter(pool, only_titles), set()
    for seed in range(20):
        talk = augmenter.changed(pool[0], random.Random(seed)).talk
        seen.add(talk.lines)
    assert seen == {
        ("dentist on Friday at 9?", "Yes. The dentist at 9."),
        ("flea market on Friday at 9?", "Yes. The flea market at 9."),
    }


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
