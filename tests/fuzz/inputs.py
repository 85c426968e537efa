"""How many mutated inputs each reader gets."""

INPUTS = {
    "runs": 200,
    "corpora": 250,
    "models": 250,
    "logs": 500,
    "databases": 100,
    "packed logs": 60,
    "quack": 150,
    "avalon": 150,
    "config files": 60,
    "specs": 200,
    "options": 200,
    "replies": 400,
}
PROMISED = 2000
