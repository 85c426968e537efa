"""A key goes to the hosts that it is bound to, and to no other, whatever a spec, a file or an endpoint says."""

from __future__ import annotations

import pytest

from liescope.common.errors import EndpointRefused, UsageError
from liescope.games.core import AskKind
from liescope.generate.players.openai.openai_player import open_model, open_openai
from liescope.generate.players.openai.spec import check_binding, read_spec
from liescope.generate.players.player_protocol import EndpointFacts, PlayerContext


def context(**options) -> PlayerContext:
    return PlayerContext(log=lambda attempt: None, game="mafia", **options)


@pytest.mark.parametrize(
    ("variable", "host"),
    [
        ("OPENAI_API_KEY", "api.openai.com"),
        ("OPENAI_API_KEY", "eu.api.openai.com"),
        ("OPENROUTER_API_KEY", "openrouter.ai"),
        ("AZURE_OPENAI_API_KEY", "mine.openai.azure.com"),
        ("HF_TOKEN", "router.huggingface.co:443"),
        ("MY_API_KEY", "localhost:8000"),
        ("MY_API_KEY", "127.0.0.1:8000"),
    ],
)
def test_a_key_goes_to_its_own_hosts_and_to_this_machine_and_to_none_named_like_them(variable: str, host: str) -> None:
    check_binding(variable, host)
    with pytest.raises(UsageError, match="--allow-key"):
        check_binding(variable, f"{host.partition(':')[0]}.evil.example")


@pytest.mark.parametrize(
    ("variable", "host"),
    [
        ("OPENAI_API_KEY", "evil.example"),
        ("OPENAI_API_KEY", "api.openai.com.evil.example"),
        ("OPENAI_API_KEY", "xapi.openai.com"),
        ("AZURE_OPENAI_API_KEY", "openai.azure.com.evil.example"),
        ("GITHUB_TOKEN", "evil.example"),
        ("GITHUB_TOKEN", "localhost:8000"),
        ("AWS_SESSION_TOKEN", "api.openai.com"),
        ("AWS_SECRET_ACCESS_KEY", "localhost:8000"),
        ("AWS_SECRET_ACCESS_KEY", "evil.example"),
        ("PATH", "127.0.0.1"),
        ("CORP_API_KEY", "llm.corp.example"),
    ],
)
def test_any_other_pair_has_to_be_allowed_and_the_error_says_how(variable: str, host: str, monkeypatch) -> None:
    with pytest.raises(UsageError, match=f"--allow-key {variable}@{host}"):
        check_binding(variable, host)
    check_binding(variable, host, allowed=(f"{variable}@{host}",))
    monkeypatch.setenv("LIESCOPE_ALLOW_KEYS", f"A_KEY@b, {variable}@{host}")
    check_binding(variable, host)


def test_the_environments_address_is_respected_and_gets_the_environments_key(
    serve, stubs, desk, asked, monkeypatch
) -> None:
    stub = serve(stubs.says('"Hi."'))
    monkeypatch.setenv("OPENAI_BASE_URL", f"{stub.url}/")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    desk("m?max_tokens=300").ask(asked[AskKind.SPEAK])
    assert stub.requests[0].headers["authorization"] == "Bearer sk-of-the-environment"
    assert stub.requests[0].path == "/v1/chat/completions"
    assert stub.requests[0].body["max_tokens"] == 300
    monkeypatch.delenv("OPENAI_API_KEY")
    desk("m").ask(asked[AskKind.SPEAK])
    assert "authorization" not in stub.requests[1].headers


def test_a_run_does_not_go_on_at_another_host_because_the_environment_changed(monkeypatch) -> None:
    facts = (EndpointFacts("old.example", "m", "schema"), EndpointFacts("x", "other"))
    monkeypatch.setenv("OPENAI_BASE_URL", "https://new.example/v1")
    with pytest.raises(UsageError, match=r"asked 'm' at old\.example, and OPENAI_BASE_URL now says new\.example"):
        open_openai("m", context(facts=facts))
    monkeypatch.setenv("OPENAI_BASE_URL", "https://old.example/v1")
    open_openai("m", context(facts=facts))


def test_ids_of_the_organisation_and_the_project_go_to_openai_alone(serve, stubs, desk, asked, monkeypatch) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, f"private-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: private-gateway")
    stub = serve(stubs.says('"Hi."'))
    desk(f"m@{stub.url}").ask(asked[AskKind.SPEAK])
    assert "private" not in str(stub.requests[0].headers).lower()
    monkeypatch.setenv("http_proxy", stub.url.removesuffix("/v1"))
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    desk("m@http://api.openai.com/v1").ask(asked[AskKind.SPEAK])
    headers = stub.requests[1].headers
    assert headers["openai-organization"] == "private-OPENAI_ORG_ID"
    assert headers["openai-project"] == "private-OPENAI_PROJECT_ID"
    assert "private-gateway" not in headers.values()


