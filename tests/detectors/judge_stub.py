"""Judges on loopback that know the words which the tests' corpora plant in what the mafioso says."""

from __future__ import annotations

from math import log

from tests.generate.players.openai.stub import Answer, Request, says

TELLS = ("calm", "rush", "random", "trust")


def prompt_of(request: Request) -> str:
    return str(request.body["messages"][0]["content"])


def material(request: Request) -> str:
    """What is judged: between the marks."""
    return prompt_of(request).rpartition("<<<")[2].partition(">>>")[0].strip() or "nothing"


def chance(request: Request) -> float:
    """What the server takes for the probability of a lie: high if the judged line holds a word of the mafioso."""
    said = material(request).splitlines()[-1]
    return 0.9 if any(tell in said for tell in TELLS) else 0.2 + len(said) % 7 / 100


def with_logprobs(request: Request, _number: int) -> Answer:
    yes = chance(request)
    top = [{"token": token, "logprob": log(share)} for token, share in ((" Yes", yes), (" No", 1 - yes))]
    top.sort(key=lambda token: -token["logprob"])
    found = says(top[0]["token"].strip())
    found.body["choices"][0]["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    return found


def stating(request: Request, _number: int) -> Answer:
    """A server that takes `logprobs` and ignores it."""
    word = "Yes" if chance(request) > 0.5 else "No"
    return says(word if "logprobs" in request.body else f"Probability: {chance(request):.2f}")
