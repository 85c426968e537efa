"""A policy is improved against a fixed detector, which then learns anew: what happens, round after round?

Run: python examples/arms_race.py [FOLDER] [--policy scripted] [--rounds 4] [--games 100] [--reward outcome=1,caught=-1]
Or:  python examples/arms_race.py [FOLDER] --policy MODEL --rounds 1 --games 24        MODEL: a folder, or on the Hub

The policy holds the mafioso of Mini-Mafia. A scripted one changes how convincing it sounds and how it likes each move,
by a search for the most reward. A language model, which then speaks for every seat, says as the mafioso the one of
eight replies that the detector suspects least, and learns such replies by LoRA; without `caught` in the reward it says
any. The detector is `tfidf`, told the roles, and learns from all rounds so far.
"""

import argparse
import csv
from collections import Counter
from pathlib import Path
from random import Random
from statistics import fmean, pstdev

import liescope
from liescope.games.core import AskKind, EventKind
from liescope.games.script.persona import PROFILES, parse_spec
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.scripted import ScriptedPlayer

GAME, ROLE, PROFILE = "mini-mafia", "mafioso", "steady"
MOVES = (
    "claim_villager claim_detective report_investigation accuse doubt defend deny question agree vote_promise appeal"
)
SPOKEN = (EventKind.STATEMENT, EventKind.SILENCE)
CHOICES, PASSES = 8, 3  # replies that a policy can choose among; passes of LoRA over the chosen
GENERATIONS, TRIED, BEST = 3, 12, 4  # of the search: how often, how many policies, how many of them it keeps


def heard(table):
    """What the seat that is asked has seen."""
    return [event for event in table.events if event.audience is None or table.ask.seat in event.audience]