def test_openais_host_takes_its_own_name_for_the_token_limit(monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    opened = open_model("m?max_tokens=300", context())
    assert opened.body("Hello")["max_completion_tokens"] == 300


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused_and_neither_key_nor_prompt_follows(
    serve, stubs, desk, asked, monkeypatch, status: int
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-mine-and-only-mine")
    other = serve(stubs.says('"I am the other host."'))
    stub = serve(stubs.Answer("", status, {"Location": f"{other.url}/chat/completions"}))
    with pytest.raises(EndpointRefused, match="redirects to another address"):
        desk(f"m@{stub.url}?key_env=MY_API_KEY").ask(asked[AskKind.SPEAK])
    assert other.requests == []


def test_a_server_cannot_leave_cookies(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.Answer(stubs.says('"Hi."').body, headers={"Set-Cookie": "seen=1; Path=/"}))
    desk(f"m@{stub.url.replace('127.0.0.1', 'localhost')}").ask(*[asked[AskKind.SPEAK]] * 2)
    assert [request.headers.get("cookie") for request in stub.requests] == [None, None]


def test_a_password_file_for_other_uses_is_not_read(serve, stubs, desk, asked, monkeypatch, tmp_path) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password hush\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    stub = serve(stubs.says('"Hi."'))
    desk(f"m@{stub.url}").ask(asked[AskKind.SPEAK])
    assert "authorization" not in stub.requests[0].headers


# What the SDK's transport calls for a proxy with a password is deprecated in the newest aiohttp.
@pytest.mark.filterwarnings("ignore:.*is deprecated and will be removed:DeprecationWarning")
def test_a_proxy_of_the_environment_is_used(serve, stubs, desk, asked, monkeypatch) -> None:
    proxy = serve(stubs.says('"Hi."'))
    monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1").replace("http://", "http://me:pw@"))
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    desk("m@http://models.example/v1").ask(asked[AskKind.SPEAK])
    assert proxy.requests[0].path == "http://models.example/v1/chat/completions"
    assert proxy.requests[0].headers["proxy-authorization"].startswith("Basic ")


@pytest.mark.parametrize(
    "spec",
    [
        "m@https://gateway.example/sk-live-0123456789abcdefXYZ/v1",
        "m@https://gateway.example/v1/kJ8sPq2LmN4vTz6RbW1xYc3D",
        "m@https://gateway.example/v1/kJ8sPq2LmN4%76Tz6RbW1xYc3D",
        "m@http://localhost:8000/v1?key_env=sk-live-0123456789abcdefXYZ",
        "m@http://localhost:8000/v1?key_env=kJ8sPq2LmN4v-Tz6RbW1xYc3D",
        "m@http://localhost:8000/v1?key_env=a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5",
        "m@http://localhost:8000/v1?key=AIzaSyA0123456789abcdefghijklmnopqrstuv",
        "m@http://localhost:8000/v1?key_env=plain-value-of-a-variable",
        "m@http://localhost:8000/plain-value-of-a-variable/v1",
        "sk-live-0123456789abcdefXYZ@http://localhost:8000/v1",
    ],
)
def test_a_key_in_a_spec_is_refused_and_not_repeated(spec: str, monkeypatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "plain-value-of-a-variable")
    with pytest.raises(UsageError, match="name that in key_env") as error:
        read_spec(spec)
    for secret in ("sk-live", "kJ8s", "AIzaSy", "a0b1", "plain-value"):
        assert secret not in str(error.value)


def test_an_address_in_the_environment_that_is_none_or_holds_a_key_is_refused_and_not_repeated(monkeypatch) -> None:
    secret = "https://gw.example/kJ8sPq2LmN4vTz6RbW1xYc3D/v1"
    for address in (secret, "https://gw.example/v1?key=abcdefgh", "localhost:8000/v1"):
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        with pytest.raises(UsageError, match=r"address|http://host:port/v1") as error:
            open_openai("m", context())
        assert "kJ8s" not in str(error.value)
        assert "abcdefgh" not in str(error.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://gateway.ai.cloudflare.com/v1/0123456789abcdef0123456789abcdef/my-gateway/openai",
        "https://mine.openai.azure.com/openai/deployments/gpt-4.1-mini-2025-04-14",
        "https://host.example/8f14e45f-ceea-467f-a13e-0123456789ab/v1",
        "http://localhost:8000/v1/projects/Liescope-2",
    ],
)
def test_an_address_with_ids_is_none_with_a_key(url: str) -> None:
    assert read_spec(f"m@{url}").base_url == url
