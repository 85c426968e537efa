"""The words of the scripted players in one-night werewolf: templates by move, as in Mafia's phrases."""

from __future__ import annotations

from liescope.games.script.draws import templates
from liescope.games.script.grammar import JOINS, Phrasebook

_PARTS = templates(
    """
villager: I'm just a villager | I am just a villager | I'm a villager | I'm only a villager | I'm a plain villager |
    my role is villager
seer: I'm the seer | I am the seer | my role is seer | I'm your seer
looked: I looked at {x}'s card | last night I looked at {x}'s card | I investigated {x} | I checked {x}'s card |
    I peeked at {x}'s card
guilty: {x} is a werewolf | {x} is one of the werewolves | {x} is a wolf
clean: {x} is a villager | {x} is not a werewolf | {x} is innocent
vote: I'm voting for {x} | I vote for {x} | my vote goes to {x} | I will vote for {x} | I'll vote for {x}
talk: talk | speak up | hear from everyone | compare what we know
we: we | all of us | the village
"""
) | {"and": JOINS}

# What a statement does. The key is the intent's name, or that name with the variant after a slash.
_MOVES = templates(
    """
report/guilty: <seer><and><looked><and><guilty> | <looked><and><guilty> | <seer>. <looked>: <guilty>
report/clean: <seer><and><looked><and><clean> | <looked><and><clean> | <seer>. <looked>: <clean>
claim_villager: <villager> | <villager>, I saw nothing last night | <villager> and I slept all night
accuse: <guilty> | I suspect {x} | {x} is lying to us | {x} is hiding something |
    of everyone here {x} is the most suspicious | we should exile {x}
doubt: I don't believe {x} | I doubt {x} | what {x} says doesn't add up | I don't trust {x}
deny: I'm not a werewolf, {x} | {x} is wrong, I'm not a werewolf | I'm innocent, whatever {x} says
defend: I trust {x} | {x} sounds honest | I believe {x}
question: {x}, what was your role last night? | did anybody look at a card? | {x}, what do you say to that? |
    who is the seer?
vote_promise: <vote> | <vote>, and <we> should too | when it comes to it, <vote>
centre: perhaps the werewolves lie in the centre | there may be no werewolf here at all
small_talk: let's <talk> | <we> have one vote, so let's <talk> | good morning, let's <talk>
"""
)

_ABOUT_SOMEBODY = frozenset({"accuse", "doubt", "defend"})
WORDS = Phrasebook(_MOVES, _PARTS, _ABOUT_SOMEBODY, _ABOUT_SOMEBODY | {"vote_promise", "report/guilty"})
