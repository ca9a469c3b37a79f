/* A replay by keys and by itself. The page holds the whole episode: a step asks nobody, and keeps up with a key
   that is held down. Without this script each step is a page of its own. */
(() => {
  "use strict";
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const STACKED = 3;

  const root = document.getElementById("replay");
  const moves = [...root.querySelectorAll(".moves li")];
  const pieces = new Map([...root.querySelectorAll(".board [data-cell]")].map((one) => [one.dataset.cell, one]));
  const buckets = [...root.querySelectorAll(".bucket")];
  const says = root.querySelector(".says");
  const list = root.querySelector(".moves");
  const button = root.querySelector("[data-run]");
  const places = new Map([...pieces].map(([cell, one]) => [cell, one.className.match(/x\d y\d/)[0]]));
  let step = Number(root.querySelector("[data-step]").textContent);
  let timer = null;
  let written = null;

  const counted = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
  const accepted = (move) => move.classList.contains("yes");

  function show(n) {
    step = Math.max(0, Math.min(n, moves.length));
    const last = moves[step - 1];
    const gone = new Map();
    moves.slice(0, step).forEach((move, i) => { if (accepted(move)) gone.set(move.dataset.cell, i + 1); });
    for (const [cell, one] of pieces) {
      const order = gone.get(cell);
      const refused = last && last.dataset.cell === cell && !accepted(last);
      one.className = `${order ? "ghost" : "piece"} ${places.get(cell)}${refused && !order ? " target no" : ""}`;
      one.querySelector(".order").textContent = order || "";
    }
    for (const bucket of buckets) {
      const hit = last && last.dataset.bucket === bucket.dataset.bucket;
      bucket.classList.toggle("target", Boolean(hit));
      bucket.classList.toggle("no", Boolean(hit && !accepted(last)));
      const held = moves.slice(0, step).filter((m) => accepted(m) && m.dataset.bucket === bucket.dataset.bucket);
      const tops = held.slice(-STACKED).map((m) => pieces.get(m.dataset.cell).querySelector("svg").cloneNode(true));
      bucket.querySelector(".stack").replaceChildren(...tops);
    }
    tell(last);
    moves.forEach((move, i) => move.classList.toggle("now", i === step - 1));
    if (last) into(last);
    root.querySelector("[data-step]").textContent = step;
    for (const link of root.querySelectorAll("[data-go]")) {
      const forward = link.dataset.go === "forward";
      const off = step === (forward ? moves.length : 0);
      link.classList.toggle("off", off);
      link.ariaDisabled = String(off);
      link.href = address(Math.max(0, Math.min(step + (forward ? 1 : -1), moves.length)));
    }
    const label = `The board after ${counted(step, "attempt")}: ${counted(pieces.size - gone.size, "piece")} left.`;
    root.querySelector(".board").setAttribute("aria-label", label);
    remember();
  }

  function tell(last) {
    says.className = `says${last ? (accepted(last) ? " yes" : " no") : ""}`;
    says.querySelector("strong").textContent = last ? last.dataset.title : says.dataset.title;
    const end = step === moves.length ? ` ${says.dataset.end}` : "";
    says.querySelector("span").textContent = last ? last.dataset.words + end : says.dataset.intro;
  }

  function into(move) {
    const above = move.offsetTop;
    if (above < list.scrollTop || above > list.scrollTop + list.clientHeight - 40) list.scrollTop = above - 80;
  }

  function address(n) {
    const base = root.dataset.address;
    return n ? `${base}${base.includes("?") ? "&" : "?"}step=${n}` : base;
  }

  function remember() {
    /* Browsers let the address change so often, and no more. */
    clearTimeout(written);
    written = setTimeout(() => history.replaceState(null, "", address(step)), 250);
  }

  function stop() {
    clearTimeout(timer);
    timer = null;
    button.textContent = "Play";
  }

  function run() {
    const pace = calm.matches ? 1500 : 750;
    button.textContent = "Pause";
    const tick = () => {
      if (step === moves.length) { stop(); return; }
      show(step + 1);
      timer = setTimeout(tick, pace);
    };
    timer = setTimeout(tick, pace);
  }

  function go(n) {
    if (timer) stop();
    show(n);
  }

  function toggle() {
    if (timer) { stop(); return; }
    if (step === moves.length) show(0);
    run();
  }

  button.hidden = false;
  button.addEventListener("click", toggle);
  for (const link of root.querySelectorAll("[data-go]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      go(step + (link.dataset.go === "forward" ? 1 : -1));
    });
  }
  list.addEventListener("click", (event) => {
    const move = event.target.closest("a") && event.target.closest("li");
    if (!move || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(moves.indexOf(move) + 1);
  });

  for (const note of root.querySelectorAll(".keys")) note.hidden = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const on = {
      ArrowLeft: () => go(step - 1), ArrowRight: () => go(step + 1), Home: () => go(0), End: () => go(moves.length),
      " ": event.target.closest("a, button") ? null : toggle,
    }[event.key];
    if (on) {
      event.preventDefault();
      on();
    }
  });
})();
