"""One-night werewolf, for the dataset card."""

ONE_NIGHT = (
    "Werewolves, a seer and villagers, with some cards in the centre. At night the werewolves learn of each other "
    "and the seer looks at a card; then the players talk in rounds and vote once. The villagers win if a werewolf is "
    "exiled."
)
