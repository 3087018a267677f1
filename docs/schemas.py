"""Write the JSON Schemas that ship with the packages from the types they describe.

Run `python docs/schemas.py` after a change of those types; a test compares.
"""

from pathlib import Path

from cal_ai.benchmark import sidecar
from truemark import records
from truemark.jsontext import to_json

SOURCE = Path(__file__).parent.parent / "src"
SCHEMAS = {
    SOURCE / "truemark" / "run.schema.json": records.schema,
    SOURCE / "cal_ai" / "benchmark" / "sidecar.schema.json": sidecar.schema,
}


def main() -> None:
    for path, schema in SCHEMAS.items():
        path.write_text(to_json(schema(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
