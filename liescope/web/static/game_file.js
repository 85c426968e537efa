"use strict";
// Games in one file: unpacked as they are asked for, and looked at through the eyes of one seat.
{
  const place = document.getElementById("shown"), many = Number(document.body.dataset.file) > 1;
  const list = document.getElementById("list"), between = document.getElementById("between");
  let open = 0;

  async function unpacked(number) {
    const packed = atob(document.getElementById(`packed-${number}`).textContent.trim());
    const bytes = new Blob([Uint8Array.from(packed, (letter) => letter.charCodeAt(0))]);
    return new Response(bytes.stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  async function show(number) {
    if (number === open) return;
    open = number;
    place.innerHTML = number ? await unpacked(number) : "";
    for (const link of place.querySelectorAll("a[href^='#']")) link.setAttribute("href", `#g${number}/${link.hash.slice(1)}`);
    list.hidden = Boolean(number);
    between.hidden = !number;
    const last = Number(document.body.dataset.file);
    for (const [id, to] of [["before", number - 1], ["after", number + 1]]) {
      const link = document.getElementById(id);
      link.hidden = to < 1 || to > last;
      link.setAttribute("href", `#g${to}`);
    }
    document.body.dataset.at = `g${number}/`;
    document.dispatchEvent(new Event("shown"));
  }

  async function go() {
    const [, number, id] = /^#g(\d+)(?:\/(.*))?$/.exec(location.hash) ?? [];
    if (many) await show(document.getElementById(`packed-${number}`) ? Number(number) : 0);
    const to = document.getElementById(many ? id || (open ? "top" : "main") : location.hash.slice(1));
    if (!to || (many && !open)) return;
    reveal(to);
    to.scrollIntoView();
    to.focus({ preventScroll: true });
  }

  function look(game, eyes, labels) {
    const hidden = (one) => eyes !== null && !(eyes >= 0 && one.dataset.saw.split(" ").includes(String(eyes)));
    for (const one of game.querySelectorAll("[data-saw]")) one.toggleAttribute("hidden", hidden(one));
    for (const part of game.querySelectorAll(".phase, details.ratings")) {
      const inside = [...part.querySelectorAll(".step, tbody tr, figure")];
      part.hidden = inside.length > 0 && inside.every((one) => one.hidden);
    }
    for (const row of game.querySelectorAll(".seats tbody tr")) row.classList.toggle("own", row.id === `seat${eyes}`);
    game.classList.toggle("without-labels", !labels);
    game.classList.toggle("blind", eyes !== null && !labels);
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(".eyes a"), game = link?.closest(".game");
    if (!link) return;
    event.preventDefault();
    const before = game.querySelector("a[data-place][aria-current]");
    const eyes = link.dataset.place === undefined ? before : link;
    const labels = link.dataset.labels ? link.dataset.labels === "on" : link.dataset.place === "";
    for (const one of game.querySelectorAll(".eyes a")) one.removeAttribute("aria-current");
    eyes?.setAttribute("aria-current", "true"); // a conversation has no seats
    game.querySelector(`a[data-labels=${labels ? "on" : "off"}]`).setAttribute("aria-current", "true");
    look(game, eyes?.dataset.place ? Number(eyes.dataset.place) : null, labels);
  });

  document.getElementById("filter")?.addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase(), rows = [...list.querySelectorAll("tbody tr")];
    for (const row of rows) row.hidden = !`${row.textContent} ${row.dataset.words}`.toLowerCase().includes(words);
    document.getElementById("count").textContent = words ? `${rows.filter((row) => !row.hidden).length} found` : "";
  });

  list?.addEventListener("click", (event) => {
    const button = event.target.closest("[data-sort]");
    if (!button) return;
    const head = button.closest("th"), down = head.getAttribute("aria-sort") !== "descending";
    for (const one of list.querySelectorAll("th[aria-sort]")) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => row.cells[button.dataset.sort].textContent, body = list.querySelector("tbody");
    const order = (one, other) => value(one).localeCompare(value(other), "en", { numeric: true });
    body.append(...[...body.rows].sort((one, other) => (down ? -1 : 1) * order(one, other)));
  });

  addEventListener("hashchange", go);
  go();
}
