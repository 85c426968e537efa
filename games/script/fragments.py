"""The fragments that can surround the core of a statement; how firm each sounds is read from its words."""

from __future__ import annotations

from liescope.games.script.draws import templates

# frames: before a core that is a plain assertion; reasons: about {x}, for a statement about another player
FRAGMENTS = templates(
    """
frames: I'm certain that | it's clearly so that | I know for a fact that | there's no doubt that |
    I'm convinced that | I'm confident that | I'm positive that | the evidence says | the facts say that |
    it follows that | it's plain to see that | it is definitely true that | mark my words, | I think | I guess |
    maybe | perhaps | I'm not certain, but | I suppose | if I had to guess, | I might be off, and yet |
    it's a feeling that | possibly | somehow | probably | I have a hunch that | I say | to me | the way I see it, |
    my view is that | as I see it, | for what it's worth, | in short, | I would say | what I can tell you is that |
    here is my read:
openers: Facts first. | A straight answer from me. | Step by step, everyone. | For the record, this is specific. |
    I say this with no hesitation. | Absolutely no games from me. | I stand by what I say. | Certainly. |
    Let me lay out the logic. | This is on the record now. | Definitely time to speak. | Um, hello. | Hmm, well. |
    Uh, so. | I'm not sure how to put this. | I don't know, friends. | Maybe this helps. | Who knows, really. |
    It's hard to say anything. | I'm lost, to be frank. | I'm a bit confused. | Well. | Listen. | Listen, everyone. |
    All right. | Okay. | Look. | Hear me out. | Right. | So far so good. | Let's see. | Morning, all. | My turn. |
    Fine.
reasons: I say {x} because the story has no other end. | With {x} it is the only explanation. |
    The evidence on {x} is there for all. | I have been consistent about {x}. | My view of {x} is solid. |
    On {x} the facts speak. | I can be specific about {x} when asked. | About {x} I'm sure of it. |
    The logic leads to {x}. | Ask me about {x}, I will answer exactly. | I could be wrong about {x}. |
    It's only a hunch about {x}. | I'm unsure about {x}, it was only the tone. | I have no proof about {x}. |
    I might change my mind on {x}. | Don't quote me on {x}. | I swear it about {x}. | I'm kind of torn on {x}. |
    It is sort of about how {x} spoke. | On {x} I have no idea what else to add. | That is where I am on {x}. |
    Keep that in mind about {x}. | You have all heard {x}. | Think about what {x} gains. |
    Compare that with what {x} told us. | We can talk about {x} some more. | Remember {x} when we vote.
remarks: My account is consistent from start to end. | Go through it step by step and you get there. |
    The evidence is there. | Nothing I said is vague, it is specific. | I say it because it is so. |
    That is a solid account. | It is undeniable. | You can check it, it is exactly as I say. | The logic holds. |
    I stand by every word. | The proof will come out tonight. | I could be wrong. | It is just a feeling. |
    I have no proof, of course. | I don't know what else to say. | I swear. | It's hard to say more. |
    I'm not sure it matters. | Maybe I missed something. | Perhaps that is nothing. | I guess we will see. |
    That's how I see it. | We have one vote. | Make of that what you will. | Take it as you like. |
    Now you know where I stand. | Let's use the time we have. | That is all from me. |
    I would like to hear the others. | We owe it to {dead}. | Think it over.
closers: I'm confident in that. | No doubt in my mind. | On that I'm certain. | Definitely. | That's on the record. |
    Absolutely. | Facts, not feelings: the facts. | That is my straight answer. | I'm convinced. | I think. |
    Or something. | I suppose. | If I had to guess, anyway. | I'm lost otherwise. | Who knows. | Not sure. |
    Um, yes. | Probably. | I guess. | That's it. | Your turn. | Over to you. | There it is. | Let's vote well. |
    Enough said. | So it goes.
"""
)
FRAMES = tuple(f"{frame} " for frame in FRAGMENTS["frames"])
OPENERS, REASONS, REMARKS, CLOSERS = (FRAGMENTS[slot] for slot in ("openers", "reasons", "remarks", "closers"))
