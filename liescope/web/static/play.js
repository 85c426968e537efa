// Comfort at a seat: what is typed is kept, a new question gets the focus, the newest line is in sight, time runs.
// The pages work without it.
"use strict";
(() => {
  const HERE_MS = 10000;
  const AT_ONCE_MS = 3000; // lines that follow each other faster came at once
  const DRAFT = `draft ${location.pathname}`;
  const one = (words) => document.querySelector(words);
  const form = () => one("#ask form");
  const tell = (words) => { const told = one("#told"); if (told) told.textContent = words; };
  const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 150;
  const toEnd = () => scrollTo(0, document.documentElement.scrollHeight);
  const toNew = () => { // the newest line, but none of those that came at once is passed over
    const end = document.documentElement.scrollHeight - innerHeight;
    const top = first?.isConnected ? first.getBoundingClientRect().top + scrollY - 8 : end;
    scrollTo(0, Math.min(top, end));
    if (top < end - 150 && one("#newer")) one("#newer").hidden = false;
  };
  let follow = false; // whether the newest line is to stay in sight
  let before, first = null, came = -Infinity; // the last line before what comes, the first that came, and when

  // Time
  function clock() {
    for (const shown of document.querySelectorAll("[data-left]")) {
      shown.ends ??= performance.now() + Number(shown.dataset.left) * 1000;
      const left = Math.max(Math.round((shown.ends - performance.now()) / 1000), 0);
      const time = left < 100 ? `${left} s` : `${Math.round(left / 60)} min`;
      const mine = shown.closest("form");
      shown.textContent = mine ? `${time} left` : left ? `at most ${time}` : "longer than usual";
      shown.classList.toggle("soon", Boolean(mine) && left <= 15);
      if (mine && left !== shown.said && (left === 30 || left === 10)) tell(`${left} seconds left`);
      shown.said = left;
    }
  }

  // Drafts
  function keep() {
    const asked = form();
    if (!asked) return;
    const fields = [...new FormData(asked)].filter(([name]) => name !== "form" && name !== "key");
    try { sessionStorage.setItem(DRAFT, JSON.stringify([asked.dataset.key, fields])); } catch { /* no storage */ }
    count();
  }
  function restore() {
    const asked = form();
    let kept = [];
    try { kept = JSON.parse(sessionStorage.getItem(DRAFT)) ?? []; } catch { /* no storage */ }
    if (!asked || kept[0] !== asked.dataset.key) return;
    for (const [name, value] of kept[1]) {
      for (const field of asked.querySelectorAll("input, textarea, select")) {
        if (field.name !== name) continue;
        if (field.type === "radio") field.checked = field.checked || field.value === value;
        else if (!field.value) field.value = value;
      }
    }
  }
  function count() {
    const words = one("#text"), shown = one(".count");
    if (words && shown) shown.textContent = words.value ? `, ${words.maxLength - words.value.length} left` : "";
  }

  // A new question
  function asked() {
    const now = form();
    document.title = (now ? "(your turn) " : "") + document.title.replace("(your turn) ", "");
    restore();
    count();
    clock();
    if (follow) toNew();
    if (!now) return;
    tell(`Your turn: ${one("#question").textContent}`);
    const busy = document.activeElement;
    if (busy && busy !== document.body && !busy.closest("#ask")) return;
    now.querySelector("textarea, [type=radio]:checked, [type=radio], button")?.focus({ preventScroll: true });
  }
  addEventListener("htmx:beforeSwap", (event) => {
    // more lines may come before those that came have settled: the last line before is that before all of them
    if (event.detail.target.id === "more" && before === undefined) before = event.detail.target.previousElementSibling;
    const there = one("#ask [name=have]"), come = event.detail.serverResponse.match(/name="have" value="([^"]*)"/);
    if (event.detail.target.id === "ask" && event.detail.xhr.status === 200 && come?.[1] === there?.value) {
      event.detail.shouldSwap = false;
    }
  });
  addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target?.id === "ask") { asked(); return; }
    const line = event.detail.elt?.tagName === "LI", now = performance.now();
    if (line) {
      if (now - came > AT_ONCE_MS) first = before ? before.nextElementSibling : one(".log").firstElementChild;
      came = now;
      before = undefined;
    }
    if (follow) toNew();
    else if (line && one("#newer")) one("#newer").hidden = false;
  });
  addEventListener("htmx:afterRequest", (event) => {
    const left = event.detail.xhr?.getResponseHeader("X-Left"), shown = one("#ask [data-left]");
    if (left && shown) { shown.dataset.left = left; shown.ends = undefined; clock(); }
    if (one("#lost")) one("#lost").hidden = Boolean(event.detail.xhr?.status);
  });
  addEventListener("scroll", () => {
    follow = atEnd();
    if (follow && one("#newer")) one("#newer").hidden = true;
  }, { passive: true });

  addEventListener("htmx:beforeRequest", (event) => { // what an answer brings may be here before the answer to it
    if (event.target !== form()) return;
    follow = true; // wherever this person was reading
    first = null;
    came = -Infinity;
  });
  addEventListener("answered", () => form()?.setAttribute("inert", "")); // until what comes next is here

  // Keys: digits choose a step, arrows go from button to button
  addEventListener("keydown", (event) => {
    const steps = event.target.closest?.(".steps");
    if (!steps || event.ctrlKey || event.altKey || event.metaKey) return;
    const all = [...steps.querySelectorAll("input, button")];
    const here = all.indexOf(event.target), go = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const digit = /^[0-9]$/.test(event.key) ? all[Number(event.key)] : undefined;
    if (digit) { digit.focus(); if (digit.type === "radio") digit.click(); }
    else if (go && all[here].type !== "radio") all[here + go]?.focus();
    else return;
    event.preventDefault();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.id === "text") form()?.requestSubmit();
  });

  // The connection
  const look = () => {
    if (!document.hidden) for (const name of ["#looking", "#asking"]) if (one(name)) htmx.trigger(name, "look");
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("online", look);

  // An open page may be alone; what somebody does on it says that they are there
  let shown = -Infinity; // when that was last said
  function here() {
    if (document.hidden || performance.now() - shown < HERE_MS || !one("#here")) return;
    shown = performance.now();
    htmx.trigger("#here", "here");
  }
  for (const sign of ["pointerdown", "keydown", "focus"]) addEventListener(sign, here, { passive: true });
  document.addEventListener("visibilitychange", here);

  addEventListener("input", keep);
  addEventListener("change", keep);
  addEventListener("click", (event) => { if (event.target.id === "newer") { event.target.hidden = true; toEnd(); } });
  setInterval(clock, 500);
  history.scrollRestoration = "manual";
  addEventListener("DOMContentLoaded", () => {
    const end = one("#end");
    const begun = one("#role details")?.open === false; // before that, role and rules come first
    if (end) { end.scrollIntoView({ block: "center" }); end.focus({ preventScroll: true }); }
    else if (begun) toEnd();
    follow = begun && atEnd();
    if (!end) asked();
  });
})();
