"use strict";
// Keys to step through a game, links that copy themselves, and notes that close.
const NEXT = new Set(["ArrowRight", "ArrowDown", "j"]), BACK = new Set(["ArrowLeft", "ArrowUp", "k"]);

const say = (words) => {
  const place = document.getElementById("said");
  if (place) place.textContent = words;
};

function reveal(to) {
  for (let fold = to?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}

function step(event, by) {
  const steps = [...document.querySelectorAll(".step:not([hidden])")];
  if (!steps.length) return;
  const focused = document.activeElement?.closest(".step");
  let at = steps.indexOf(focused);
  if (at >= 0 && event.key.startsWith("Arrow")) {
    const box = focused.getBoundingClientRect(); // what does not fit on the screen is first scrolled through
    if (event.key === "ArrowDown" && box.bottom > innerHeight + 1) return;
    if (event.key === "ArrowUp" && box.top < -1) return;
  }
  if (at < 0) {
    const below = steps.findIndex((one) => one.getBoundingClientRect().bottom > 0);
    at = by > 0 ? (below < 0 ? steps.length : below) - 1 : below < 0 ? steps.length : below + 1;
  }
  const to = steps[Math.min(Math.max(at + by, 0), steps.length - 1)];
  event.preventDefault();
  reveal(to);
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: "nearest" });
  if (to.getBoundingClientRect().top < 0) to.scrollIntoView({ block: "start" });
  document.dispatchEvent(new CustomEvent("stepped", { detail: to.id }));
}

document.addEventListener("stepped", (event) => {
  history.replaceState(null, "", `#${document.body.dataset.at ?? ""}${event.detail}`);
});

function closeNotes() {
  if (document.activeElement?.closest(".claimed")) document.activeElement.blur();
  for (const one of document.querySelectorAll(".claimed:hover")) {
    one.classList.add("closed");
    one.addEventListener("mouseleave", () => one.classList.remove("closed"), { once: true });
  }
}

document.addEventListener("keydown", (event) => {
  const help = document.getElementById("help"), where = event.target instanceof Element ? event.target : document.body;
  if (event.ctrlKey || event.metaKey || event.altKey || help?.open) return;
  if (where.closest("input, select, textarea, button, summary")) return;
  if (event.key === "Escape") closeNotes();
  else if (event.key === "?") help?.showModal();
  else if (event.key.startsWith("Arrow") && where.closest(".scroll, pre")) return;
  else if (NEXT.has(event.key)) step(event, 1);
  else if (BACK.has(event.key)) step(event, -1);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-copy]");
  if (event.target.closest?.("[data-help]")) document.getElementById("help")?.showModal();
  if (!link) return;
  navigator.clipboard?.writeText(link.href).then(() => say("Link copied"), () => say("The address bar now holds the link"));
});

const revealed = () => reveal(document.getElementById(location.hash.slice(1)));
addEventListener("hashchange", revealed);
revealed();

const ready = () => document.querySelectorAll("[data-help]").forEach((button) => (button.hidden = false));
document.addEventListener("shown", ready);
ready();
