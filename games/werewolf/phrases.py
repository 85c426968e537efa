"""The words of the scripted players in Werewolf: templates by move, as in Mafia's phrases.

Every move but an investigation is open to every role; liars differ in what is true, not in what they can say.
"""

from __future__ import annotations

from liescope.games.script.grammar import JOINS, Phrasebook
from liescope.games.script.persona import templates

_PARTS = templates(
    """
villager: I'm just a villager | I am just a villager | I'm a villager | I'm only a villager | I'm a plain villager |
    I'm one of the villagers | I'm simply a villager | I'm just another villager
doctor: I'm the doctor | I am the doctor | my role is doctor | I'm your doctor
seer: I'm the seer | I am the seer | my role is seer | I'm your seer
looked: I investigated {x} | I investigated {x} last night | last night I investigated {x} | I checked {x} |
    I looked into {x}
guilty: {x} is a werewolf | {x} is one of the werewolves | {x} is a wolf | {x} is guilty | {x} is one of the wolves
clean: {x} is innocent | {x} is not a werewolf | {x} is clean | {x} is a villager | {x} is no werewolf
vote: I'm voting for {x} | I vote for {x} | my vote goes to {x} | my vote is for {x} | I will vote for {x} |
    I'll vote for {x}
night: {dead} died last night | we lost {dead} last night | the wolves took {dead} | {dead} was killed in the night |
    {dead} is gone
talk: talk | speak up | hear from everyone | compare what we know | listen to each other
we: we | all of us | the village | we all
waste: would hand the game away | is what that player wants | would be a gift | ends the game for us
"""
) | {"and": JOINS}

# What a statement does. The key is the intent's name, or that name with the variant after a slash.
_MOVES = templates(
    """
accuse: <guilty> | <guilty> | I say it openly: <guilty> | I suspect {x} | {x} is lying to us |
    {x} is hiding something | {x} is suspicious to me | we should exile {x} | {x} has been deflecting all along |
    {x} is acting shifty | of everyone here {x} is the most suspicious | {x} talks like a werewolf |
    look how {x} moves, that is a wolf
doubt: I doubt {x} | I don't believe {x} | I don't trust {x} | what {x} says doesn't add up | {x} is stalling |
    the story of {x} doesn't fit | I don't buy what {x} says | {x} is avoiding the question |
    a werewolf would say just what {x} said, I don't believe {x} |
    a villager would talk differently than {x}, I doubt {x}
defend: <clean> | <clean> | I trust {x} | I believe {x} | {x} sounds genuine to me | what {x} says makes sense |
    I would not exile {x}, I trust {x} | I vouch for {x} | {x} has been honest with us | I side with {x}
deny: I'm not a werewolf | I am not a wolf | I'm innocent | I did not kill anybody |
    you have the wrong person, I'm not a werewolf | {x} has it wrong about me | what {x} says about me is false |
    you would exile the wrong one with me | I had nothing to do with last night |
    those votes against me help the wolves
claim_villager: <villager> | <villager>, I know as much as you do | <villager> without any secret |
    <villager>, and I want the village to win | <villager>, neither doctor nor wolf |
    <villager>, so I can only go by what is said here
claim_doctor: <doctor> | <doctor>, keep me alive | <doctor>, and I hoped not to say it |
    <doctor>, exile me and nobody is protected | <doctor>, I chose with care last night
claim_seer: <seer> | <seer>, hear me out | <seer>, I will say more when the time is right
report/guilty: <seer><and><looked><and><guilty> | <seer>. <looked>: <guilty> | <looked>, I'm the seer, <guilty> |
    as the seer I can tell you what I found: <looked>, and <guilty>
report/clean: <seer><and><looked><and><clean> | <seer>. <looked>: <clean> |
    as the seer I can say it: <looked>, and <clean>
question: {x}, what is your role? | {x}, where do you stand? | {x}, who do you think the werewolves are? |
    why so quiet, {x}? | {x}, who gets your vote? | {x}, what do you make of last night? |
    who do you think is the jester, {x}? | {x}, would you explain yourself? |
    does anybody have something on the wolves? | who would want {dead} dead?
agree: I agree with {x} | {x} is right, I agree with {x} | what {x} said makes sense | I'm with {x} |
    I stand with {x} | I agree with {x} about {y}, and I suspect {y} | I believe {x}, {y} is suspicious
vote_promise: <vote> | <vote> today | <vote>, join me | <vote> unless somebody changes my mind |
    when we vote, <vote> | <vote>, {x} is suspicious
observe/accused: {x} went after {y} | {x} was pointing at {y} | {x} put {y} on the spot |
    it was {x} who brought up {y} | {x} wants us to exile {y}
observe/quiet: {x} has been too quiet | {x} has hardly said a word | we have heard nothing from {x} |
    {x} has kept silent | {x} has told us nothing
observe/voted: {x} voted for {y} before | {x} put a vote on {y} | the vote of {x} went to {y} |
    it was {x} who voted for {y}
suspect_jester: {x} could be the jester, leave {x} here |
    that is what a jester does, {x}, and we will not fall for it | {x} wants to be voted out like a jester would |
    losing {x} today <waste>, think of the jester | I fear {x} is the jester and that exile <waste> |
    {x} is playing the jester with us
odd: if I were a werewolf I would have done the same | go on, vote for me and see what happens |
    I take it back, I forgot what I said before | exile me if you dare | I would not trust me either |
    I might have been out last night | it is funny how {dead} went, no matter who goes next |
    I have nothing to hide, or do I? | I'm a werewolf, would you believe that? |
    put your votes on me, I like the attention
appeal: believe me, I would never hurt this village | exile the wrong one and you will regret it |
    trust me on this, all of you | we are friends here, act like it | don't leave me alone with this |
    if you care about {dead}, listen to me | I beg you to listen before you vote |
    it hurts that anyone here could doubt me | all of you would regret trusting {x}
small_talk: <night>, let's <talk> | <night>, and <we> need to find the werewolves | good morning, <night> |
    <we> should <talk> before the vote | let's <talk>, the wolves are among us | mind the jester when <we> vote |
    the doctor has a hard job, let's <talk> | nobody should rush, let's <talk>
vote/suspect: <vote>, I suspect {x} | <vote>, because {x} is hiding something | <vote>: <guilty> |
    <vote>, what {x} says doesn't add up | <vote>, I don't trust {x} | <vote>, {x} is the most suspicious of us |
    <vote>, the wolves speak like {x}
vote/accuser: <vote>, {x} went after me without a reason | <vote>, since {x} points at me and I know better |
    <vote>, who attacks me like {x} helps the werewolves
vote/follow: <vote>, as {y} made the case | <vote>, and I agree with {y} | <vote>, I'm with {y} on this |
    <vote>, {y} is right about it
vote/found: <vote>, <seer> and <looked>: <guilty> | <vote>. <seer>, <looked>, <guilty>
vote/odd: <vote>, or vote for me, I like both | <vote>, no matter who goes | <vote>. I would not trust me either |
    <vote>, I take back what I said of others, I forgot what I said |
    <vote>, though if I were a werewolf I would say so too
"""
)

_ABOUT_SOMEBODY = frozenset({"accuse", "doubt", "defend", "observe/accused", "observe/quiet", "observe/voted"})
WORDS = Phrasebook(
    _MOVES, _PARTS, _ABOUT_SOMEBODY, _ABOUT_SOMEBODY | {"vote_promise", "report/guilty", "vote/suspect", "vote/found"}
)
