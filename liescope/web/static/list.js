// Keys of the lists: j and k walk through the entries, n and p turn the page, / goes to the search, Esc leaves a field.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = event.target.closest("input, select, textarea");
  if (field) {
    if (event.key === "Escape") field.blur();
    return;
  }
  const links = [...document.querySelectorAll("#list tbody th a")];
  const at = links.indexOf(document.activeElement);
  const to = {
    j: links[Math.min(at + 1, links.length - 1)],
    k: links[Math.max(at - 1, 0)],
    "/": document.getElementById("words"),
  }[event.key];
  const turn = { n: "next", p: "prev" }[event.key];
  if (to) to.focus();
  else if (turn) document.querySelector(`.pages a[rel="${turn}"]`)?.click();
  else return;
  event.preventDefault();
});
