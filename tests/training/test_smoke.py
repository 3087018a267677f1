"""The training code on the bundled talks: a few steps, an exported file, a model that runs."""

from pathlib import Path

import numpy as np
import pytest

from sat_bench import Segmenter
from sat_bench.models.finding import BUNDLED_FOLDER

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
    from training.prepare import read_documents, train_tokenizer, write_passes
    from training.shapes import SHAPES

    folder = tmp_path_factory.mktemp("windows")
    documents = read_documents(BUNDLED_FOLDER / "talks")
    tokenizer = folder / "sentencepiece.bpe.model"
    train_tokenizer(documents, tokenizer, SHAPES["smoke"].vocabulary - 1)
    write_passes(documents, tokenizer, folder, passes=1, workers=1)
    return folder


def test_a_few_steps_make_a_file_that_the_loader_runs(windows: Path, tmp_path: Path) -> None:
    from training.batches import batches
    from training.export import Form, build
    from training.network import Network, load
    from training.shapes import SHAPES
    from training.students import beginning
    from training.train import Recipe, Schedule, Student, Teacher, train

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
    train(students, stream, Teacher(load(shape, arrays), "cpu"), Schedule(20), lines.append)
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
    from training.shapes import SHAPES
    from training.train import Recipe, Schedule, Student, train

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
    from training.train import TIMED_FROM, TIMED_TO, Schedule

    schedule = Schedule(steps=9000, deadline=60)
    schedule.note(TIMED_FROM, now=28.0)
    schedule.note(TIMED_TO, now=30.0)  # fifty steps a second
    assert schedule.steps == TIMED_TO + 30 * 50
    assert schedule.rate_at(schedule.steps) == pytest.approx(0)


@pytest.mark.parametrize("name", ["smoke", "smoke-small"])
def test_the_exported_file_computes_what_the_network_computes(name: str) -> None:
    import onnxruntime
    from training.export import FLOAT32, build
    from training.network import Network
    from training.shapes import SHAPES

    torch.manual_seed(2)
    network = Network(SHAPES[name]).eval()
    network.kind_of.copy_(torch.arange(len(network.kind_of)) % 4)
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
    again = load(shape, read_onnx(path, shape))
    ids = torch.randint(4, 500, (1, 30))
    with torch.no_grad():
        assert torch.allclose(again.logits(ids), network.logits(ids), atol=0.05)


def test_a_teacher_follows_the_student_of_its_shape() -> None:
    from training.network import Network, load
    from training.shapes import SHAPES
    from training.train import FOLLOWS, Teacher

    torch.manual_seed(5)
    shape = SHAPES["smoke"]
    first, student = Network(shape).finished(), Network(shape)
    teacher = Teacher(load(shape, first), "cpu")
    teacher.follow(student)
    for name, values in student.finished().items():
        expected = first[name] + FOLLOWS * (values - first[name])
        assert teacher.network.finished()[name] == pytest.approx(expected, abs=1e-6)
