"""Mafia and Mini-Mafia, for the dataset card."""

MAFIA = (
    "One or more mafiosos, one or more detectives, and villagers, all with hidden roles. The mafiosos try to get the "
    "others voted out or killed; detectives learn roles at night, and whoever gets the most votes by day is arrested."
)
MINI_MAFIA = (
    "Four players: a mafioso, a detective who knows the mafioso, and two villagers, one of whom dies before the only "
    "day. After two rounds of talk one vote decides who wins."
)
