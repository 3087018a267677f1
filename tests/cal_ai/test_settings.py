from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from testing.answers import store_answer

from cal_ai.extractors.choosing import choose_extractor
from cal_ai.extractors.language_model import LanguageModelExtractor
from cal_ai.extractors.protocol import Extractor
from cal_ai.extractors.replay import Recorded
from cal_ai.settings import Settings, load_settings
from truemark.errors import TruemarkError

KEY = "k3y-that-nobody-may-see"


def loaded(
    environ: Mapping[str, str], dotenv: str | None = None, owner: str | None = None
) -> Settings:
    file = Path(".env")
    if dotenv is not None:
        file.write_text(dotenv, encoding="utf-8")
    return load_settings(environ, dotenv=file, owner=owner)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def chosen(
    name: str | None, settings: Settings, model: str | None = None
) -> tuple[str, str | None]:
    extractor = choose_extractor(name, settings, model=model)
    asyncio.run(extractor.close())
    return extractor.name, extractor.model


def test_without_any_setting_the_defaults_hold() -> None:
    assert loaded({}) == Settings(owner="Alice", timezone=None, gemini_model="gemini-2.5-pro")


def test_a_flag_beats_the_environment_and_that_beats_the_file() -> None:
    dotenv = "OWNER_NAME=File\nGEMINI_MODEL=from-file\n"

    assert loaded({}, dotenv).owner == "File"
    assert loaded({"OWNER_NAME": "Env"}, dotenv).owner == "Env"
    assert loaded({"OWNER_NAME": "Env"}, dotenv, owner="Flag").owner == "Flag"
    assert loaded({"OWNER_NAME": "Env"}, dotenv).gemini_model == "from-file"


def test_an_empty_value_counts_as_not_set() -> None:
    settings = loaded({"GEMINI_API_KEY": "", "OWNER_NAME": "  "}, "OWNER_NAME=\nGEMINI_API_KEY= \n")

    assert (settings.owner, settings.gemini_api_key) == ("Alice", None)


def test_the_file_may_have_quotes_comments_and_a_byte_order_mark() -> None:
    dotenv = "\ufeff# mine\nexport OWNER_NAME='Jörg Öz' # me\n\nTIMEZONE=Asia/Tokyo\n"

    settings = loaded({}, dotenv)

    assert (settings.owner, settings.timezone) == ("Jörg Öz", ZoneInfo("Asia/Tokyo"))


def test_reading_the_file_leaves_the_environment_as_it_is() -> None:
    before = dict(os.environ)

    loaded(os.environ, f"GEMINI_API_KEY={KEY}\n")

    assert dict(os.environ) == before


def test_a_file_that_is_not_utf_8_is_named() -> None:
    Path(".env").write_bytes(b"OWNER_NAME=J\xf6rg\n")

    with pytest.raises(TruemarkError, match=r"^\.env:1: not UTF-8"):
        load_settings({})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Mars/Base", ""),
        ("Europe/Berln", "; did you mean Europe/Berlin?"),
        ("Europe", ""),
        ("../../etc/passwd", ""),
        ("/etc/passwd", ""),
    ],
)
def test_a_time_zone_that_does_not_exist_is_refused(name: str, hint: str) -> None:
    with pytest.raises(TruemarkError) as error:
        loaded({"TIMEZONE": name})
    expected = f"TIMEZONE is {name!r}, not a time zone such as Europe/Berlin"
    assert str(error.value).startswith(expected)
    assert str(error.value).endswith(hint)


def test_a_bad_value_in_the_file_is_named_with_the_file() -> None:
    with pytest.raises(TruemarkError, match=r"^\.env: TIMEZONE is 'Nowhere', not a time zone"):
        loaded({}, "TIMEZONE=Nowhere")


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://host/v1", "http://", "http:// host"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(TruemarkError, match=r"OPENAI_BASE_URL is not an address such as http"):
        loaded({"OPENAI_BASE_URL": url})


@pytest.mark.parametrize("spoilt", [f"{KEY} {KEY}", f"{KEY}\n{KEY}", f"{KEY}é", f'"{KEY}\x00'])
def test_a_key_pasted_wrongly_is_refused_without_being_shown(spoilt: str) -> None:
    with pytest.raises(TruemarkError) as error:
        loaded({"GEMINI_API_KEY": spoilt})
    assert str(error.value) == "GEMINI_API_KEY has spaces or other characters that no key has"


