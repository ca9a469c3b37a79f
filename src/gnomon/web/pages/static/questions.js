/* Questions that depend on answers before them: hidden, and not sent, while their conditions do not
 * hold. The server decides anew, by Condition.holds of studies/plan/visibility.py. */
(() => {
  "use strict";
  const NUMBER = /^-?[0-9]+(\.[0-9]+)?$/;
  const fields = [...document.querySelectorAll("fieldset[data-visible-if]")];
  const form = fields[0].form;

  function compares(operator, answer, value) {
    const [one, other] = [answer.toLowerCase(), value.toLowerCase()];
    if (operator === "contains") return one.includes(other);
    if (!NUMBER.test(answer) || !NUMBER.test(value)) return operator === "=" && one === other;
    const [number, limit] = [Number(answer), Number(value)];
    return {
      "=": number === limit, "<": number < limit, "<=": number <= limit,
      ">": number > limit, ">=": number >= limit,
    }[operator];
  }

  function holds(condition, answers) {
    const { operator, parts, question, values } = condition;
    if (operator === "and") return parts.every((part) => holds(part, answers));
    if (operator === "or") return parts.some((part) => holds(part, answers));
    if (operator === "not") return !holds(parts[0], answers);
    const answer = (answers.get(question) ?? "").trim();
    if (operator === "empty" || answer === "") return operator === "empty" && answer === "";
    return values.some((value) => compares(operator, answer, value));
  }

  /** In the order of the page: what is disabled has no answer, for those after it too. */
  function show() {
    for (const field of fields) {
      const visible = holds(JSON.parse(field.dataset.visibleIf), new FormData(form));
      field.hidden = field.disabled = !visible;
    }
  }

  for (const input of form.querySelectorAll("[data-required]")) input.required = true;
  form.addEventListener("input", show);
  form.addEventListener("change", show);
  window.addEventListener("pageshow", show); // a browser fills in what was answered before
  show();
})();
