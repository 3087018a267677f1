"""The local server of a label page: this machine only, one random address, bounded requests.

A request without the token in its address is refused. So is a page of another origin that knows
the token, by `Host`, `Origin` and `Sec-Fetch-Site`; a name that another site points at this machine
has another `Host`.
"""

from __future__ import annotations

import secrets
import socket
import webbrowser
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truemark.command import DONE, note
from truemark.errors import TruemarkError
from truemark.imports import require
from truemark.jsontext import read_json, to_json
from truemark.labelling.desk import ConflictError, Desk, Edit

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"
LARGEST_BODY = 4_000_000
_ASSETS = Path(__file__).parent / "assets"
_PAGES = Path(__file__).parents[1] / "pages" / "assets"
_SHARED = {
    "page.css": (_PAGES / "page.css", "text/css"),
    "text.js": (_PAGES / "text.js", "text/javascript"),
    "shell.css": (_ASSETS / "shell.css", "text/css"),
    "shell.js": (_ASSETS / "shell.js", "text/javascript"),
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
        " require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
Handler = Callable[["Request"], Awaitable["Response"]]


def serve(desk: Desk, *, open_browser: bool = True) -> int:
    """Serve the page of a desk until Ctrl-C, and return the exit status."""
    require("label", "labelling", "starlette", "uvicorn")
    import uvicorn

    token = secrets.token_urlsafe(24)
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
        address = f"http://{HOST}:{port}/{token}/"
        note(f"label: {address} (press Ctrl-C to stop)")
        if open_browser:
            webbrowser.open(address)
        config = uvicorn.Config(
            label_app(desk, port, token),
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
            h11_max_incomplete_event_size=64_000,
        )
        try:
            uvicorn.Server(config).run(sockets=[listener])
        except KeyboardInterrupt:
            pass
        finally:
            desk.close()
    note(f"label: {desk.progress()['said']}")
    return DONE


def label_app(desk: Desk, port: int, token: str) -> Starlette:
    """Make the application that answers at this port below the path of the token."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import FileResponse, Response
    from starlette.routing import Route

    hosts = {f"{HOST}:{port}", f"localhost:{port}"}
    task = desk.task
    of_task = {"label.js": "text/javascript", "label.css": "text/css"}
    assets = _SHARED | {name: (task.assets / name, kind) for name, kind in of_task.items()}

    def json_response(value: object, status: int = 200) -> Response:
        return Response(to_json(value), status, media_type="application/json")

    def refusal(status: int, reason: str) -> Response:
        return json_response({"error": reason}, status)

    def guarded(work: Handler) -> Handler:
        """Check where a request comes from, and add headers to the answer."""

        async def answer(request: Request) -> Response:
            reason = _refused(request, hosts, token)
            response = refusal(403, reason) if reason else await respond(request)
            response.headers.update(_HEADERS)
            return response

        async def respond(request: Request) -> Response:
            if request.path_params.get("number", 0) >= len(task.names):
                return refusal(404, "no such text")
            try:
                return await work(request)
            except ConflictError as conflict:
                return json_response(conflict.state, 409)
            except TruemarkError as error:
                return refusal(400, str(error))

        return answer

    async def page(_: Request) -> Response:
        return FileResponse(_ASSETS / "shell.html", media_type="text/html")

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in assets:
            return refusal(404, "no such file")
        path, kind = assets[name]
        return FileResponse(path, media_type=kind)

    async def overview(_: Request) -> Response:
        return json_response(await run_in_threadpool(desk.overview))

    async def progress(_: Request) -> Response:
        return json_response(await run_in_threadpool(desk.progress))

    async def open_text(request: Request) -> Response:
        return json_response(await run_in_threadpool(desk.open, request.path_params["number"]))

    async def draft_again(request: Request) -> Response:
        await run_in_threadpool(desk.draft_again, request.path_params["number"])
        return json_response({})

    async def save(request: Request) -> Response:
        if request.headers.get("content-type") != "application/json":
            return refusal(415, "expected application/json")
        body = await _bounded_body(request)
        if body is None:
            return refusal(413, f"larger than {LARGEST_BODY:,} bytes")
        edit = read_json(Edit, body, "change")
        number = request.path_params["number"]
        return json_response(await run_in_threadpool(desk.save, number, edit))

    routes: list[tuple[str, Handler, str]] = [
        ("", page, "GET"),
        ("files/{name}", asset, "GET"),
        ("overview", overview, "GET"),
        ("progress", progress, "GET"),
        ("texts/{number:int}", open_text, "GET"),
        ("texts/{number:int}", save, "PUT"),
        ("texts/{number:int}/draft", draft_again, "PUT"),
    ]

    async def nothing(_: Request) -> Response:
        return refusal(404, "nothing here")

    known = [
        Route(f"/{{token}}/{path}", guarded(work), methods=[method])
        for path, work, method in routes
    ]
    anything = Route("/{token:path}", guarded(nothing), methods=["GET", "POST", "PUT", "DELETE"])
    return Starlette(routes=[*known, anything])


def _refused(request: Request, hosts: set[str], token: str) -> str:
    """Say why a request is refused; empty if it is not."""
    headers: Any = request.headers
    host = headers.get("host", "")
    if host not in hosts:
        return "another host"
    given = str(request.path_params.get("token", "")).partition("/")[0]
    if not secrets.compare_digest(given.encode(), token.encode()):
        return "wrong address"
    origin = headers.get("origin")
    if origin is None and request.method != "GET":
        return "no origin"
    if origin is not None and origin != f"http://{host}":
        return "another origin"
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return "another site"
    return ""


async def _bounded_body(request: Request) -> bytes | None:
    """Read the body; None if it is too large."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_BODY:
            return None
    return bytes(body)
