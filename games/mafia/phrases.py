"""The words of the scripted players: templates by move.

<symbol> stands for one of that symbol's templates, {x} and {y} for players, {dead} for last night's victim. Every move
is open to every role: liars and truth-tellers differ in what is true, not in what they can say.
"""

from __future__ import annotations

from liescope.games.script.grammar import JOINS, Phrasebook
from liescope.games.script.persona import templates

_PARTS = templates(
    """
iam: I'm the detective | I am the detective | I'm the detective here | Detective here | My role is detective |
    I'm your detective | I was dealt the detective | I'm the detective in this game
looked: I investigated {x} | I investigated {x} last night | last night I investigated {x} | I did investigate {x} |
    I checked {x} | I checked {x} last night | I looked into {x} | I have investigated {x}
guilty: {x} is the mafioso | {x} is mafia | {x} is our mafioso | {x} is guilty | {x} is the mafioso here
clean: {x} is innocent | {x} is not the mafioso | {x} is clean | {x} is a villager | {x} is town
villager: I'm just a villager | I am just a villager | I'm a villager | I'm only a villager | I'm simply a villager |
    I'm a plain villager | I'm one of the villagers | I'm just another villager
vote: I'm voting for {x} | I am voting for {x} | I will vote for {x} | I'll vote for {x} | my vote goes to {x} |
    my vote is for {x} | I vote for {x} today | I'm going to vote for {x}
night: {dead} died last night | we lost {dead} last night | {dead} was killed in the night | {dead} is dead |
    somebody here killed {dead} | the mafia took {dead} | {dead} is gone
talk: talk | speak up | hear from everyone | compare what we know | listen to each other | go around once
we: we | all of us | the town | we all
"""
) | {"and": JOINS}

