"""A SaT model file: checks its inputs and outputs, and runs it on one core or on all."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sat_bench.defaults import DEFAULT_RUNTIME, Runtime
from sat_bench.models.protocol import FloatArray, IntArray, InvalidModel
from sat_bench.models.runtimes import Port, Session, open_session, reason
from sat_bench.models.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID

MASK_TYPES: dict[str, type[np.generic]] = {
    "tensor(float16)": np.float16,
    "tensor(float)": np.float32,
    "tensor(int64)": np.int64,
}
LOGIT_TYPES = ("tensor(float16)", "tensor(float)")
EXPECTED = (
    "expected inputs input_ids (int64) and attention_mask (float16, float32 or int64) of "
    "[batch, sequence] and output logits (float16 or float32) of [batch, sequence, labels]"
)


class Network:
    """A loaded model; `logits` may be called from many threads at a time.

    `cores` is how many cores `logits` with `spread` uses for one run.
    """

    def __init__(
        self,
        path: str | Path,
        highest_id: int = UNK_ID,
        *,
        cores: int = 1,
        runtime: Runtime = DEFAULT_RUNTIME,
    ) -> None:
        self.path = Path(path)
        # Windows run in parallel, one thread each: faster than all threads on one window.
        self._session = open_session(self.path, runtime)
        self._runtime: Runtime = runtime
        self._mask_type = _checked_mask_type(self.path, self._session)
        self._try_run(highest_id)
        self._cores = 1 if runtime == "cuda" else cores
        self._opening = threading.Lock()
        self._spreading: Session | None = None
        self._asked_to_spread = False

    def logits(self, windows: Sequence[IntArray], *, spread: bool = False) -> list[FloatArray]:
        """Run the windows in one batch; return for each window the logits of its tokens.

        `spread` lets all cores work on this run, for when no other is running. The logits do not
        depend on it.
        """
        longest = max(len(window) for window in windows)
        ids = np.full((len(windows), longest + 2), PAD_ID, np.int64)
        mask = np.zeros(ids.shape, self._mask_type)
        ids[:, 0] = BOS_ID
        for row, window in enumerate(windows):
            ids[row, 1 : len(window) + 1] = window
            ids[row, len(window) + 1] = EOS_ID
            mask[row, : len(window) + 2] = 1
        session = self._spread_session() if spread else self._session
        first_label = self._run(ids, mask, session)[:, :, 0].astype(np.float32)
        rows = [first_label[row, 1 : len(window) + 1] for row, window in enumerate(windows)]
        # Padding may have infinite logits, so check the rows only if something is not finite.
        if not np.isfinite(first_label).all() and not all(
            np.isfinite(logits).all() for logits in rows
        ):
            raise InvalidModel(f"{self.path}: the model answers with logits that are not finite")
        return rows

    def _spread_session(self) -> Session:
        """Return a session whose runs use all cores, from the second request on.

        The model has to be loaded again for it, which does not pay off for a single run.
        """
        with self._opening:
            if self._cores > 1 and self._asked_to_spread and self._spreading is None:
                self._spreading = open_session(self.path, self._runtime, threads=self._cores)
            self._asked_to_spread = True
            return self._spreading or self._session

    def _run(
        self, ids: npt.NDArray[np.int64], mask: npt.NDArray[Any], session: Session
    ) -> npt.NDArray[Any]:
        try:
            return session.run(ids, mask)
        except session.errors as error:
            raise InvalidModel(
                f"{self.path}: the model fails on {ids.shape[1]} tokens with ids up to "
                f"{ids.max()}: {reason(error)}; use the tokenizer and window it was trained with"
            ) from None

    def _try_run(self, highest_id: int) -> None:
        # A file may declare no shape for its logits, or a wrong one; and ids that the model does
        # not know must be detected now, not in the middle of a long text.
        ids = np.array([[BOS_ID, highest_id, EOS_ID]])
        shape = self._run(ids, np.ones(ids.shape, self._mask_type), self._session).shape
        if len(shape) != 3 or shape[:2] != ids.shape or shape[2] < 1:
            raise InvalidModel(
                f"{self.path}: not a SaT model: its logits for {list(ids.shape)} tokens have the "
                f"shape {list(shape)}; {EXPECTED}"
            )


def _checked_mask_type(path: Path, session: Session) -> type[np.generic]:
    inputs = {node.name: node for node in session.inputs}
    outputs = {node.name: node for node in session.outputs}
    fits = (
        inputs.keys() == {"input_ids", "attention_mask"}
        and inputs["input_ids"].type == "tensor(int64)"
        and inputs["attention_mask"].type in MASK_TYPES
        and all(_takes_any_batch(node.shape) for node in inputs.values())
        and "logits" in outputs
        and outputs["logits"].type in LOGIT_TYPES
        and len(outputs["logits"].shape) in (0, 3)
    )
    if not fits:
        raise InvalidModel(
            f"{path}: not a SaT model: it declares inputs {_declared(session.inputs)} and "
            f"outputs {_declared(session.outputs)}; {EXPECTED}"
        )
    return MASK_TYPES[inputs["attention_mask"].type]


def _takes_any_batch(shape: Sequence[int | str | None]) -> bool:
    return len(shape) == 2 and not any(isinstance(side, int) for side in shape)


def _declared(nodes: Sequence[Port]) -> str:
    return ", ".join(
        f"{node.name} ({_plain(node.type)}) of [{', '.join(str(side) for side in node.shape)}]"
        for node in nodes
    )


def _plain(kind: str) -> str:
    return {"float": "float32"}.get(name := kind.removeprefix("tensor(").removesuffix(")"), name)
