/* A person at the board: drag and drop, or choose by keys and buttons. The server judges. */
(() => {
  "use strict";
  const game = document.getElementById("game");
  const board = document.getElementById("board");
  const says = document.getElementById("says");
  const moves = document.getElementById("moves");
  const memory = document.getElementById("memory");
  const letters = document.getElementById("letters");
  const nextForm = document.getElementById("next");
  const giveUp = document.getElementById("give-up");
  const result = document.getElementById("result");
  const address = game.dataset.address;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const COLORS = ["RED", "BLACK", "BLUE", "YELLOW", "GREEN", "ORANGE", "PURPLE", "PINK", "WHITE", "GRAY"];
  /** Blue and black begin alike: the codes of IEC 60757, which electricians use. */
  const LETTERS = { RED: "RD", BLACK: "BK", BLUE: "BU", YELLOW: "YE", GREEN: "GN", ORANGE: "OG", PURPLE: "PU", PINK: "PK", WHITE: "WH", GRAY: "GY" };
  const PLACES = [[0, 7, "top left"], [7, 7, "top right"], [7, 0, "bottom right"], [0, 0, "bottom left"]];
  const REPLIES = { accepted: "yes", denied: "no", immovable: "not now" };

  let view = JSON.parse(document.getElementById("view").textContent);
  let chosen = null;      // the cell of the piece that is chosen
  let current = null;     // the cell whose piece the tab key finds
  let busy = false;
  let drag = null;

  // -- drawing -------------------------------------------------------------------------------

  const element = (tag, className, attributes = {}) => {
    const made = document.createElement(tag);
    made.className = className;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const column = (cell) => (cell - 1) % 6 + 1;
  const row = (cell) => Math.floor((cell - 1) / 6) + 1;
  const spot = (cell) => `x${column(cell)} y${row(cell)}`;
  const words = (piece) => [piece.color, piece.shape].filter(Boolean).join(" ").toLowerCase() || "empty cell";
  const picture = (piece, className = "") => {
    const template = document.getElementById("shape-" + piece.shape) || document.getElementById("shape-OTHER");
    const svg = template.content.firstElementChild.cloneNode(true);
    if (className) svg.setAttribute("class", className);
    const color = COLORS.includes(piece.color) ? piece.color : "OTHER";
    svg.querySelector(".shape").setAttribute("class", "shape c-" + color);
    svg.querySelector(".letter").textContent = LETTERS[piece.color] || (piece.color || "?").slice(0, 2);
    return svg;
  };
  const remembers = () => memory !== null && memory.checked;

  function draw() {
    board.replaceChildren();
    board.classList.toggle("letters", letters.checked);
    for (let cell = 1; cell <= 36; cell++) board.append(element("div", "cell " + spot(cell)));
    if (remembers()) {
      for (const piece of view.removed) {
        const ghost = element("div", "ghost " + spot(piece.cell), { "aria-hidden": "true" });
        const order = element("span", "order");
        order.textContent = piece.order;
        ghost.append(picture(piece), order);
        board.append(ghost);
      }
    }
    const cells = view.pieces.map((piece) => piece.cell);
    if (!cells.includes(current)) current = cells.length ? cells[0] : null;
    for (const piece of view.pieces) board.append(pieceButton(piece));
    PLACES.forEach(([x, y, where], bucket) => board.append(bucketButton(bucket, x, y, where)));
    drawCounts();
    drawMoves();
  }

  function pieceButton(piece) {
    const button = element("button", "piece " + spot(piece.cell), {
      type: "button",
      "data-cell": piece.cell,
      "aria-pressed": String(piece.cell === chosen),
      "aria-label": `${words(piece)}, column ${column(piece.cell)}, row ${row(piece.cell)}`,
      tabindex: piece.cell === current ? "0" : "-1",
    });
    button.disabled = view.state !== "playing";
    button.append(picture(piece));
    return button;
  }

  function bucketButton(bucket, x, y, where) {
    const button = element("button", `bucket x${x} y${y}`, {
      type: "button",
      "data-bucket": bucket,
      "aria-label": `Bucket ${bucket}, ${where}`,
    });
    button.append(String(bucket));
    button.disabled = view.state !== "playing";
    if (remembers()) {
      const stack = element("span", "stack", { "aria-hidden": "true" });
      for (const piece of view.removed.filter((one) => one.bucket === bucket).slice(-3)) stack.append(picture(piece));
      button.append(stack);
    }
    return button;
  }

  function drawCounts() {
    const of = element("span", "small");
    of.textContent = ` of ${view.episodes}`;
    document.getElementById("count-board").replaceChildren(String(view.episode), of);
    document.getElementById("count-moves").textContent = view.moves;
    document.getElementById("count-errors").textContent = view.errors;
    document.getElementById("count-streak").textContent = view.streak;
    nextForm.hidden = view.state !== "board over";
    giveUp.hidden = view.state === "ended";
    giveUp.open = false;
    result.hidden = view.state !== "ended";
  }

  function drawMoves() {
    if (!moves) return;
    document.getElementById("memory-list").hidden = !remembers();
    document.getElementById("no-moves").hidden = view.attempts.length > 0;
    moves.replaceChildren(...[...view.attempts].reverse().map((attempt) => {
      const item = element("li", attempt.outcome === "accepted" ? "yes" : "");
      const number = element("span", "nr");
      number.textContent = attempt.number;
      const what = element("span", "");
      const arrow = element("span", "", { "aria-hidden": "true" });
      arrow.textContent = " → ";
      const to = element("span", "hidden-text");
      to.textContent = "to bucket ";
      what.append(words(attempt), arrow, to, String(attempt.bucket));
      const reply = element("span", "reply");
      reply.textContent = REPLIES[attempt.outcome] || "no";
      item.append(number, picture(attempt, "icon"), what, reply);
      return item;
    }));
  }

  function tell(text, kind = "", strong = "") {
    says.className = "says below " + kind;
    says.replaceChildren();
    if (strong) {
      const head = element("strong", "");
      head.textContent = strong;
      says.append(head);
    }
    says.append(text);
  }

  const pieceAt = (cell) => board.querySelector(`.piece[data-cell="${cell}"]`);
  const bucketAt = (bucket) => board.querySelector(`.bucket[data-bucket="${bucket}"]`);

  // -- the server ----------------------------------------------------------------------------

  async function ask(action, body = {}) {
    const answer = await fetch(`${address}/${action}.json`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRF-Token": game.dataset.csrf },
      body: JSON.stringify(body),
    }).catch(() => null);
    const told = answer && await answer.json().catch(() => null);
    if (!told) throw new Error("The server does not answer. Try again.");
    if (!answer.ok) throw new Error(told.detail || "The server refused.");
    return told.view;
  }

  async function attempt(cell, bucket) {
    if (busy || view.state !== "playing") return;
    busy = true;
    const piece = view.pieces.find((one) => one.cell === cell);
    const byKey = document.activeElement !== document.body && board.contains(document.activeElement);
    try {
      const after = await ask("attempts", { cell, bucket });
      const made = after.attempts[after.attempts.length - 1];
      chosen = null;
      if (made.outcome === "accepted") await fly(cell, bucket);
      else await shake(cell);
      const was = view;
      view = after;
      if (made.outcome === "accepted") current = nearest(cell);
      else current = cell;
      draw();
      reply(piece, made, was);
      if (byKey) settle();
    } catch (error) {
      putBack(cell);
      choose(null);
      tell(String(error.message), "no", "That did not work.");
    } finally {
      busy = false;
    }
  }

  function reply(piece, made, was) {
    const what = words(piece);
    const ends = {
      cleared: "The board is cleared.",
      stalemate: "No piece can be moved any more.",
      "cut off": "The attempts for this board are used up.",
      "": "",
    };
    const found = view.mastered && !was.mastered ? " Ten right in a row: you seem to know the rule. Stop here, or go on." : "";
    const end = (view.end ? " " + (ends[view.end] || "") : "") + found;
    if (made.outcome === "accepted") tell(`The ${what} goes into bucket ${made.bucket}.${end}`, "yes", "Yes.");
    else if (made.outcome === "denied") tell(`The ${what} can be moved now, but not into bucket ${made.bucket}.${end}`, "no", "No.");
    else tell(`The ${what} cannot be moved now.${end}`, "no", "Not now.");
  }

  /** Put the focus where the next key is likely to be wanted. */
  function settle() {
    if (view.state === "playing" && current !== null) pieceAt(current).focus();
    else if (view.state === "board over") nextForm.querySelector("button").focus();
    else result.focus();
  }

  function nearest(cell) {
    const far = (other) => Math.hypot(column(other) - column(cell), row(other) - row(cell));
    const cells = view.pieces.map((piece) => piece.cell);
    return cells.sort((a, b) => far(a) - far(b))[0] ?? null;
  }

  // -- movement ------------------------------------------------------------------------------

  const center = (what) => {
    const box = what.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));

  async function fly(cell, bucket) {
    const piece = pieceAt(cell);
    if (!piece || calm.matches) return;
    const dragged = drag === null && piece.dataset.dx ? [Number(piece.dataset.dx), Number(piece.dataset.dy)] : [0, 0];
    const [px, py] = center(piece);
    const [bx, by] = center(bucketAt(bucket));
    piece.classList.remove("dragging");
    piece.classList.add("moving");
    piece.style.transform = `translate(${bx - px + dragged[0]}px, ${by - py + dragged[1]}px) scale(.45)`;
    await wait(210);
    piece.classList.add("gone");
    await wait(60);
  }

  async function shake(cell) {
    const piece = pieceAt(cell);
    if (!piece) return;
    putBack(cell);
    if (calm.matches) return;
    piece.classList.add("no");
    await wait(360);
    piece.classList.remove("no");
  }

  function putBack(cell) {
    const piece = pieceAt(cell);
    if (!piece) return;
    piece.classList.remove("dragging", "moving", "gone");
    piece.classList.add("back");
    piece.style.transform = "";
    delete piece.dataset.dx;
    delete piece.dataset.dy;
  }

  function bucketUnder(x, y) {
    for (const bucket of board.querySelectorAll(".bucket")) {
      const box = bucket.getBoundingClientRect();
      const [cx, cy] = center(bucket);
      if (Math.hypot(x - cx, y - cy) < box.width * 0.95) return bucket;
    }
    return null;
  }

  board.addEventListener("pointerdown", (event) => {
    const piece = event.target.closest(".piece");
    if (!piece || busy || piece.disabled || event.button !== 0) return;
    drag = { piece, id: event.pointerId, x: event.clientX, y: event.clientY, moved: false };
    piece.setPointerCapture(event.pointerId);
  });

  board.addEventListener("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    const dx = event.clientX - drag.x;
    const dy = event.clientY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < 6) return;
    drag.moved = true;
    drag.piece.classList.add("dragging");
    drag.piece.style.transform = `translate(${dx}px, ${dy}px)`;
    drag.piece.dataset.dx = dx;
    drag.piece.dataset.dy = dy;
    const over = bucketUnder(event.clientX, event.clientY);
    for (const bucket of board.querySelectorAll(".bucket")) bucket.classList.toggle("over", bucket === over);
  });

  const release = (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    const { piece, moved } = drag;
    drag = null;
    for (const bucket of board.querySelectorAll(".bucket")) bucket.classList.remove("over");
    if (!moved) return;
    piece.dataset.dragged = "yes";
    const bucket = event.type === "pointerup" ? bucketUnder(event.clientX, event.clientY) : null;
    if (bucket) attempt(Number(piece.dataset.cell), Number(bucket.dataset.bucket));
    else putBack(Number(piece.dataset.cell));
  };
  board.addEventListener("pointerup", release);
  board.addEventListener("pointercancel", release);

  // -- choosing ------------------------------------------------------------------------------

  function choose(cell) {
    chosen = cell;
    for (const piece of board.querySelectorAll(".piece")) piece.setAttribute("aria-pressed", String(Number(piece.dataset.cell) === cell));
    if (cell !== null) {
      current = cell;
      const piece = view.pieces.find((one) => one.cell === cell);
      tell(`The ${words(piece)} is chosen. Now a bucket.`);
    }
  }

  board.addEventListener("click", (event) => {
    const piece = event.target.closest(".piece");
    const bucket = event.target.closest(".bucket");
    if (piece) {
      if (piece.dataset.dragged) {
        delete piece.dataset.dragged;
        return;
      }
      const cell = Number(piece.dataset.cell);
      choose(cell === chosen ? null : cell);
      if (chosen === null) tell("Move a piece into a bucket.");
      // A key press has no place; it goes on with the buckets.
      else if (event.detail === 0) bucketAt(0).focus();
    } else if (bucket) {
      if (chosen === null) tell("First choose a piece.");
      else attempt(chosen, Number(bucket.dataset.bucket));
    }
  });

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  board.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const piece = event.target.closest(".piece");
    const bucket = event.target.closest(".bucket");
    if (event.key === "Escape") {
      const back = chosen ?? current;
      choose(null);
      if (back !== null && pieceAt(back)) pieceAt(back).focus();
    } else if ("0123".includes(event.key) && (piece || chosen !== null)) {
      event.preventDefault();
      attempt(piece ? Number(piece.dataset.cell) : chosen, Number(event.key));
    } else if (ARROWS[event.key] && piece) {
      event.preventDefault();
      goTo(towards(Number(piece.dataset.cell), ARROWS[event.key]));
    } else if (ARROWS[event.key] && bucket) {
      event.preventDefault();
      const step = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : 3;
      bucketAt((Number(bucket.dataset.bucket) + step) % 4).focus();
    }
  });

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select");
    if (event.key.toLowerCase() === "n" && !typing && !event.ctrlKey && !event.metaKey && view.state === "board over") {
      event.preventDefault();
      deal();
    }
  });

  /** Return the piece that lies in a direction: near, and not far off the line. */
  function towards(cell, [dx, dy]) {
    let best = null;
    let least = Infinity;
    for (const { cell: other } of view.pieces) {
      const x = column(other) - column(cell);
      const y = row(other) - row(cell);
      const along = x * dx + y * dy;
      if (along <= 0) continue;
      const cost = along + 2.2 * Math.abs(x * dy + y * dx);
      if (cost < least) [best, least] = [other, cost];
    }
    return best;
  }

  function goTo(cell) {
    if (cell === null) return;
    current = cell;
    for (const piece of board.querySelectorAll(".piece")) piece.tabIndex = Number(piece.dataset.cell) === cell ? 0 : -1;
    pieceAt(cell).focus();
  }

  // -- boards --------------------------------------------------------------------------------

  async function deal() {
    if (busy) return;
    busy = true;
    try {
      view = await ask("next");
      chosen = null;
      current = null;
      draw();
      tell(view.state === "playing" ? `Board ${view.episode} of ${view.episodes}.` : `This board is over: ${view.end}.`);
      settle();
    } catch (error) {
      tell(String(error.message), "no", "That did not work.");
    } finally {
      busy = false;
    }
  }

  nextForm.addEventListener("submit", (event) => {
    event.preventDefault();
    deal();
  });
  for (const option of [memory, letters]) option?.addEventListener("change", draw);
  document.getElementById("options").hidden = false;
  draw();
})();
