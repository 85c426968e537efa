// Links of seats are copied by a button. Without this, they can be selected and copied by hand.
"use strict";
(() => {
  const show = () => { for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false; };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const field = document.getElementById(button.dataset.copy);
    field.select();
    try { await navigator.clipboard.writeText(field.value); } catch { document.execCommand("copy"); }
    button.textContent = "Copied";
  });
  // What somebody is using stays: a game is looked at anew when they have done.
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.id === "tables" && event.target.contains(document.activeElement)) event.preventDefault();
  });
  document.addEventListener("htmx:afterSettle", show);
  show();
})();
