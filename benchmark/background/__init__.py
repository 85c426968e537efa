"""The paper's second method, independent of the capability model: a model's results against fixed backgrounds.

A background is one model in the two other roles. In each background a model's win rate is compared with those of the
other models, and the comparisons are averaged (Mini-Mafia paper, Appendix B, Eq. 9 to 14).
"""
