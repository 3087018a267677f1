"""The training code on the bundled talks: a few steps, an exported file, a model that runs."""

from pathlib import Path

import numpy as np
import pytest

from sat_bench import Segmenter
from sat_bench.defaults import BUNDLED_FOLDER
from sat_bench.models.tokenizer import UNK_ID

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: make test-training installs it and runs this"
)

pytestmark = [
    pytest.mark.training,
    # PyTorch's own code warns of its own plans; what is under test is ours.
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:torch.*"),
]


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer and one pass of windows over the bundled talks."""
    from training.prepare import read_documents, train_tokenizer, write_document_passes
    from training.shapes import SHAPES

    folder = tmp_path_factory.mktemp("windows")
    documents = read_documents(BUNDLED_FOLDER / "talks")
    tokenizer = folder / "sentencepiece.bpe.model"
    train_tokenizer(documents, tokenizer, SHAPES["smoke"].vocabulary - 1)
    write_document_passes(documents, tokenizer, folder, passes=1, workers=1)
    return folder


def test_a_few_steps_make_a_file_that_the_loader_runs(windows: Path, tmp_path: Path) -> None:
    from training.batches import batches
    from training.export import Form, build
    from training.network import Network, load
    from training.recipes import Recipe
    from training.shapes import SHAPES
    from training.students import beginning
    from training.train import Schedule, Student, Teacher, train

    torch.manual_seed(1)
    shape, small = SHAPES["smoke"], SHAPES["smoke-small"]
    recipe = Recipe("smoke", 3e-3, 3e-3)
    teacher, lines = Student("teacher", Network(shape), recipe, "cpu"), list[str]()
    stream = batches(windows, 1, (0.5, 0.5), "cpu", seed=1)
    assert train([teacher], stream, None, Schedule(30), lines.append) == 30
    arrays = teacher.network.finished()
    networks = [Network(shape), Network(small, hint_width=shape.width)]
    networks[1].take(beginning(arrays, small))
    students = [Student("student", network, recipe, "cpu") for network in networks]
    train(
        students, stream, Teacher([load(shape, arrays)], [1.0], "cpu"), Schedule(20), lines.append
    )
    assert len(lines) == 2

    model = tmp_path / "model.onnx"
    model.write_bytes(build(networks[1].finished(), small, Form(8)).SerializeToString())
    text = "One short talk. Another sentence follows it."
    with Segmenter(model, windows / "sentencepiece.bpe.model", window=254) as segmenter:
        assert "".join(segmenter.segment(text)) == text
        here = segmenter.probabilities(text)
    assert np.isfinite(here.values).all()


def test_learning_lowers_the_loss_on_a_batch_seen_again(windows: Path) -> None:
    from itertools import repeat

    from training.batches import batches
    from training.network import Network
    from training.recipes import Recipe
    from training.shapes import SHAPES
    from training.train import Schedule, Student, train

    torch.manual_seed(1)
    batch = next(batches(windows, 1, (0.0, 1.0), "cpu", seed=1))
    student, lines = (
        Student("x", Network(SHAPES["smoke"]), Recipe("", 3e-3, 3e-3), "cpu"),
        list[str](),
    )
    train([student], repeat(batch), None, Schedule(120), lines.append)
    first, last = (float(line.split("loss ")[1].split(",")[0]) for line in lines)
    assert last < first


def test_a_deadline_shortens_the_schedule_to_the_steps_that_fit() -> None:
    from training.train import TIMED_FROM, Schedule

    schedule = Schedule(steps=9000, deadline=60)
    schedule.note(TIMED_FROM, now=28.0)
    schedule.note(TIMED_FROM + 100, now=30.0)  # fifty steps a second
    assert schedule.steps == TIMED_FROM + 100 + 30 * 50
    schedule.note(TIMED_FROM + 500, now=48.0)  # and then twenty-five
    assert schedule.steps == TIMED_FROM + 500 + 12 * 25
    schedule.note(TIMED_FROM + 600, now=48.1)  # a schedule never grows again
    assert schedule.steps == TIMED_FROM + 500 + 12 * 25
    assert schedule.rate_at(schedule.steps) == pytest.approx(0)


@pytest.mark.parametrize("name", ["smoke", "smoke-small"])
def test_the_exported_file_computes_what_the_network_computes(name: str) -> None:
    import onnxruntime
    from training.export import FLOAT32, build
    from training.network import Network
    from training.shapes import SHAPES

    torch.manual_seed(2)
    network = Network(SHAPES[name]).eval()
    network.take({"kinds": np.arange(len(network.kind_of)) % 4})
    with torch.no_grad():
        for parameter in (network.neighbours, network.kinds.weight, network.boundary.weight):
            torch.nn.init.normal_(parameter)
    proto = build(network.finished(), SHAPES[name], FLOAT32)
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    ids = np.random.default_rng(3).integers(4, 500, (2, 40))
    mask = np.ones((2, 40), np.float16)
    mask[1, 25:] = 0
    (logits,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    with torch.no_grad():
        expected = network.logits(torch.from_numpy(ids), torch.from_numpy(mask).float()).numpy()
    assert logits[..., 0][mask > 0] == pytest.approx(expected[mask > 0], abs=0.01)


def test_a_student_of_the_same_size_begins_as_its_teacher() -> None:
    from training.network import Network, load
    from training.shapes import SHAPES
    from training.students import beginning

    torch.manual_seed(3)
    shape = SHAPES["smoke"]
    teacher = Network(shape).eval()
    student = load(shape, beginning(teacher.finished(), shape))
    ids = torch.randint(4, 500, (1, 30))
    with torch.no_grad():
        assert torch.allclose(student.logits(ids), teacher.logits(ids), atol=1e-5)


def test_what_ships_can_be_gone_on_from(tmp_path: Path) -> None:
    from training.export import Form, build
    from training.network import Network, load
    from training.shapes import SHAPES
    from training.shipped import read_onnx

    torch.manual_seed(4)
    shape = SHAPES["smoke"]
    network = Network(shape).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            torch.nn.init.normal_(parameter, std=0.2)
        network.kinds.weight.zero_()
    path = tmp_path / "model.onnx"
    path.write_bytes(build(network.finished(), shape, Form(8)).SerializeToString())
    again = load(shape, read_onnx(path))
    ids = torch.randint(4, 500, (1, 30))
    with torch.no_grad():
        assert torch.allclose(again.logits(ids), network.logits(ids), atol=0.05)


def test_a_table_in_four_bits_can_be_gone_on_from() -> None:
    import onnxruntime
    from training.finished import finished_network, started

    path = BUNDLED_FOLDER / "world.onnx"
    ids = torch.randint(4, 30_000, (4, 60), generator=torch.Generator().manual_seed(6)).numpy()
    mask = np.ones(ids.shape, np.float16)
    (logits,) = onnxruntime.InferenceSession(path).run(
        None, {"input_ids": ids, "attention_mask": mask}
    )
    with torch.no_grad():
        again = finished_network(started(path)).logits(torch.from_numpy(ids)).numpy()
    # The file also rounds the inputs of its products, here of all texts with one scale.
    assert np.abs(again - logits[..., 0]).mean() < 0.5
    assert logits.std() > 2


def test_the_mean_of_a_course_is_that_of_the_networks_it_was_given() -> None:
    from training.mean import RunningMean
    from training.network import Network
    from training.shapes import SHAPES

    torch.manual_seed(5)
    networks = [Network(SHAPES["smoke"]) for _ in range(3)]
    mean = RunningMean(networks[0])
    for network in networks:
        mean.add(network)
    assert mean.count == 3
    for name, values in mean.network.finished().items():
        expected = np.mean([network.finished()[name] for network in networks], axis=0)
        assert values == pytest.approx(expected, abs=1e-6)


def test_gaps_hide_a_share_of_pieces_and_nothing_else(windows: Path) -> None:
    from training.batches import batches, with_gaps

    batch = next(batches(windows, 4, (1.0,), "cpu", seed=1))
    gappy = with_gaps(batch, 0.25)
    changed = gappy.ids != batch.ids
    assert (gappy.ids[changed] == UNK_ID).all()
    assert not changed[:, [0, -1]].any()  # the marks of windows
    assert changed.float().mean() == pytest.approx(0.25, abs=0.05)
    assert all(a is b for a, b in zip(gappy[1:], batch[1:], strict=True))
    assert with_gaps(batch, 0.0) is batch


def test_a_pass_is_drawn_as_often_as_asked_before_the_next(windows: Path, tmp_path: Path) -> None:
    from itertools import islice

    from training.batches import batches

    for number in range(2):
        some = {key: values[:2] for key, values in np.load(windows / "pass_00.npz").items()}
        np.savez(tmp_path / f"pass_{number:02d}.npz", **{**some, "ids": some["ids"] * 0 + number})
    drawn = islice(batches(tmp_path, 1, (1.0,), "cpu", seed=1, repeats=3), 12)
    assert [int(batch.ids[0, 5]) for batch in drawn] == [0] * 6 + [1] * 6


def test_pieces_learn_at_their_own_rate() -> None:
    from training.network import Network
    from training.recipes import Recipe
    from training.shapes import SHAPES
    from training.train import Student

    network = Network(SHAPES["smoke"])
    student = Student("x", network, Recipe("smoke", 1e-3, 2e-3, 3e-3), "cpu", rate=2)
    rates = {id(p): it["top"] for it in student.optimizer.param_groups for p in it["params"]}
    found = {name: rates[id(p)] for name, p in network.named_parameters()}
    assert found["layers.0.feed_in.weight"] == found["positions.weight"] == 2e-3
    assert found["boundary.weight"] == found["marks.bias"] == 4e-3
    assert found["pieces.weight"] == found["neighbours"] == 6e-3
