// Forms that change something: a form sends its fields as JSON to the interface under /api.
//
//   <form data-api="POST /api/seasons/{season}/entries" data-then="/entries/{id}">
//
// `{name}` in data-api is a field, which is left out of the JSON; in data-then it is a field of the
// answer. With data-show the answer's field of that name is shown instead, as for a new token. Without
// either the page is loaded anew, or the page at the answer's `address`. An answer with `wrong` names
// the fields that were refused: they are marked.
"use strict";

(() => {
  const filled = (text, values) =>
    text.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name]));

  const value = (field) => {
    if (field.type === "checkbox") return field.checked;
    return field.dataset.type === "json" ? JSON.parse(field.value) : field.value;
  };

  async function send(form, submitter) {
    const [method, address] = form.dataset.api.split(" ");
    const fields = {};
    const controls = [...form.elements].filter(
      (each) => each.name && each.type !== "submit" && !(each.type === "radio" && !each.checked),
    );
    for (const each of submitter && submitter.name ? [...controls, submitter] : controls) {
      fields[each.name] = value(each);
    }
    const headers = { Accept: "application/json", "X-CSRF-Token": fields.csrf || "" };
    delete fields.csrf;
    const path = filled(address, fields);
    for (const [, name] of address.matchAll(/\{(\w+)\}/g)) delete fields[name];
    const request = { method, headers };
    if (method !== "DELETE") {
      headers["Content-Type"] = "application/json";
      request.body = JSON.stringify(fields);
    }
    const answer = await fetch(path, request);
    const told = answer.status === 204 ? {} : await answer.json();
    const wrong = told.wrong || [];
    if (!answer.ok || wrong.length) {
      mark(form, wrong);
      // A page of questions bears how often it was answered.
      if ("page" in told) form.elements.page.value = told.page;
      throw new Error(told.detail || `status ${answer.status}`);
    }
    return told;
  }

  function mark(form, wrong) {
    for (const each of form.querySelectorAll("[data-of]")) {
      each.classList.toggle("wrong", wrong.includes(each.dataset.of));
    }
    for (const each of form.querySelectorAll("details[hidden]")) each.hidden = !wrong.length;
  }

  function output(form, className) {
    const found = document.createElement("div");
    found.className = `notice answer ${className}`;
    found.setAttribute("role", className ? "alert" : "status");
    for (const each of form.parentNode.querySelectorAll(":scope > .notice.answer")) each.remove();
    form.before(found);
    return found;
  }

  function show(form, told) {
    const found = output(form, "");
    const code = document.createElement("code");
    code.className = "secret";
    code.textContent = told[form.dataset.show];
    found.append("Shown only now: ", code);
    form.reset();
    if (form.hasAttribute("data-once")) form.remove();
  }

  // Forms come after this script, so that none can be sent before it listens.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.dataset.api) return;
    event.preventDefault();
    const buttons = form.querySelectorAll("button");
    for (const each of buttons) each.disabled = true;
    try {
      const told = await send(form, event.submitter);
      if (form.dataset.show) show(form, told);
      else if (form.dataset.then) location.assign(filled(form.dataset.then, told));
      else if (told.address) location.assign(told.address);
      else location.reload();
    } catch (error) {
      output(form, "bad").textContent = error.message;
    }
    for (const each of buttons) each.disabled = false;
  });
})();
