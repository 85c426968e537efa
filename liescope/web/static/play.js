// Counts down the time that is left for an answer. The page is complete without it.
"use strict";
setInterval(() => {
  for (const shown of document.querySelectorAll(".left")) {
    const left = Math.max(Number(shown.dataset.left) - 1, 0);
    shown.dataset.left = left;
    shown.textContent = `${left} s`;
  }
}, 1000);
