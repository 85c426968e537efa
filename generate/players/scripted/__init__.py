"""Rule-based players with planted skills and no network access: `scripted:novice`, `scripted:bold?m=1.5`."""

from liescope.generate.players.scripted.player import ScriptedPlayer, open_scripted
from liescope.generate.players.scripted.skills import PROFILES, Skills

__all__ = ["PROFILES", "ScriptedPlayer", "Skills", "open_scripted"]
