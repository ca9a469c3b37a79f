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
  const guess = document.getElementById("guess");
  const over = document.getElementById("over");
  const codes = JSON.parse(document.getElementById("codes").textContent);
  const PLACES = [[0, 7, "top left"], [7, 7, "top right"], [7, 0, "bottom right"], [0, 0, "bottom left"]];
  const REPLIES = { accepted: "yes", immovable: "not now", placed: "placed" };
  const END_WORDS = { mastered: "rule found", placed: "all pieces placed" };
  const END_SENTENCES = {
    cleared: " The board is cleared.",
    stalemate: " No piece can be moved any more.",
    "cut off": " The attempts for this board are used up.",
    mastered: " You have found the rule.",
  };
  const FLIGHT_MS = 270;
  const SHAKE_MS = 360;
  /** Seconds to wait before a request is sent again: the server makes nothing twice. */
  const PAUSES = [0.3, 0.8, 2];

  let page = JSON.parse(document.getElementById("page").textContent);
  let view = page.view;
  let chosen = null;      // the cell of the piece that is chosen
  let current = null;     // the cell whose piece the tab key finds
  let drag = null;
  const queue = [];       // what was tried while an answer is waited for
  let working = false;

  // -- the player's clock --------------------------------------------------------------------

  const clock = { shown: performance.now(), touched: null, away: 0, awaySince: null, animation: 0 };

  /** The board, or a reply, is on the screen now. */
  function shown(animation = 0) {
    clock.shown = performance.now();
    clock.touched = null;
    clock.away = 0;
    if (clock.awaySince !== null) clock.awaySince = clock.shown;
    clock.animation = calm.matches ? 0 : animation;
  }

  const touched = () => { clock.touched ??= performance.now(); };

  function awayOrBack() {
    const away = document.hidden || !document.hasFocus();
    const now = performance.now();
    if (away && clock.awaySince === null) clock.awaySince = now;
    if (!away && clock.awaySince !== null) {
      clock.away += now - clock.awaySince;
      clock.awaySince = null;
    }
  }
  document.addEventListener("visibilitychange", awayOrBack);
  for (const name of ["blur", "focus"]) window.addEventListener(name, awayOrBack);

  /** What the clock says of something done at a moment; 0 if the reply was not there yet. */
  function times(at, touchedAt) {
    const since = (moment) => Math.max(0, Math.round(moment - clock.shown));
    const action = since(at);
    const pause = clock.awaySince === null ? 0 : Math.max(0, at - clock.awaySince);
    return {
      touch_ms: Math.min(action, since(touchedAt ?? at)),
      action_ms: action,
      away_ms: Math.min(action, Math.round(clock.away + pause)),
      animation_ms: Math.min(action, clock.animation),
    };
  }

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
  const words = (piece) => (piece.shape ? `${piece.color} ${piece.shape}`.toLowerCase() : "–");
  const picture = (piece, className = "") => {
    const template = document.getElementById("shape-" + piece.shape) || document.getElementById("shape-OTHER");
    const svg = template.content.firstElementChild.cloneNode(true);
    if (className) svg.setAttribute("class", className);
    svg.querySelector(".shape").setAttribute("class", "shape c-" + (codes[piece.color] ? piece.color : "OTHER"));
    svg.querySelector(".letter").textContent = codes[piece.color] || (piece.color || "?").slice(0, 2);
    return svg;
  };
  const playing = () => view.state === "playing";
  const remembers = () => memory !== null && memory.checked;
  /** The pieces that were moved, in this order. */
  const removed = () => view.attempts.filter(({ outcome }) => outcome === "accepted" || outcome === "placed");

  function draw() {
    // A piece that is being dragged stays where the finger is: the pointer would let it go.
    for (const child of [...board.children]) if (!drag || child !== drag.piece) child.remove();
    board.classList.toggle("letters", letters.checked);
    for (let cell = 1; cell <= 36; cell++) board.append(element("div", "cell " + spot(cell)));
    if (remembers()) removed().forEach((piece, i) => board.append(ghostOf(piece, i + 1)));
    const cells = view.pieces.map((piece) => piece.cell);
    if (!cells.includes(current)) current = cells.length ? cells[0] : null;
    for (const piece of view.pieces) {
      if (!drag || Number(drag.piece.dataset.cell) !== piece.cell) board.append(pieceButton(piece));
    }
    PLACES.forEach(([x, y, where], bucket) => board.append(bucketButton(bucket, x, y, where)));
    drawCounts();
    drawPoints();
    drawMoves();
  }

  /** What stays on the cell of a piece that was moved: its shadow with a number. */
  function ghostOf(piece, number) {
    const ghost = element("div", "ghost " + spot(piece.cell), { "aria-hidden": "true" });
    const order = element("span", "order");
    order.textContent = number;
    ghost.append(picture(piece), order);
    return ghost;
  }

  function pieceButton(piece) {
    const blocked = piece.movable === false;
    const button = element("button", (blocked ? "piece blocked " : "piece ") + spot(piece.cell), {
      type: "button",
      "data-cell": piece.cell,
      "aria-pressed": String(piece.cell === chosen),
      "aria-label": `${words(piece)}, column ${column(piece.cell)}, row ${row(piece.cell)}` + (blocked ? ", cannot be moved now" : ""),
      tabindex: piece.cell === current ? "0" : "-1",
    });
    button.disabled = !playing();
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
    button.disabled = !playing();
    if (remembers()) {
      const stack = element("span", "stack", { "aria-hidden": "true" });
      const held = removed().filter((piece) => piece.bucket === bucket).slice(-3);
      stack.append(...held.map((piece) => picture(piece)));
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
    guess.hidden = !page.guess_due || page.over;
    // A player whose study has ended can only go on to its end.
    over.hidden = !page.over;
    const asked = page.guess_due || page.over;
    nextForm.hidden = asked || view.state !== "board over";
    giveUp.hidden = asked || view.state === "ended";
    giveUp.open = false;
    result.hidden = asked || view.state !== "ended";
  }

  function drawPoints() {
    const { points } = view;
    if (!points) return;
    document.getElementById("points-total").textContent = points.total;
    document.getElementById("points-board").textContent = playing() ? `this board: ${points.board_least}–${points.board_most}` : "";
  }

  function drawMoves() {
    if (!moves) return;
    document.getElementById("memory-list").hidden = !remembers();
    document.getElementById("no-moves").hidden = view.attempts.length > 0;
    moves.replaceChildren(...[...view.attempts].reverse().map((attempt) => {
      const item = element("li", { accepted: "yes", placed: "placed" }[attempt.outcome] || "");
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
    says.className = "says " + kind;
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

  /** Ask, and ask again if no answer comes: whatever was done already is not done twice. */
  async function ask(action, body = {}) {
    for (let turn = 0; ; turn++) {
      const answer = await fetch(`${address}/${action}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRF-Token": game.dataset.csrf },
        body: JSON.stringify(body),
      }).catch(() => null);
      const told = answer && await answer.json().catch(() => null);
      if (told && answer.ok) return told;
      const lost = !told || answer.status >= 500;
      // Two that came at once are told apart by asking again.
      const twice = told && answer.status === 409 && turn === 0;
      if (turn >= PAUSES.length || !(lost || twice)) {
        throw new Error(told ? told.detail || "The server refused." : "The server does not respond. Try again.");
      }
      await wait(1000 * PAUSES[turn]);
    }
  }

  /** Try a piece in a bucket; what is tried meanwhile waits for its turn. */
  function attempt(cell, bucket, byKey = false) {
    if (!playing()) return;
    queue.push({ cell, bucket, byKey, start: current, at: performance.now(), touched: clock.touched });
    // What is chosen from now on is the next piece: the answer to this one leaves it chosen.
    choose(null);
    if (!working) work();
  }

  async function work() {
    working = true;
    while (queue.length && playing()) await attemptNow(queue.shift());
    queue.length = 0;
    working = false;
  }

  async function attemptNow({ cell, bucket, byKey, start, at, touched: touchedAt }) {
    let piece = view.pieces.find((one) => one.cell === cell);
    // A key that was pressed for a piece that has gone is meant for the one that has the focus.
    if (!piece && byKey) piece = view.pieces.find((one) => one.cell === current);
    if (!piece) return;
    const from = center(pieceAt(piece.cell));
    const number = view.attempts.length + 1;
    try {
      const client = times(at, touchedAt);
      const told = await ask("attempts", { cell: piece.cell, bucket, episode: view.episode, number, client });
      const made = told.view.attempts[number - 1];
      const was = view;
      const inBoard = board.contains(document.activeElement);
      page = told;
      view = told.view;
      if (!view.pieces.some((one) => one.cell === chosen)) chosen = null;
      const aimed = chosen === null ? null : document.activeElement.closest(".bucket");
      const gone = !view.pieces.some((one) => one.cell === piece.cell);
      // Who has gone on to another piece before the answer came stays there.
      const wentOn = current !== start && view.pieces.some((one) => one.cell === current);
      if (!wentOn) current = gone ? nearest(piece.cell) : piece.cell;
      if (!gone) putBack(piece.cell);
      draw();
      if (gone) fly(piece, from, bucket);
      else shake(piece.cell);
      shown(gone ? FLIGHT_MS : SHAKE_MS);
      reply(piece, made, was);
      if ((byKey || inBoard) && !drag) {
        if (aimed) bucketAt(aimed.dataset.bucket).focus();
        else settle();
      }
    } catch (error) {
      queue.length = 0;
      putBack(piece.cell);
      choose(null);
      tell(String(error.message), "no", "That did not work:");
    }
  }

  function reply(piece, made, was) {
    const what = words(piece);
    const found = view.mastered && !was.mastered && !view.points;
    const more = (END_SENTENCES[view.end] || "") + (found ? " Ten right in a row: you seem to know the rule. Stop here, or continue." : "");
    if (made.outcome === "placed") tell(`Placed: ${what}, bucket ${made.bucket}.`);
    else if (made.outcome === "accepted") tell(`The ${what} goes into bucket ${made.bucket}.${more}`, "yes", "Yes.");
    else if (made.outcome === "denied") tell(`The ${what} can be moved now, but not into bucket ${made.bucket}.${more}`, "no", "No.");
    else tell(`The ${what} cannot be moved now.${more}`, "no", "Not now.");
  }

  /** Put the focus where the next key is likely to be wanted. */
  function settle() {
    if (playing() && current !== null) pieceAt(current).focus();
    else if (page.guess_due) document.getElementById("guess-text").focus();
    else if (!nextForm.hidden) nextForm.querySelector("button").focus();
    else if (!result.hidden) result.focus();
  }

  function nearest(cell) {
    const far = (piece) => Math.hypot(column(piece.cell) - column(cell), row(piece.cell) - row(cell));
    return [...view.pieces].sort((a, b) => far(a) - far(b))[0]?.cell ?? null;
  }

  // -- movement ------------------------------------------------------------------------------

  const center = (what) => {
    const box = what.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));

  /** Let the picture of a piece that has gone fly into its bucket; the board is ready meanwhile. */
  function fly(piece, from, bucket) {
    if (calm.matches) return;
    const flyer = element("div", "piece " + spot(piece.cell), { "aria-hidden": "true" });
    flyer.append(picture(piece));
    board.append(flyer);
    const [hx, hy] = center(flyer);
    const [bx, by] = center(bucketAt(bucket));
    flyer.style.transform = `translate(${from[0] - hx}px, ${from[1] - hy}px)`;
    flyer.getBoundingClientRect();
    flyer.classList.add("moving");
    flyer.style.transform = `translate(${bx - hx}px, ${by - hy}px) scale(.45)`;
    setTimeout(() => flyer.classList.add("gone"), 210);
    setTimeout(() => flyer.remove(), FLIGHT_MS);
  }

  function shake(cell) {
    const piece = pieceAt(cell);
    if (!piece || calm.matches) return;
    piece.classList.add("no");
    setTimeout(() => piece.classList.remove("no"), SHAKE_MS);
  }

  function putBack(cell) {
    const piece = pieceAt(cell);
    if (!piece) return;
    piece.classList.remove("dragging");
    piece.classList.add("back");
    piece.style.transform = "";
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
    touched();
    const piece = event.target.closest("button.piece");
    if (!piece || drag || piece.disabled || piece.classList.contains("blocked") || event.button !== 0) return;
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
    const cell = Number(piece.dataset.cell);
    if (bucket) attempt(cell, Number(bucket.dataset.bucket));
    else putBack(cell);
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
      tell(`The ${words(piece)} is chosen. Now choose a bucket.`);
    }
  }

  board.addEventListener("click", (event) => {
    touched();
    const piece = event.target.closest("button.piece");
    const bucket = event.target.closest(".bucket");
    if (piece) {
      if (piece.classList.contains("blocked")) {
        tell("It cannot be moved now.");
        return;
      }
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
      else attempt(chosen, Number(bucket.dataset.bucket), event.detail === 0);
    }
  });

  // A screen reader puts the focus on any piece.
  board.addEventListener("focusin", (event) => {
    const piece = event.target.closest("button.piece");
    if (piece) current = Number(piece.dataset.cell);
  });

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  board.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    touched();
    const piece = event.target.closest("button.piece");
    const bucket = event.target.closest(".bucket");
    if (event.key === "Escape") {
      const back = chosen ?? current;
      choose(null);
      if (back !== null && pieceAt(back)) pieceAt(back).focus();
    } else if ("0123".includes(event.key) && (piece || chosen !== null)) {
      event.preventDefault();
      if (piece?.classList.contains("blocked")) tell("It cannot be moved now.");
      else attempt(piece ? Number(piece.dataset.cell) : chosen, Number(event.key), true);
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
    if (event.key.toLowerCase() === "n" && !typing && !event.ctrlKey && !event.metaKey && !nextForm.hidden) {
      event.preventDefault();
      deal();
    }
  });

  /** Return the piece that lies in a direction: near, and not far off the line. */
  function towards(cell, [dx, dy]) {
    let best = null;
    let least = Infinity;
    for (const piece of view.pieces) {
      const x = column(piece.cell) - column(cell);
      const y = row(piece.cell) - row(cell);
      const along = x * dx + y * dy;
      if (along <= 0) continue;
      const cost = along + 2.2 * Math.abs(x * dy + y * dx);
      if (cost < least) [best, least] = [piece.cell, cost];
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

  let dealing = false;

  async function deal() {
    if (dealing || working) return;
    dealing = true;
    try {
      page = await ask("next", { episode: view.episode });
      view = page.view;
      chosen = null;
      current = null;
      draw();
      shown();
      tell(view.state === "playing" ? `Board ${view.episode} of ${view.episodes}.` : `This board is over: ${END_WORDS[view.end] || view.end}.`);
      settle();
    } catch (error) {
      tell(String(error.message), "no", "That did not work:");
    } finally {
      dealing = false;
    }
  }

  async function sendGuess() {
    const given = new FormData(guess);
    try {
      page = await ask("guess", { guess: given.get("guess"), confidence: Number(given.get("confidence")) });
      view = page.view;
      guess.reset();
      drawCounts();
      settle();
    } catch (error) {
      tell(String(error.message), "no", "That did not work:");
    }
  }

  nextForm.addEventListener("submit", (event) => {
    event.preventDefault();
    deal();
  });
  guess.addEventListener("submit", (event) => {
    event.preventDefault();
    sendGuess();
  });
  giveUp.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const told = await ask("give-up");
      // A guess that is due comes before the result.
      if (told.guess_due) location.reload();
      else location.assign(result.href);
    } catch (error) {
      tell(String(error.message), "no", "That did not work:");
    }
  });
  for (const option of [memory, letters]) option?.addEventListener("change", draw);
  draw();
  shown();
})();
