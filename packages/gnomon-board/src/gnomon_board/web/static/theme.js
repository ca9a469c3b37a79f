/* Light or dark: as the system has it, or as the reader chose. Runs before the page is drawn. */
(() => {
  "use strict";
  const root = document.documentElement;
  const themes = ["auto", "light", "dark"];
  const read = () => {
    try { return localStorage.getItem("theme") || "auto"; } catch { return "auto"; }
  };
  const show = (theme) => {
    if (theme === "auto") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
  };
  root.classList.add("js");
  show(read());
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector(".theme");
    if (!button) return;
    const label = () => {
      const text = button.dataset[read()];
      button.setAttribute("aria-label", text);
      button.title = text;
    };
    button.hidden = false;
    label();
    button.addEventListener("click", () => {
      const next = themes[(themes.indexOf(read()) + 1) % themes.length];
      try { localStorage.setItem("theme", next); } catch { /* the choice lasts for this page */ }
      show(next);
      label();
    });
  });
})();
