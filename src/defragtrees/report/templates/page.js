/* What is on the page, and when it is drawn anew. */

const figures = new Map();
for (const [name, picture] of Object.entries(data.pictures)) {
  if (picture.x.is_count) picture.x.limits = picture.x.limits || countLimits(picture);
  const place = document.getElementById("plot-" + name);
  if (place) figures.set(name, { place, picture });
}

function legendTitle(picture) {
  if (picture.scale && state.rule) return `Rows of rule ${state.rule}; the ensemble says`;
  return picture.legend && picture.legend[0].toUpperCase() + picture.legend.slice(1);
}

/* Room for whole numbers from one to the largest. */
function countLimits(picture) {
  const largest = Math.max(1, ...picture.marks.flatMap((mark) => mark.x || []));
  return [0.4, largest + 0.6];
}

function drawOne({ place, picture }) {
  const look = theme(), scale = state.scale[picture.scale];
  const parts = picture.marks.map((mark) =>
    drawers[mark.kind](mark, { look, place, scale, picture }));
  const gather = (part) => parts.flatMap((made) => made[part] || []);
  const length = (part) => parts.reduce((sum, made) => sum + (made[part] || 0), 0);
  const overrides = Object.assign({}, ...parts.map((made) => made.yaxis || {}));
  const { x, y, height } = picture;
  const layout = {
    ...baseLayout(look),
    width: place.clientWidth,
    height: height + length("extraHeight"),
    margin: { l: 10, r: 10, t: 8, b: 10 },
    xaxis: axisLayout(x, scale, look, 0.8 * place.clientWidth, 7.5),
    yaxis: { ...axisLayout(y, scale, look, 0.76 * height, 3), ...overrides },
    shapes: gather("shapes"),
    annotations: gather("notes"),
    showlegend: false,
  };
  const traces = gather("traces");
  place.style.minHeight = "";
  drawLegend(place, legendTitle(picture), traces);
  return Plotly.react(place, traces, layout, config);
}

function drawAll(names = [...figures.keys()]) {
  return Promise.all(names.map((name) => drawOne(figures.get(name))));
}

const highlighted = [...figures.keys()].filter((name) => figures.get(name).picture.scale);
const status = document.getElementById("status");

function tell() {
  if (!status) return;
  status.textContent = "";
  status.classList.toggle("on", state.rule > 0);
  if (!state.rule) return;
  const words = document.createElement("span");
  const n = rows.members[state.rule - 1].length.toLocaleString("en");
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
