"""Why groups matter: a detector that recognises speakers looks as if it found lies.

Run: python examples/groups.py [FOLDER]

Forty speakers with a habit of their own either always lie or never do; no word has to do with lying. If rows of one
speaker are in both train and test, the habit gives the label away. With `groups=` it does not.
"""

import sys
from pathlib import Path
from random import Random

from sklearn.model_selection import GroupKFold, KFold, cross_val_score

import liescope
from liescope.detectors import LieDetector

out = Path(sys.argv[1] if sys.argv[1:] else "out")
random = Random(0)
words = ["door", "train", "letter", "garden", "phone", "money", "friend", "night", "car", "kitchen", "office", "dog"]
texts, labels, speakers = list[str](), list[bool](), list[str]()
for number in range(40):
    lies = number % 2 == 0
    for _ in range(6):
        texts.append(f"{' '.join(random.sample(words, 5))}, habit{number} you see")
        labels.append(lies)
        speakers.append(f"speaker {number}")

for name, groups in (("each row on its own", None), ("rows of a speaker together", speakers)):
    trained = liescope.train("tfidf", texts, labels, groups=groups, out=out / "models" / name.replace(" ", "-"))
    (auroc,) = trained.metrics.filter(metric="auroc", where="train")["value"]  # out of fold
    print(f"{name}: AUROC {auroc:.2f}")

# The same by scikit-learn, of which LieDetector is a classifier.
for name, folds in (("KFold", KFold(4, shuffle=True, random_state=0)), ("GroupKFold", GroupKFold(4))):
    aurocs = cross_val_score(LieDetector("tfidf"), texts, labels, groups=speakers, cv=folds, scoring="roc_auc")
    print(f"{name}: AUROC {aurocs.mean():.2f}")
