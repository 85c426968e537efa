"""Other methods on the same counts, independent of the capability model, and where they order models differently.

Ratings (Bradley-Terry, Nash averaging), and the paper's second method: results against fixed backgrounds. A background
is one model in the two other roles. In each background a model's win rate is compared with those of the other models,
and the comparisons are averaged (Mini-Mafia paper, Appendix B, Eq. 9 to 14).
"""
