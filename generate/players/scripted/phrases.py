"""The words of the scripted players: templates by move, and the fragments that can stand around them.

<symbol> stands for one of that symbol's templates, {x} and {y} for players, {dead} for last night's victim. Every
move is open to every role: who lies differs from who tells the truth in what is true, not in what can be said. How
firm a fragment sounds is not written here; it is read from its words, as a listener does.
"""

from __future__ import annotations

# Smaller parts
PARTS: dict[str, tuple[str, ...]] = {
    "iam": (
        "I'm the detective", "I am the detective", "I'm the detective here", "Detective here", "My role is detective",
        "I'm your detective", "I was dealt the detective", "I'm the detective in this game",
    ),
    "looked": (
        "I investigated {x}", "I investigated {x} last night", "last night I investigated {x}", "I did investigate {x}",
        "I checked {x}", "I checked {x} last night", "I looked into {x}", "I have investigated {x}",
    ),
    "guilty": (
        "{x} is the mafioso", "{x} is mafia", "{x} is our mafioso", "{x} is guilty", "{x} is the mafioso here",
    ),
    "clean": ("{x} is innocent", "{x} is not the mafioso", "{x} is clean", "{x} is a villager", "{x} is town"),
    "and": (" and ", "; ", ": ", ", and ", ". "),
    "villager": (
        "I'm just a villager", "I am just a villager", "I'm a villager", "I'm only a villager", "I'm simply a villager",
        "I'm a plain villager", "I'm one of the villagers", "I'm just another villager",
    ),
    "vote": (
        "I'm voting for {x}", "I am voting for {x}", "I will vote for {x}", "I'll vote for {x}", "my vote goes to {x}",
        "my vote is for {x}", "I vote for {x} today", "I'm going to vote for {x}",
    ),
    "night": (
        "{dead} died last night", "we lost {dead} last night", "{dead} was killed in the night", "{dead} is dead",
        "somebody here killed {dead}", "the mafia took {dead}", "{dead} is gone",
    ),
    "talk": ("talk", "speak up", "hear from everyone", "compare what we know", "listen to each other", "go around once"),
    "we": ("we", "all of us", "the town", "we all"),
}  # fmt: skip

