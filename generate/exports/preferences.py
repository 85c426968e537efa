"""What to prefer: pairs of an honest and a deceptive statement from forked games, and statements with rewards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from liescope.generate.exports.exporter_protocol import SourceGame, Tally, json_line
from liescope.generate.exports.rows import ClaimExporter, ExportedTurn, Row, Speeches, facts_of

_FACTS = ("game", "speaker", "speaker_role", "source", "origin", "prompt_origin")  # common to both of a pair


@dataclass(slots=True)
class _Moment:
    """Replies to one prompt that wait for one of the other kind; texts: all replies so far, to take each once."""

    split: str
    waiting: dict[bool, list[tuple[ExportedTurn, dict[str, Any]]]] = field(
        default_factory=lambda: {True: [], False: []}
    )
    texts: set[str] = field(default_factory=set)


class PairsExporter(ClaimExporter):
    """One row for each two continuations of a moment in which the same seat says something honest and a lie."""

    format: ClassVar[str] = "preference"
    writes: ClassVar[str] = "TRL's preference pairs from forked games (prompt, chosen, rejected)"
    about: ClassVar[str] = (
        "TRL's conversational preference format with an explicit prompt, for `DPOTrainer` and `RewardTrainer`: one row "
        "for each pair of an honest and a deceptive statement that the same seat made at the same moment, to the same "
        "prompt, in two continuations of one game. `chosen` is of the preferred kind. Every statement is in one pair "
        "at most."
    )
    hint: ClassVar[str] = (
        "Pairs need forked games, in which one seat speaks again at the same moment; make some with: liescope fork "
        "runs/NAME GAME STEP --player PLAYER --times 20 --out runs/FORKED. For other games use --to kto."
    )
    needs_run: ClassVar[bool] = True

    def rows(self, speeches: Speeches, games: Iterator[SourceGame], tally: Tally) -> Iterator[Row]:
        moments: dict[bytes, _Moment] = {}
        for speech, wanted in self.checked(speeches, games, tally):
            asked, fork = speech.asked, speech.game.record.meta.get("fork")
            if fork is None:
                tally.left_out["not of a forked game"] += 1
                continue
            if asked is None:  # nobody was asked in this run
                tally.left_out["of the recorded game, or put into a mouth with --say"] += 1
                continue
            if asked.ask.step != fork["step"]:
                tally.left_out["not at the step that was forked"] += 1
                continue
            turn = speeches.turn(speech)
            place = {"run": fork["run"], "game": fork["game"], "step": fork["step"], "seat": asked.ask.seat}
            moment = moments.setdefault(json_line({**place, "prompt": turn.prompt}), _Moment(speech.game.split))
            if turn.completion in moment.texts:
                tally.left_out["the same reply as in another continuation"] += 1
                continue
            moment.texts.add(turn.completion)
            one = turn, facts_of(speech, turn)
            if others := moment.waiting[not wanted]:
                yield moment.split, _pair(*((one, others.pop(0)) if wanted else (others.pop(0), one)))
            else:
                moment.waiting[wanted].append(one)
        for moment in moments.values():
            for waiting in moment.waiting.values():
                if waiting:
                    tally.left_out["no continuation says the opposite"] += len(waiting)


def _pair(wanted: tuple[ExportedTurn, dict[str, Any]], other: tuple[ExportedTurn, dict[str, Any]]) -> dict[str, Any]:
    (chosen, better), (rejected, worse) = wanted, other
    return {
        "prompt": chosen.prompt,
        "chosen": [{"role": "assistant", "content": chosen.completion}],
        "rejected": [{"role": "assistant", "content": rejected.completion}],
        "chosen_id": better["statement_id"],
        "rejected_id": worse["statement_id"],
        **{name: better[name] for name in _FACTS},
        "chosen_model": better["speaker_model"],
        "rejected_model": worse["speaker_model"],
    }


class VerifiersExporter(ClaimExporter):
    """One rollout for each statement with a checked claim."""

    format: ClassVar[str] = "verifiers"
    writes: ClassVar[str] = "rollouts with rewards from checked claims, as verifiers saves them"
    about: ClassVar[str] = (
        "Rollouts as the classic environments of verifiers save them: one row for each statement with a checked claim. "
        "`prompt` is what the speaker was shown, `completion` its reply, `reward` 1 if the statement is of the "
        "preferred kind and 0 if not, `info` what is known of the statement. As the dataset of an environment the "
        "rows give the prompts; the reward is that of the recorded reply, and new replies need a rubric of their own."
    )

    def rows(self, speeches: Speeches, games: Iterator[SourceGame], tally: Tally) -> Iterator[Row]:
        for number, (speech, wanted) in enumerate(self.checked(speeches, games, tally)):
            turn = speeches.turn(speech)
            yield (
                speech.game.split,
                {
                    "example_id": number,
                    "prompt": turn.prompt,
                    "completion": [{"role": "assistant", "content": turn.completion}],
                    "answer": "",
                    "task": speech.said.game,
                    "reward": float(wanted),
                    "info": facts_of(speech, turn),
                },
            )


class KtoExporter(ClaimExporter):
    """One row for each statement with a checked claim, wanted or not."""

    format: ClassVar[str] = "kto"
    writes: ClassVar[str] = "TRL's unpaired preferences from checked claims (prompt, completion, label)"
    about: ClassVar[str] = (
        "TRL's conversational unpaired preference format, for `KTOTrainer`: one row for each statement with a checked "
        "claim. `prompt` is what the speaker was shown, `completion` its reply, `label` true if the statement is of "
        "the preferred kind."
    )

    def rows(self, speeches: Speeches, games: Iterator[SourceGame], tally: Tally) -> Iterator[Row]:
        for speech, wanted in self.checked(speeches, games, tally):
            turn = speeches.turn(speech)
            reply = [{"role": "assistant", "content": turn.completion}]
            row = {"prompt": turn.prompt, "completion": reply, "label": wanted}
            yield speech.game.split, row | facts_of(speech, turn)
