// Tables that can be sorted by a click on a column's name, and filtered by its values.
// Without scripts they are plain tables.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    heads.forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => sort(heads, body, place));
    });
    addFilters(table, heads, body);
  }
});

function sort(heads, body, place) {
  const isRising = heads[place].getAttribute("aria-sort") !== "ascending";
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[place].setAttribute("aria-sort", isRising ? "ascending" : "descending");
  const value = (row) => row.cells[place].textContent;
  const rows = [...body.rows].sort((a, b) => {
    const [first, second] = [value(a), value(b)];
    if (!first || !second) return (first ? 0 : 1) - (second ? 0 : 1); // gaps come last
    const order = isNaN(first) || isNaN(second)
      ? first.localeCompare(second)
      : Number(first) - Number(second);
    return isRising ? order : -order;
  });
  body.append(...rows);
}

function addFilters(table, heads, body) {
  const names = (table.dataset.filters || "").split(",").filter(Boolean);
  if (!names.length) return;
  const bar = document.createElement("p");
  bar.className = "table-filters";
  const choices = names.map((name) => {
    const place = heads.findIndex((head) => head.textContent === name);
    const label = document.createElement("label");
    const select = document.createElement("select");
    const values = [...new Set([...body.rows].map((row) => row.cells[place].textContent))];
    select.append(new Option("all", ""));
    for (const value of values.filter(Boolean)) select.append(new Option(value, value));
    label.append(name + " ", select);
    bar.append(label);
    select.addEventListener("change", show);
    return { place, select };
  });
  function show() {
    for (const row of body.rows) {
      row.hidden = choices.some(
        ({ place, select }) =>
          select.value && row.cells[place].textContent && // bounds have no number
          row.cells[place].textContent !== select.value
      );
    }
  }
  table.closest("div").before(bar);
  choices.at(-1).select.value = table.dataset.first || "";
  show();
}
