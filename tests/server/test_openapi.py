"""Whatever a program sends, the server answers in its own terms: no fault, no uncharged answer."""

import itertools
import os

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

WANTED = int(os.environ.get("DENIABLE_REQUESTS", "0"))  # by script/requests: 10,000
EXAMPLES = 25 if WANTED else 4  # per operation


def test_no_request_makes_the_server_fail(site):
    tokens = {"curator": site.house.accounts.issue(site.house.accounts.curator(), "token")}
    tokens["analyst"] = site.analyst("fuzzer", share=5.0)
    schema = schemathesis.openapi.from_url(f"{site.url}/api/openapi.json")
    statuses: dict[int, int] = {}
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    while not statuses or sum(statuses.values()) < WANTED:
        for result, mode in itertools.product(schema.get_all_operations(), modes):
            operation = result.ok()
            if mode is GenerationMode.POSITIVE or operation.body:  # else nothing could be wrong
                send(operation, mode, tokens, statuses)
    assert sum(statuses.values()) >= EXAMPLES
    site.house.ledgers["people"].verify()
    print(f"{sum(statuses.values()):,} requests, by status: {dict(sorted(statuses.items()))}")  # noqa: T201


def send(operation, mode, tokens, statuses):
    """Some requests of one kind, from the curator and from an analyst."""

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def sent(case):
        for token in tokens.values():
            case.headers = {**(case.headers or {}), "Authorization": f"Bearer {token}"}
            answer = case.call(timeout=300)
            status = answer.status_code
            statuses[status] = statuses.get(status, 0) + 1
            assert status < 500, (case.formatted_path, case.body, answer.text)

    sent()
