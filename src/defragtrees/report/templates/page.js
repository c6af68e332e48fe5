/* What is on the page, and when it is drawn anew. */

const figures = new Map();
const add = (name, draw) => {
  const place = document.getElementById("plot-" + name);
  if (place) figures.set(name, { place, draw });
};
if (data.path)
  add("path", (look, place) => [
    pathTraces(look), errorFigure(look, place, largestOf(data.path.points), 320),
  ]);
if (data.comparison)
  add("comparison", (look, place) => [
    comparisonTraces(look, place),
    errorFigure(look, place, largestOf(data.comparison.rows), 340),
  ]);
if (plot.shown)
  add("rows", (look, place) => [lineTraces(look, place), rowsFigure(place, look)]);
plot.maps.forEach((pair, m) =>
  add("map-" + m, (look, place) => [dotTraces(pair, look, place), mapFigure(pair, place, look)]));

function drawAll(names = [...figures.keys()]) {
  const look = theme();
  return Promise.all(
    names.map((name) => {
      const { place, draw } = figures.get(name);
      const [traces, layout] = draw(look, place);
      layout.width = place.clientWidth;
      place.style.minHeight = "";
      return Plotly.react(place, traces, layout, config);
    })
  );
}

const highlighted = [...figures.keys()].filter(
  (name) => name === "rows" || name.startsWith("map-")
);
const status = document.getElementById("status");

function tell() {
  if (!status) return;
  status.textContent = "";
  status.classList.toggle("on", state.rule > 0);
  if (!state.rule) return;
  const rule = plot.rules[state.rule - 1];
  const words = document.createElement("span");
  const n = rule.rows.length.toLocaleString("en");
  words.textContent = `Rule ${state.rule}: ${n} of ${nRows.toLocaleString("en")} rows are highlighted.`;
  const link = document.createElement("a");
  link.href = "#rows";
  link.textContent = "See them";
  const clear = document.createElement("button");
  clear.type = "button";
  clear.textContent = "Show all";
  clear.addEventListener("click", () => choose(0));
  status.append(words, link, clear);
}

function choose(rule) {
  if (rule === state.rule) return;
  state.rule = rule;
  for (const input of document.querySelectorAll('input[name="rule"], input[name$="chip"]'))
    input.checked = Number(input.value) === rule;
  for (const card of document.querySelectorAll(".card"))
    card.classList.toggle("chosen", Number(card.dataset.rule) === rule);
  tell();
  drawAll(highlighted);
}

function listen() {
  document.addEventListener("change", (event) => {
    const input = event.target;
    if (input.name === "rule" || input.name.endsWith("chip")) choose(Number(input.value));
    else if (input.dataset.scale) {
      state.scale[input.dataset.scale] = input.value;
      drawAll(highlighted);
    }
  });
  document.addEventListener("keydown", (event) => {
    const isRule = event.target.name === "rule";
    if (event.key === "Escape") choose(0);
    else if (event.key === "Enter" && isRule) {
      event.preventDefault();
      const rule = Number(event.target.value);
      choose(rule === state.rule ? 0 : rule);
    }
  });
  for (const card of document.querySelectorAll(".card"))
    card.addEventListener("click", (event) => {
      /* Marking text to copy it is no choice. */
      if (event.target.closest("a, input, label") || String(getSelection())) return;
      const rule = Number(card.dataset.rule);
      choose(rule === state.rule ? 0 : rule);
    });
  const rowsPlace = figures.get("rows");
  if (rowsPlace)
    rowsPlace.place.on("plotly_click", (event) => {
      const number = event.points[0] && event.points[0].customdata;
      const i = rows.number.indexOf(number);
      if (i >= 0) choose(rows.rule[i]);
    });
  let timer = 0, width = root.clientWidth;
  addEventListener("resize", () => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    clearTimeout(timer);
    timer = setTimeout(() => drawAll(), 120);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll());
}

root.classList.add("live");
drawAll().then(
  () => {
    listen();
    root.dataset.ready = "yes";
  },
  (error) => {
    /* The still pictures are better than none. */
    root.classList.remove("live");
    throw error;
  }
);