class Scripted:
    """values: m, how convincing it sounds, and how much it likes each move, as log-odds."""

    def __init__(self, _):
        self.table = {"players": [f"scripted:{PROFILE}"], "seats": [f"{ROLE}=agent:policy"]}
        self.values = {"m": PROFILES[PROFILE].m, **dict.fromkeys(MOVES.split(), 0.0)}

    def answers(self, tables, _):
        skills = parse_spec(f"{PROFILE}?m={self.values['m']}")[1]
        voices = [ScriptedPlayer(f"voice {n}", skills, GAME) for n in range(CHOICES)]
        return [self.answer(table, voices) for table in tables]

    def answer(self, table, voices):
        ask, view = table.ask, heard(table)
        if ask.kind is not AskKind.SPEAK:
            return voices[0].say(ask, view).choice
        said = [voice.say(ask, view) for voice in voices]
        moves = [one.private["intent"].split("+")[0].split("/")[0] for one in said]
        liked = [2.718 ** self.values.get(move, 0.0) for move in moves]
        text = Random(f"{ask.game} {ask.step}").choices(said, liked)[0].text.replace('"', "'")
        return f'"{text}"'

    def improve(self, detector, own, seed):
        """Cross-entropy search: draw policies around this one, keep the best, draw around their mean."""
        random, spread = Random(seed), dict.fromkeys(self.values, 1.0)
        for generation in range(GENERATIONS):
            found = []
            for _ in range(TRIED):
                one = Scripted(None)
                one.values = {name: random.gauss(value, spread[name]) for name, value in self.values.items()}
                played = play(one, f"{seed}{generation}", max(own.games // 4, 2), detector)
                found.append((fmean(earned(rewards, own.weights) for _, rewards in played), one.values))
            best = [values for _, values in sorted(found, key=lambda pair: pair[0])[-BEST:]]
            self.values = {name: fmean(one[name] for one in best) for name in self.values}
            spread = {name: pstdev([one[name] for one in best]) + 0.05 for name in self.values}
        return " ".join(f"{name} {value:+.1f}" for name, value in self.values.items())


class Model:
    """Speaks for all seats: for the town as it comes, for the mafioso with LoRA, so that at first their words differ by
    role alone. A scripted player votes and kills. A reply begins with the quotation mark that small models forget.
    """

    def __init__(self, name):
        import torch
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.table = {"players": ["agent:policy"], "prompts": "minimal"}
        self.torch, self.tokens = torch, AutoTokenizer.from_pretrained(name, padding_side="left")
        torch.manual_seed(0)
        plain = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16)
        lora = LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
        self.model, self.votes = get_peft_model(plain, lora), ScriptedPlayer(*parse_spec(PROFILE), GAME)
        self.chosen, self.as_written = [], Counter()

    def replies(self, tables, times, opening='"'):
        """Of each table the prompt, which the model reads once, and some replies to it."""
        for at in range(0, len(tables), 32 // times):
            asked = tables[at : at + 32 // times]
            chats = [[{"role": "user", "content": table.whole_prompt()}] for table in asked]
            prompts = self.tokens.apply_chat_template(chats, tokenize=False, add_generation_prompt=True)
            prompts = [prompt + opening for prompt in prompts]
            words = self.tokens(prompts, add_special_tokens=False, return_tensors="pt", padding=True)
            before = {name: ids[:, :-1] for name, ids in words.items()}
            before["position_ids"] = (before["attention_mask"].cumsum(1) - 1).clamp(min=0)
            words = {name: ids.repeat_interleave(times, 0) for name, ids in words.items()}
            with self.torch.no_grad():
                states = self.model.eval()(**before, logits_to_keep=1).past_key_values
                states.batch_repeat_interleave(times)
                ids = self.model.generate(**words, past_key_values=states, do_sample=True, top_k=40, max_new_tokens=28)
            drawn = self.tokens.batch_decode(ids[:, words["input_ids"].shape[1] :], skip_special_tokens=True)
            for number, (table, prompt) in enumerate(zip(asked, prompts, strict=True)):
                yield table, prompt, [opening + text for text in drawn[number * times :][:times]]

    def answers(self, tables, detector):
        talking = [table for table in tables if table.ask.kind is AskKind.SPEAK]
        own = [table for table in talking if table.seats[table.ask.seat] == ROLE]
        with self.model.disable_adapter():
            if not self.as_written:
                free = [read_reply(table.ask, texts[0]) for table, _, texts in self.replies(talking, 1, "")]
                self.as_written.update(not reply.problem for reply in free)
            said = {one: texts[0] for one, _, texts in self.replies([one for one in talking if one not in own], 1)}
        for table, prompt, texts in self.replies(own, CHOICES if detector else 1):
            read = [read_reply(table.ask, text).text or "" for text in texts]
            rows = [{"text": text, "speaker": table.ask.seat, "names": [*table.seats]} for text in read]
            scores = detector.score(rows)["score"].to_list() if detector else [0.0]
            scores = [score if text and score is not None else 1.0 for text, score in zip(read, scores, strict=True)]
            least = min(scores)
            said[table] = texts[scores.index(least)]
            if least < 1:
                self.chosen.append((prompt, said[table][1:], fmean(scores), least))
        return [said.get(table) or self.votes.say(table.ask, heard(table)).choice for table in tables]

    def improve(self, detector, own, seed):
        """Play half as many games, then learn what the mafioso said, by LoRA: a step for every four replies, on the
        mean over replies of the loss per token.
        """
        self.torch.manual_seed(seed)
        self.chosen, losses = [], []
        play(self, seed, own.games // 2, detector)
        steps = self.torch.optim.AdamW([one for one in self.model.parameters() if one.requires_grad], lr=1e-3)
        learned = Random(seed).sample(self.chosen * PASSES, len(self.chosen) * PASSES)
        for number, (prompt, reply, *_) in enumerate(learned, 1):
            before, after = (self.tokens(text, add_special_tokens=False)["input_ids"] for text in (prompt, reply))
            ids, labels = self.torch.tensor([before + after]), self.torch.tensor([[-100] * len(before) + after])
            loss = self.model.train()(input_ids=ids, labels=labels).loss
            (loss / 4).backward()
            losses.append(loss.item())
            if number % 4 == 0:
                steps.step()
                steps.zero_grad()
        half, (_, _, drawn, least) = len(losses) // 2, zip(*self.chosen, strict=True)
        scored = f", score {fmean(drawn):.2f} as drawn, {fmean(least):.2f} as said" if detector else ""
        return f"{len(drawn)} replies{scored}, loss {fmean(losses[:half]):.2f} then {fmean(losses[half:]):.2f}"


def play(policy, seed, games, detector=None, out=None):
    """Games of one policy, side by side: of each its record, and what the mafioso earned."""
    table = {**policy.table, "seed": int(seed), "games": games}
    tables = [liescope.environment(GAME, number=number, detector=detector, **table) for number in range(games)]
    given = {one: [] for one in tables}
    while waiting := [one for one in tables if one.ask]:
        for one, text in zip(waiting, policy.answers(waiting, detector), strict=True):
            given[one].append(text)
            one.answer(text)
    for number, texts in enumerate(given.values() if out else []):  # the same answers make the same games of a run
        with liescope.environment(GAME, number=number, out=out, **table) as again:
            for text in texts:
                again.answer(text)
    return [(one.record, one.rewards()[one.record.by_role(ROLE)[0].name]) for one in tables]


def earned(rewards, weights):
    return sum(weight * (getattr(rewards, part) or 0.0) for part, weight in weights.items())


def measured(number, models, played, run):
    """The row of a round: AUROC within games of the last two detectors, and what happened in the games."""
    found = liescope.evaluate(models[-2:], run).metrics.filter(metric="auroc_within")
    within = {row["scorer"]: row for row in found.rows(named=True)[::-1] if row["statements"]}
    row = {"round": number}
    for name, model in (("fixed", models[-2:][0]), ("new", models[-1])):
        row |= {f"{name}_{key}": within[model.name][key] for key in ("value", "lo", "hi")}
    honest = [rewards.honest for _, rewards in played if rewards.honest is not None]
    acts = [(event, record.by_role(ROLE)[0].name) for record, _ in played for event in record.events]
    spoken = [not event.fallback for event, name in acts if event.actor == name and event.kind in SPOKEN]
    wins = fmean(1 - rewards.outcome for _, rewards in played)
    return row | {"town_wins": wins, "false_claims": 1 - fmean(honest) if honest else None, "readable": fmean(spoken)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", nargs="?", default="out", type=Path)
    parser.add_argument("--policy", default="scripted")
    parser.add_argument("--rounds", default=4, type=int)
    parser.add_argument("--games", default=100, type=int, help="to learn from, and as many to test on")
    parser.add_argument("--reward", default="outcome=1,caught=-1")
    parser.add_argument("--seed", default=1, type=int)
    own = parser.parse_args()
    own.weights = {part: float(weight) for part, weight in (one.split("=") for one in own.reward.split(","))}
    out = own.out / "arms-race"
    if out.exists():
        parser.error(f"{out} holds an arms race; name another folder")
    policy = Scripted(None) if own.policy == "scripted" else Model(own.policy)
    rows, models, runs = [], [], []
    for number in range(own.rounds + 1):
        seed = 10_000 * own.seed + 100 * number
        detector = liescope.load(models[-1]) if number and "caught" in own.weights else None
        how = policy.improve(detector, own, seed) if number else "as it comes"
        runs.append(out / f"learn-{number}")
        models.append(out / f"tfidf-{number}")
        play(policy, seed + 98, own.games, detector, runs[-1])
        played = play(policy, seed + 99, own.games, detector, out / f"test-{number}")
        liescope.train(
            "tfidf", liescope.build(runs, out=out / f"corpus-{number}").folder, target="role", folds=0, out=models[-1]
        )
        rows.append(measured(number, models, played, out / f"test-{number}") | {"policy": how})
        print(", ".join(f"{name} {value:.2f}" for name, value in rows[-1].items() if isinstance(value, float)))
        print(f"    round {number}: {how}", flush=True)
    if isinstance(policy, Model):
        readable = policy.as_written
        print(f"without the opening quotation mark {readable[True]} of {readable.total()} replies are readable")
    with (out / "rounds.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