def test_keys_are_not_in_the_printed_form() -> None:
    settings = loaded({"GEMINI_API_KEY": KEY, "OPENAI_API_KEY": KEY})

    assert settings.gemini_api_key == settings.openai_api_key == KEY
    assert KEY not in f"{settings} {settings!r} {[settings]}"


def test_now_is_where_the_owner_is() -> None:
    settings = loaded({"TIMEZONE": "Pacific/Chatham"})

    assert settings.now().tzinfo == ZoneInfo("Pacific/Chatham")
    assert loaded({}).now().tzinfo is not None


def test_the_reader_is_the_default_without_a_key_and_gemini_with_one() -> None:
    assert chosen(None, loaded({})) == ("reader", None)
    assert chosen(None, loaded({"GEMINI_API_KEY": KEY})) == ("gemini", "gemini-2.5-pro")
    assert chosen("reader", loaded({"GEMINI_API_KEY": KEY})) == ("reader", None)


def test_a_model_named_by_flag_beats_the_one_in_the_settings() -> None:
    environ = {"GEMINI_API_KEY": KEY, "GEMINI_MODEL": "g-env", "OPENAI_MODEL": "o-env"}
    settings = loaded({**environ, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})

    assert chosen("gemini", settings) == ("gemini", "g-env")
    assert chosen("gemini", settings, "g-flag") == ("gemini", "g-flag")
    assert chosen("openai", settings) == ("openai", "o-env")
    assert chosen("openai", settings, "o-flag") == ("openai", "o-flag")


def test_a_recording_is_chosen_by_its_file() -> None:
    answer = Recorded("a/b", "1-2", "gemini", "g", '{"events": []}', None, 0.5, 1)
    store_answer(Path("run.jsonl"), answer)

    assert chosen("replay:run.jsonl", loaded({})) == ("replay", "g")


@pytest.mark.parametrize(
    ("name", "environ", "model", "message"),
    [
        ("gemini", {}, None, "GEMINI_API_KEY is not set: "),
        (
            "openai",
            {"OPENAI_MODEL": "m"},
            None,
            "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set",
        ),
        (
            "openai",
            {"OPENAI_API_KEY": KEY},
            None,
            "no model is named: use --model, or set OPENAI_M",
        ),
        ("gpt", {}, None, "--extractor 'gpt' is not one of reader, gemini, openai, replay:FILE"),
        ("gpt", {}, "big", "--extractor 'gpt' is not one of reader"),
        ("", {}, None, "--extractor '' is not one of reader, gemini, openai, replay:FILE"),
        ("replay", {}, None, "--extractor 'replay' is not one of"),
        ("replay:", {}, None, "--extractor 'replay:' is not one of"),
        ("replay:no.jsonl", {}, None, "no.jsonl: no such recording; name a file that a run has"),
        ("reader", {}, "big", "--model is 'big', but the extractor reader takes no model"),
        ("gemini", {"GEMINI_API_KEY": KEY}, " ", "--model is empty, expected the name of a model"),
    ],
)
def test_an_extractor_that_cannot_be_had_says_what_is_lacking(
    name: str, environ: dict[str, str], model: str | None, message: str
) -> None:
    with pytest.raises(TruemarkError) as error:
        chosen(name, loaded(environ), model)
    assert str(error.value).startswith(message)


def test_only_language_models_answer_free_text() -> None:
    settings = loaded({"GEMINI_API_KEY": KEY, "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "m"})
    extractors: list[Extractor] = [
        choose_extractor(name, settings) for name in ("gemini", "openai", "reader")
    ]

    assert [isinstance(one, LanguageModelExtractor) for one in extractors] == [True, True, False]
    for one in extractors:
        asyncio.run(one.close())


def test_choosing_the_reader_loads_no_sdk() -> None:
    code = (
        "import sys; from cal_ai.settings import *; from cal_ai.extractors.choosing import *;"
        "choose_extractor('reader', load_settings({}));"
        "print({'google.genai', 'httpx2', 'pydantic', 'genai_prices'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"
