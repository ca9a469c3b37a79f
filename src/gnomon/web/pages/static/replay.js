/* Replays by keys and by themselves. Each step is a page of its own; only the part that changes is exchanged. */
(() => {
  "use strict";
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let timer = null;

  async function go(address, focus) {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    if (!answer.ok) { location.href = address; return; }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const list = document.querySelector("#replay .moves");
    const top = list ? list.scrollTop : 0;
    document.getElementById("replay").replaceWith(document.adoptNode(page.getElementById("replay")));
    history.replaceState(null, "", address);
    ready();
    const now = document.querySelector("#replay .moves .now");
    const moves = document.querySelector("#replay .moves");
    moves.scrollTop = top;
    if (now) {
      const above = now.offsetTop - moves.offsetTop;
      if (above < moves.scrollTop || above > moves.scrollTop + moves.clientHeight - 40) moves.scrollTop = above - 80;
    }
    if (focus) document.getElementById(focus)?.focus();
  }

  const atEnd = () => document.getElementById("forward").classList.contains("off");

  function stop() {
    clearInterval(timer);
    timer = null;
    document.getElementById("run").textContent = "Play";
  }

  function run() {
    if (timer) { stop(); return; }
    timer = setInterval(async () => {
      if (atEnd()) { stop(); return; }
      await go(document.getElementById("forward").href, "run");
      document.getElementById("run").textContent = "Pause";
    }, calm.matches ? 1500 : 750);
    document.getElementById("run").textContent = "Pause";
  }

  function ready() {
    const button = document.getElementById("run");
    button.hidden = false;
    button.addEventListener("click", run);
    for (const id of ["back", "forward"]) {
      document.getElementById(id).addEventListener("click", (event) => {
        event.preventDefault();
        if (timer) stop();
        go(event.currentTarget.href, id);
      });
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, .moves")) return;
    const id = { ArrowLeft: "back", ArrowRight: "forward" }[event.key];
    if (id) {
      event.preventDefault();
      document.getElementById(id).click();
    }
  });
  ready();
})();
