/* Two at a board: whose turn it is, news of the partner, waiting, messages. The server decides. */
(() => {
  "use strict";
  const { page, take, ask, say, element, address } = window.gnomon;
  const texts = JSON.parse(document.getElementById("texts").textContent);
  const box = document.getElementById("partner");
  const turn = document.getElementById("turn");
  const patience = document.getElementById("patience");
  const chat = document.getElementById("chat");
  const write = document.getElementById("write");
  const over = document.getElementById("over");
  /** Milliseconds: how often one asks with a websocket and without, and how long a bot thinks. */
  const [OPEN_MS, CLOSED_MS, BOT_MS] = [15000, 2000, 1200];

  let heardAt = performance.now();   // when the server was last asked
  let drawnAt = performance.now();   // when the page last changed
  let messages = [];
  let asking = false;
  let socket = null;
  let pause = 500;                   // milliseconds before the websocket is opened again

  // -- drawing -------------------------------------------------------------------------------

  function draw() {
    const { view, patience_s: left, over: ended, chat: mayWrite, messages: told } = page();
    const { partner } = view;
    drawnAt = performance.now();
    if (!partner) {
      // Nobody came, or the partner has left: one goes on alone.
      box.querySelector("h2").textContent = texts.alone;
      turn.textContent = ended ? texts.over : texts.alone_says;
    } else {
      const title = view.state === "waiting" ? "waiting_room" : partner.play;
      box.querySelector("h2").textContent = texts[title];
      turn.textContent = texts[turnOf(view, ended)] || "";
      box.classList.toggle("yours", partner.your_turn);
      const points = partner.points === null ? "" : " " + say("partner_points", { n: partner.points });
      document.getElementById("partner-counts").textContent = say("partner_counts", partner) + points;
    }
    document.getElementById("partner-counts").hidden = !partner || view.state === "waiting";
    over.hidden = !ended;
    write.hidden = !mayWrite;
    if (left === null) patience.textContent = "";
    if (told && told.length !== messages.length) drawChat(told);
    document.getElementById("chat-box").hidden = !mayWrite && !messages.length;
  }

  function turnOf(view, ended) {
    const { partner } = view;
    if (ended) return "over";
    if (view.state === "waiting") return "waiting";
    if (partner.has_left) return partner.is_bot ? "partner_left_bot" : "partner_left";
    if (view.state !== "playing") return "";
    return partner.your_turn ? "your_turn" : "their_turn";
  }

  function drawChat(told) {
    messages = told;
    chat.replaceChildren(...told.map(({ mine, text }) => {
      const item = element("li", mine ? "mine" : "theirs");
      const who = element("span", "who");
      who.textContent = mine ? texts.you : texts.partner;
      item.append(who, " ", text);
      return item;
    }));
    chat.scrollTop = chat.scrollHeight;
  }

  // -- the server ----------------------------------------------------------------------------

  /** Look how the game stands. */
  async function look() {
    heardAt = performance.now();
    const answer = await fetch(`${address}.json`, { headers: { Accept: "application/json" } }).catch(() => null);
    const told = answer && answer.ok ? await answer.json().catch(() => null) : null;
    if (told && !take(told)) heardAt = -OPEN_MS;
  }

  /** Ask for what is due of the other side: somebody to play with, a bot's attempt, going on without. */
  async function due() {
    heardAt = performance.now();
    const { view } = page();
    const told = await ask("partner", { episode: view.episode, number: view.attempts.length + 1 }).catch(() => null);
    if (told) take(told);
  }

  /** Hear of news, and come again after a while, longer each time, if the connection breaks. */
  function listen() {
    socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}${address}/news`);
    socket.onopen = () => { pause = 500; };
    socket.onmessage = () => { if (!asking) step(look); else heardAt = -OPEN_MS; };
    socket.onclose = () => {
      setTimeout(listen, pause);
      pause = Math.min(2 * pause, OPEN_MS);
    };
  }

  async function step(what) {
    asking = true;
    await what().finally(() => { asking = false; });
  }

  /** Each quarter of a second: do what is due, or look after a while. */
  function tick() {
    const { view, patience_s: left, over: ended } = page();
    const now = performance.now();
    const rest = left === null ? null : Math.max(0, left - (now - drawnAt) / 1000);
    const mine = view.partner?.your_turn || page().guess_due;
    if (rest !== null) patience.textContent = say(mine ? "patience_yours" : "patience", { time: clock(rest) });
    if (asking || ended || !view.partner) return;
    const bots = view.partner.is_bot && view.state === "playing" && !view.partner.your_turn;
    const quiet = now - heardAt;
    if (bots ? now - drawnAt > BOT_MS && quiet > BOT_MS : (view.state === "waiting" || (rest === 0 && !mine)) && quiet > CLOSED_MS) step(due);
    else if (!view.partner.is_bot && quiet > (socket.readyState === WebSocket.OPEN ? OPEN_MS : CLOSED_MS)) step(look);
  }

  const clock = (seconds) => {
    const whole = Math.ceil(seconds);
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  };

  // -- messages ------------------------------------------------------------------------------

  write.addEventListener("submit", async (event) => {
    event.preventDefault();
    const field = document.getElementById("message");
    const text = field.value.trim();
    if (!text) return;
    field.value = "";
    const told = await ask("chat", { text, name: crypto.getRandomValues(new Uint32Array(4)).join("-") }).catch(() => null);
    if (told) take(told);
    else field.value = text;
  });

  document.addEventListener("gnomon-drawn", draw);
  draw();
  if (page().view.partner && !page().view.partner.is_bot) listen();
  setInterval(tick, 250);
})();
