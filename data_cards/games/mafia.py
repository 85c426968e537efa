"""Mafia and Mini-Mafia, for the dataset card."""

MAFIA = (
    "One mafioso or more, a detective or more and villagers, whose roles are hidden. The mafiosos want the others "
    "voted out or dead; the detective learns roles at night, and whoever gets the most votes by day is arrested."
)
MINI_MAFIA = (
    "Four players: a mafioso, a detective who knows the mafioso, and two villagers, one of whom dies before the only "
    "day. After two rounds of talk one vote decides who wins."
)
