// Forms that change something: a form sends its fields as JSON to the interface under /api.
//
//   <form data-api="POST /api/seasons/{season}/entries" data-then="/entries/{id}">
//
// `{name}` in data-api is a field, which is left out of the JSON; in data-then it is a field of the
// answer. With data-show the answer's field of that name is shown instead, as for a new token.
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
    const controls = [...form.elements].filter((each) => each.name && each.type !== "submit");
    for (const each of submitter && submitter.name ? [...controls, submitter] : controls) {
      fields[each.name] = value(each);
    }
    const headers = { Accept: "application/json", "X-CSRF-Token": fields.csrf || "" };
    delete fields.csrf;
    const path = filled(address, fields);
    for (const [, name] of address.matchAll(/\{(\w+)\}/g)) delete fields[name];
    const request = { method, headers, credentials: "same-origin" };
    if (method !== "DELETE") {
      headers["Content-Type"] = "application/json";
      request.body = JSON.stringify(fields);
    }
    const answer = await fetch(path, request);
    const told = answer.status === 204 ? {} : await answer.json();
    if (!answer.ok) throw new Error(told.detail || `status ${answer.status}`);
    return told;
  }

  function output(form, className) {
    const found = document.createElement("div");
    found.className = `notice ${className}`;
    found.setAttribute("role", className ? "alert" : "status");
    for (const each of form.parentNode.querySelectorAll(":scope > .notice.answer")) each.remove();
    found.classList.add("answer");
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

  for (const form of document.querySelectorAll("form[data-api]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const buttons = form.querySelectorAll("button");
      for (const each of buttons) each.disabled = true;
      try {
        const told = await send(form, event.submitter);
        if (form.dataset.show) show(form, told);
        else if (form.dataset.then) location.assign(filled(form.dataset.then, told));
        else location.reload();
      } catch (error) {
        output(form, "bad").textContent = error.message;
      }
      for (const each of buttons) each.disabled = false;
    });
  }
})();