# What a statement does. The key is the intent's name, or that name with the variant after a slash.
MOVES: dict[str, tuple[str, ...]] = {
    "report_investigation/guilty": (
        "<iam><and><looked><and><guilty>", "<iam>. <looked>: <guilty>", "<looked><and><guilty>",
        "<iam>, and my investigation of {x} came back mafioso: <guilty>", "<looked>, I'm the detective, <guilty>",
        "as the detective I can tell you what I found: <looked>, and <guilty>", "<iam>. <guilty>, <looked>",
    ),
    "report_investigation/clean": (
        "<iam><and><looked><and><clean>", "<iam>. <looked>: <clean>", "<looked><and><clean>",
        "<looked>, I'm the detective, <clean>", "as the detective I can say it: <looked>, and <clean>",
    ),
    "claim_detective": (
        "<iam>", "<iam>, and I would like you to hear me out", "<iam>, I will say more when the time is right",
        "<iam>, whatever anyone else says", "<iam><and>I'm watching {x}", "<iam>, there is only one of us",
    ),
    "claim_villager": (
        "<villager>", "<villager> trying to find the mafioso", "<villager>, I know as much as you do",
        "<villager>, I have not investigated anybody", "<villager> without any secret", "<villager>, not the detective",
        "<villager>, I have nothing to report", "<villager>, and I want the town to win", "my role is villager",
        "<villager>, as ordinary as they come", "<villager>, so I can only go by what is said here",
    ),
    "accuse": (
        "<guilty>", "{x} is the one who killed {dead}", "{x} is lying to us", "I suspect {x}", "{x} is suspicious to me",
        "{x} is hiding something", "{x} has been deflecting all along", "{x} is the mafioso we are looking for",
        "{x} is our best suspect", "we should arrest {x}", "{x} is acting shifty", "{x} is not telling us everything, {x} is hiding a role",
        "of everyone here {x} is the most suspicious", "the mafioso is right here and {x} is guilty",
    ),
    "doubt": (
        "I doubt {x}", "I don't believe {x}", "I don't trust {x}", "what {x} says doesn't add up", "I can't trust {x}",
        "{x} claims a lot and shows little, I doubt {x}", "if {x} really investigated anybody, the story doesn't fit",
        "{x} is stalling", "the story of {x} doesn't fit", "anyone can claim to be the detective, and I doubt {x}",
        "I don't buy what {x} says", "{x} is avoiding the question", "a real detective would talk differently than {x}, I doubt {x}",
        "a mafioso would say just what {x} said, I don't believe {x}",
    ),
    "defend": (
        "<clean>", "I trust {x}", "I believe {x}", "{x} sounds genuine to me", "what {x} says makes sense",
        "I would not arrest {x}, I trust {x}", "{x} is on our side", "I side with {x}", "I vouch for {x}",
        "{x} has been honest with us",
    ),
    "deny": (
        "I'm not the mafioso", "I am not the mafioso", "it wasn't me", "I did not kill {dead}", "I'm innocent",
        "you have the wrong person, I'm not the mafioso", "{x} has it wrong about me", "what {x} says about me is false",
        "I had nothing to do with last night", "nobody investigated me and found a mafioso", "you would arrest the wrong one with me",
        "I'm not mafia, and {x} knows it",
    ),
    "question": (
        "{x}, what is your role?", "{x}, did you investigate anybody?", "{x}, who do you think the mafioso is?",
        "why so quiet, {x}?", "{x}, where do you stand?", "has the detective investigated anyone?", "who is the detective?",
        "{x}, who gets your vote?", "{x}, what do you make of last night?", "can the detective tell us who was investigated?",
        "{x}, are you a villager?", "does anybody have a result for us?", "{x}, would you explain yourself?",
        "who would want {dead} dead?", "should the detective come forward now?", "{x}, what did you see?",
    ),
    "agree": (
        "I agree with {x}", "I agree with {x} on this", "{x} is right, I agree with {x}", "what {x} said makes sense",
        "I'm with {x}", "I stand with {x}", "{x} took the words out of my mouth, I agree with {x}",
        "I agree with {x} about {y}, and I suspect {y}", "I believe {x}, {y} is suspicious", "{x} makes sense, I'd look at {y}",
    ),
    "vote_promise": (
        "<vote>", "<vote> today", "<vote>, join me", "<vote><and>I hope you do too", "<vote> unless somebody changes my mind",
        "when we vote, <vote>", "<vote>, {x} is suspicious", "<vote> and so should the detective", "<vote>, nobody else fits",
    ),
    "observe/accused": (
        "{x} went after {y}", "{x} was pointing at {y}", "{x} accused {y} of being the mafioso",
        "{x} put {y} on the spot", "it was {x} who brought up {y}", "{x} wants us to arrest {y}",
    ),
    "observe/quiet": (
        "{x} has been too quiet", "{x} has hardly said a word", "we have heard nothing from {x}", "{x} is too quiet for me",
        "{x} has kept silent", "{x} has told us nothing",
    ),
    "observe/claimed": (
        "{x} says they are the detective", "{x} claims to have investigated", "{x} told us a role, detective",
        "{x} was the one to claim detective", "{x} spoke of an investigation", "{x} came out as the detective",
    ),
    "observe/turned": (
        "{x} changed their story", "{x} changed tune", "{x} said one thing and then another", "{x} has changed story since",
        "first {x} said one role and then another", "{x} is not telling the same story twice",
    ),
    "appeal": (
        "believe me, I would never hurt this town", "arrest me and you will regret it", "trust me on this, all of you",
        "don't let me down now", "we are friends here, act like it", "think how you will feel if the detective dies",
        "don't leave me alone with this", "if you care about {dead}, listen to me", "do it for {dead}",
        "I beg you to listen before you vote", "it would be a shame to lose to the mafioso like this",
        "it hurts that anyone here could doubt me", "all of you would regret trusting {x}",
    ),
    "small_talk": (
        "<night>, and the mafioso is one of us", "<night>, let's <talk>", "<night>. Let's <talk>", "good morning, <night>",
        "let's <talk> before anyone is arrested", "it is early, let's <talk>", "<we> should <talk> before the vote",
        "the detective may have something to say, let's <talk>", "let's <talk>, <we> have one vote today",
        "<night>, and <we> need to find the mafioso", "<we> need the detective to have investigated well",
        "a villager, a detective, a mafioso: <we> have to sort that out", "nobody should rush, let's <talk>",
    ),
}  # fmt: skip

