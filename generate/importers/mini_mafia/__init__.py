"""The logs of the Mini-Mafia paper's authors."""
