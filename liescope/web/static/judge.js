// Keys for judges: 1 and 2 answer, and put the focus where arrows say how sure; Enter sends. All of it works without.
"use strict";
const form = document.querySelector(".judge-form form");
if (form && form.elements.flag) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const chosen = { "1": "honest", "2": "deceptive" }[event.key];
    if (chosen) {
      form.elements.flag.value = chosen;
      const sure = [...form.elements.sure];
      (sure.find((choice) => choice.checked) || sure[0]).focus();
      event.preventDefault();
    }
  });
}