# Words before a core that is a plain assertion.
FRAMES = (
    "I'm certain that ", "it's clearly so that ", "I know for a fact that ", "there's no doubt that ",
    "I'm convinced that ", "I'm confident that ", "I'm positive that ", "the evidence says ", "the facts say that ",
    "it follows that ", "it's plain to see that ", "it is definitely true that ", "mark my words, ",
    "I think ", "I guess ", "maybe ", "perhaps ", "I'm not certain, but ", "I suppose ", "if I had to guess, ",
    "I might be off, and yet ", "it's a feeling that ", "possibly ", "somehow ", "probably ", "I have a hunch that ",
    "I say ", "to me ", "the way I see it, ", "my view is that ", "as I see it, ", "for what it's worth, ", "in short, ",
    "I would say ", "what I can tell you is that ", "here is my read: ",
)  # fmt: skip

OPENERS = (
    "Facts first.", "A straight answer from me.", "Step by step, everyone.", "For the record, this is specific.",
    "I say this with no hesitation.", "Absolutely no games from me.", "I stand by what I say.", "Certainly.",
    "Let me lay out the logic.", "This is on the record now.", "Definitely time to speak.",
    "Um, hello.", "Hmm, well.", "Uh, so.", "I'm not sure how to put this.", "I don't know, friends.",
    "Maybe this helps.", "Who knows, really.", "It's hard to say anything.", "I'm lost, to be frank.", "I'm a bit confused.",
    "Well.", "Listen.", "Everyone,", "All right.", "Okay.", "Look.", "Hear me out.", "Right.", "So far so good.",
    "Let's see.", "Morning, all.", "My turn.", "Fine.",
)  # fmt: skip

# Reasons about {x}, for a statement that is about somebody.
REASONS = (
    "I say {x} because the story has no other end.", "With {x} it is the only explanation.", "The evidence on {x} is there for all.",
    "I have been consistent about {x}.", "My view of {x} is solid.", "On {x} the facts speak.", "I can be specific about {x} when asked.",
    "About {x} I'm sure of it.", "The logic leads to {x}.", "Ask me about {x}, I will answer exactly.",
    "I could be wrong about {x}.", "It's only a hunch about {x}.", "I'm unsure about {x}, it was only the tone.",
    "I have no proof about {x}.", "I might change my mind on {x}.", "Don't quote me on {x}.", "I swear it about {x}.",
    "I'm kind of torn on {x}.", "It is sort of about how {x} spoke.", "On {x} I have no idea what else to add.",
    "That is where I am on {x}.", "Keep that in mind about {x}.", "You have all heard {x}.", "Think about what {x} gains.",
    "Compare that with what {x} told us.", "We can talk about {x} some more.", "Remember {x} when we vote.",
)  # fmt: skip

REMARKS = (
    "My account is consistent from start to end.", "Go through it step by step and you get there.", "The evidence is there.",
    "Nothing I said is vague, it is specific.", "I say it because it is so.", "That is a solid account.", "It is undeniable.",
    "You can check it, it is exactly as I say.", "The logic holds.", "I stand by every word.", "The proof will come out tonight.",
    "I could be wrong.", "It is just a feeling.", "I have no proof, of course.", "I don't know what else to say.", "I swear.",
    "It's hard to say more.", "I'm not sure it matters.", "Maybe I missed something.", "Perhaps that is nothing.", "I guess we will see.",
    "That's how I see it.", "We have one vote.", "Make of that what you will.", "Take it as you like.", "Now you know where I stand.",
    "Let's use the time we have.", "That is all from me.", "I would like to hear the others.", "We owe it to {dead}.", "Think it over.",
)  # fmt: skip

CLOSERS = (
    "I'm confident in that.", "No doubt in my mind.", "On that I'm certain.", "Definitely.", "That's on the record.",
    "Absolutely.", "Facts, not feelings: the facts.", "That is my straight answer.", "I'm convinced.",
    "I think.", "Or something.", "I suppose.", "If I had to guess, anyway.", "I'm lost otherwise.", "Who knows.",
    "Not sure.", "Um, yes.", "Probably.", "I guess.",
    "That's it.", "Your turn.", "Over to you.", "There it is.", "Let's vote well.", "Enough said.", "So it goes.",
)  # fmt: skip

FRAMED = frozenset(
    {"accuse", "doubt", "defend", "observe/accused", "observe/quiet", "observe/claimed", "observe/turned"}
)
ABOUT_OTHERS = FRAMED | {"vote_promise", "report_investigation/guilty"}
