"""How many mutated inputs each reader gets."""

INPUTS = {
    "runs": 100,
    "corpora": 120,
    "models": 150,
    "logs": 500,
    "databases": 100,
    "packed logs": 60,
    "quack": 150,
    "avalon": 150,
    "config files": 60,
    "specs": 300,
    "options": 300,
    "replies": 700,
}
PROMISED = 2000
