"""Traces would tell elsewhere when questions came and how long they took: there are none."""

import asyncio

import pytest
from fastapi import FastAPI
from opentelemetry import trace

from deniable.server.app import create


class Recorder(trace.TracerProvider):
    """A provider as an operator may have set one for the whole process."""

    def __init__(self):
        self.begun = []

    def get_tracer(self, *_, **__):
        begun = self.begun

        class Tracer(trace.NoOpTracer):
            def start_span(self, name, *args, **more):
                begun.append(name)
                return super().start_span(name, *args, **more)

            def start_as_current_span(self, name, *args, **more):
                begun.append(name)
                return super().start_as_current_span(name, *args, **more)

        return Tracer()


def requested(app):
    """The status of one request for a page that everyone may see."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
        "path": "/health.json", "raw_path": b"/health.json", "query_string": b"", "root_path": "",
        "scheme": "http", "headers": [(b"host", b"127.0.0.1")], "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"]


@pytest.fixture
def recorder(monkeypatch):
    found = Recorder()
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: found)
    return found


def test_no_request_is_traced_though_the_process_has_a_provider(house, recorder):
    assert requested(create(house())) == 200
    assert recorder.begun == []


def test_a_provider_would_see_the_requests_of_an_application_that_is_not_silent(recorder):
    """Else the test above could not fail."""
    app = FastAPI()
    app.get("/health.json")(lambda: {"ok": True})
    assert requested(app) == 200
    assert recorder.begun
