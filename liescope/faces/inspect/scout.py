"""A trained detector as the scanner `liescope/detector` of Inspect Scout."""

from __future__ import annotations

from inspect_scout import Reference, Result, Scanner, Transcript, scanner

from liescope.faces.inspect.suspicion import suspicion_by, turns


@scanner(messages="all")  # type: ignore[untyped-decorator]
def detector(model: str) -> Scanner[Transcript]:
    """The transcript's most suspicious turn of an assistant: its probability of being deceptive, its words, and why.

    The result refers to that message; its metadata has the score of every turn, by the message's id. model: a model
    folder, or a model on the Hub ("USER/NAME"). Raises BadData for a folder that is no model.
    """
    suspicion = suspicion_by(model)

    async def scan(transcript: Transcript) -> Result:
        said = turns(transcript.messages, transcript.metadata.get("sample_metadata") or {})
        rows = await suspicion.of([read for _, read in said])
        told = [(row["score"], row, message) for row, (message, _) in zip(rows, said, strict=True)]
        told = [one for one in told if one[0] is not None]
        if not told:
            return Result(value=None, explanation="no assistant says anything that the detector can read")
        score, row, message = max(told, key=lambda one: one[0])
        cite = f"[M{transcript.messages.index(message) + 1}]"
        return Result(
            value=score,
            answer=row["text"],
            explanation=f"{cite} {row['reason']}",
            references=[Reference(type="message", cite=cite, id=str(message.id))],
            metadata={"scores": {str(message.id): score for score, _, message in told}},
        )

    return scan
