"""Google Gemini through the google-genai SDK.

The SDK has no timeout, does not retry by default, ignores Retry-After when it
does, and returns a reply without text where the provider withheld the answer; timeouts and
retries are therefore left to `retry`.
"""

from __future__ import annotations

import os
import warnings

import httpx2
from google import genai
from google.genai import errors, types

from truemark.services.bounded_http import UnfitAnswerError
from truemark.services.bounded_httpx2 import bounded_client, certificates_for
from truemark.services.calls import CallFailed, LLMCallResult, Prompt, Usage, token_count
from truemark.services.client import Fault, LanguageModelClient
from truemark.services.proxies import is_proxied
from truemark.services.retry import Caller, parse_retry_after

# The stable version of the API came late to system instructions and JSON schemas.
_API_VERSION = "v1beta"


class GeminiModel(LanguageModelClient):
    """Asks one Gemini model, over connections that are kept open between calls."""

    provider = "Gemini"
    key_name = "GEMINI_API_KEY"

    def __init__(
        self,
        api_key: str,
        model: str,
        *,
        base_url: str | None = None,
        caller: Caller | None = None,
    ) -> None:
        # A reason that the SDK does not know yet is reported with the failure it explains.
        warnings.filterwarnings("ignore", ".* is not a valid", UserWarning, r"google\.genai")
        super().__init__(model, api_key, caller)
        # Given a client, the SDK never switches to aiohttp, which raises other errors.
        certificates = certificates_for(base_url)
        self._http = bounded_client(base_url, certificates)
        options = types.HttpOptions(
            base_url=base_url,
            api_version=os.environ.get("GOOGLE_GENAI_API_VERSION") or _API_VERSION,
            httpx_async_client=self._http,
            # For clients that are not used here; the SDK would load certificates for each of them.
            client_args={"verify": certificates, "trust_env": is_proxied(base_url)},
            async_client_args={"ssl": certificates},
        )
        self._models = genai.Client(
            vertexai=False, api_key=api_key, http_options=options
        ).aio.models

    async def close(self) -> None:
        await self._http.aclose()

    async def call_api(self, prompt: Prompt) -> LLMCallResult:
        turns: list[types.ContentUnionDict] = [
            {"role": turn.role, "parts": [{"text": turn.text}]} for turn in prompt.turns
        ]
        config = types.GenerateContentConfig(
            temperature=0.0,
            # Otherwise the SDK copies the whole configuration, schema included, on each call.
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            system_instruction=prompt.system,
            response_mime_type=None if prompt.schema is None else "application/json",
            response_json_schema=prompt.schema,
        )
        try:
            response = await self._models.generate_content(
                model=self.model, contents=turns, config=config
            )
        except errors.APIError as error:
            raise self._fault(error) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self.fault_of_transport(error) from error
        except UnfitAnswerError as error:
            raise CallFailed(f"Gemini's reply cannot be read: {error}") from error
        except (RecursionError, ValueError, TypeError, AttributeError) as error:
            # What the SDK raises when a reply is no JSON, or JSON of another shape.
            reason = self.quote(str(error))
            raise CallFailed(f"Gemini's reply has an unknown form: {reason}") from error
        return self._result(response)

    def _fault(self, error: errors.APIError) -> Fault:
        asked_s = parse_retry_after(getattr(error.response, "headers", {}).get("retry-after"))
        if asked_s is None:
            asked_s = _retry_info_s(error.details)
        # The SDK takes code and message from the body, whatever they are there.
        message = error.message if isinstance(error.message, str) else ""
        status = getattr(error.response, "status_code", error.code)
        return self.fault_of_status(status, message, retry_after_s=asked_s)

    def _result(self, response: types.GenerateContentResponse) -> LLMCallResult:
        counts, usage = response.usage_metadata, None
        if counts is not None:
            usage = Usage(
                prompt=token_count(counts.prompt_token_count),
                output=token_count(counts.candidates_token_count),
                thinking=token_count(counts.thoughts_token_count),
                total=token_count(counts.total_token_count),
            )
        candidate = response.candidates[0] if response.candidates else None
        finish = candidate.finish_reason.value if candidate and candidate.finish_reason else None
        if text := response.text:
            cut_off = finish if finish == "MAX_TOKENS" else None
            return LLMCallResult(self.without_key(text), usage, cut_off)
        feedback = response.prompt_feedback
        if feedback is not None and feedback.block_reason is not None:
            why = f"block_reason {feedback.block_reason.value}"
            message = feedback.block_reason_message
        elif candidate is None:
            why, message = "no candidates", None
        else:
            why, message = f"finish_reason {finish or 'missing'}", candidate.finish_message
        why = self.quote(f"{why} ({message})" if message else why)
        raise CallFailed(f"Gemini gave no answer: {why}", usage=usage)


def _retry_info_s(details: object) -> float | None:
    """Read the delay that Gemini states in the body of a 429, where there is no Retry-After."""
    inner = details.get("error") if isinstance(details, dict) else None
    notes = inner.get("details") if isinstance(inner, dict) else None
    for note in notes if isinstance(notes, list) else ():
        delay = note.get("retryDelay") if isinstance(note, dict) else None
        if isinstance(delay, str):
            return parse_retry_after(delay.removesuffix("s"))
    return None