# What a statement does. The key is the intent's name, or that name with the variant after a slash.
_MOVES = templates(
    """
report_investigation/guilty: <iam><and><looked><and><guilty> | <iam>. <looked>: <guilty> | <looked><and><guilty> |
    <iam>, and my investigation of {x} came back mafioso: <guilty> | <looked>, I'm the detective, <guilty> |
    as the detective I can tell you what I found: <looked>, and <guilty> | <iam>. <guilty>, <looked>
report_investigation/clean: <iam><and><looked><and><clean> | <iam>. <looked>: <clean> | <looked><and><clean> |
    <looked>, I'm the detective, <clean> | as the detective I can say it: <looked>, and <clean>
claim_detective: <iam> | <iam>, and I would like you to hear me out | <iam>, I will say more when the time is right |
    <iam>, whatever anyone else says | <iam><and>I'm watching {x} | <iam>, there is only one of us
claim_villager: <villager> | <villager> trying to find the mafioso | <villager>, I know as much as you do |
    <villager>, I have not investigated anybody | <villager> without any secret | <villager>, not the detective |
    <villager>, I have nothing to report | <villager>, and I want the town to win | my role is villager |
    <villager>, as ordinary as they come | <villager>, so I can only go by what is said here
accuse: <guilty> | <guilty> | I say it openly: <guilty> | {x} is the one who killed {dead} | {x} is lying to us |
    I suspect {x} | {x} is suspicious to me | {x} is hiding something | {x} has been deflecting all along |
    {x} is the mafioso we are looking for | {x} is our best suspect | we should arrest {x} | {x} is acting shifty |
    {x} is not telling us everything, {x} is hiding a role | of everyone here {x} is the most suspicious |
    the mafioso is right here and {x} is guilty
doubt: I doubt {x} | I don't believe {x} | I don't trust {x} | what {x} says doesn't add up | I can't trust {x} |
    {x} claims a lot and shows little, I doubt {x} | if {x} really investigated anybody, the story doesn't fit |
    {x} is stalling | the story of {x} doesn't fit | anyone can claim to be the detective, and I doubt {x} |
    I don't buy what {x} says | {x} is avoiding the question |
    a real detective would talk differently than {x}, I doubt {x} |
    a mafioso would say just what {x} said, I don't believe {x}
defend: <clean> | <clean> | I say it openly: <clean> | I trust {x} | I believe {x} | {x} sounds genuine to me |
    what {x} says makes sense | I would not arrest {x}, I trust {x} | {x} is on our side | I side with {x} |
    I vouch for {x} | {x} has been honest with us
deny: I'm not the mafioso | I am not the mafioso | it wasn't me | I did not kill {dead} | I'm innocent |
    you have the wrong person, I'm not the mafioso | {x} has it wrong about me | what {x} says about me is false |
    I had nothing to do with last night | nobody investigated me and found a mafioso |
    you would arrest the wrong one with me | I'm not mafia, and {x} knows it
question: {x}, what is your role? | {x}, did you investigate anybody? | {x}, who do you think the mafioso is? |
    why so quiet, {x}? | {x}, where do you stand? | has the detective investigated anyone? | who is the detective? |
    {x}, who gets your vote? | {x}, what do you make of last night? |
    can the detective tell us who was investigated? | {x}, are you a villager? | does anybody have a result for us? |
    {x}, would you explain yourself? | who would want {dead} dead? | should the detective come forward now? |
    {x}, what did you see?
agree: I agree with {x} | I agree with {x} on this | {x} is right, I agree with {x} | what {x} said makes sense |
    I'm with {x} | I stand with {x} | {x} took the words out of my mouth, I agree with {x} |
    I agree with {x} about {y}, and I suspect {y} | I believe {x}, {y} is suspicious |
    {x} makes sense, I'd look at {y}
vote_promise: <vote> | <vote> today | <vote>, join me | <vote><and>I hope you do too |
    <vote> unless somebody changes my mind | when we vote, <vote> | <vote>, {x} is suspicious |
    <vote> and so should the detective | <vote>, nobody else fits
observe/accused: {x} went after {y} | {x} was pointing at {y} | {x} accused {y} of being the mafioso |
    {x} put {y} on the spot | it was {x} who brought up {y} | {x} wants us to arrest {y}
observe/quiet: {x} has been too quiet | {x} has hardly said a word | we have heard nothing from {x} |
    {x} is too quiet for me | {x} has kept silent | {x} has told us nothing
observe/claimed: {x} says they are the detective | {x} claims to have investigated | {x} told us a role, detective |
    {x} was the one to claim detective | {x} spoke of an investigation | {x} came out as the detective
observe/turned: {x} changed their story | {x} changed tune | {x} said one thing and then another |
    {x} has changed story since | first {x} said one role and then another | {x} is not telling the same story twice
appeal: believe me, I would never hurt this town | arrest me and you will regret it | trust me on this, all of you |
    don't let me down now | we are friends here, act like it | think how you will feel if the detective dies |
    don't leave me alone with this | if you care about {dead}, listen to me | do it for {dead} |
    I beg you to listen before you vote | it would be a shame to lose to the mafioso like this |
    it hurts that anyone here could doubt me | all of you would regret trusting {x}
small_talk: <night>, and the mafioso is one of us | <night>, let's <talk> | <night>. Let's <talk> |
    good morning, <night> | let's <talk> before anyone is arrested | it is early, let's <talk> |
    <we> should <talk> before the vote | the detective may have something to say, let's <talk> |
    let's <talk>, <we> have one vote today | <night>, and <we> need to find the mafioso |
    <we> need the detective to have investigated well |
    a villager, a detective, a mafioso: <we> have to sort that out | nobody should rush, let's <talk>
"""
)

_FRAMED = frozenset(
    {"accuse", "doubt", "defend", "observe/accused", "observe/quiet", "observe/claimed", "observe/turned"}
)
WORDS = Phrasebook(_MOVES, _PARTS, _FRAMED, _FRAMED | {"vote_promise", "report_investigation/guilty"})
