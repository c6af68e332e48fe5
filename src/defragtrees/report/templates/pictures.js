/* Live charts, drawn by Plotly from the descriptions in the data. */
const root = document.documentElement;
const source = document.getElementById("report-data");
if (!window.Plotly || !source) return;

const data = JSON.parse(source.textContent);
const config = { displayModeBar: false, responsive: false, typesetMath: false };
const narrow = 560;

/* Plotly interprets tags and entities; names must stay literal. */
const escaped = (text) =>
  String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
/* Isolate right-to-left names, so that signs beside them stay in place. */
const rightToLeft =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const plain = (text) =>
  rightToLeft.test(text) ? `\u2068${escaped(text)}\u2069` : escaped(text);
const short = (text, longest) =>
  text.length <= longest ? text : text.slice(0, longest - 1) + "…";
/* A label cut to the width of the legend. */
const legendName = (label, place) =>
  plain(short(label, Math.min(44, Math.floor((place.clientWidth - 50) / 9))));

function theme() {
  const style = getComputedStyle(root);
  return {
    read: (name) => style.getPropertyValue("--" + name).trim(),
    font: getComputedStyle(document.body).fontFamily,
  };
}

function baseLayout(look) {
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: look.font, size: 13, color: look.read("ink") },
    hoverlabel: {
      align: "left",
      bgcolor: look.read("card"),
      bordercolor: look.read("faint"),
      font: { family: look.font, size: 13, color: look.read("ink") },
    },
    hovermode: "closest",
    dragmode: false,
  };
}

/* One axis of a chart; `pixels` is its length. */
function axisLayout(axis, look, pixels) {
  const isFew = axis.limits && axis.limits[1] <= (pixels < 0.8 * narrow ? 12.6 : 25.6);
  return {
    color: look.read("ink"),
    gridcolor: look.read("line"),
    linecolor: look.read("faint"),
    tickfont: { color: look.read("quiet"), size: 12 },
    zeroline: false,
    fixedrange: true,
    automargin: true,
    showgrid: !axis.is_count,
    showline: true,
    showticklabels: true,
    ...(axis.title
      ? { title: { text: plain(short(axis.title, 40)), standoff: 8, font: { size: 13 } } }
      : {}),
    ...(axis.limits ? { range: axis.limits } : {}),
    ...(axis.starts_at_zero ? { rangemode: "tozero" } : {}),
    ...(axis.is_share ? { tickformat: ".0%" } : axis.is_count ? {} : { tickformat: ",~r" }),
    ...(axis.is_count && isFew ? { dtick: 1 } : {}),
  };
}

/* Legends are lists above their charts, which wrap on narrow pages. */

const glyphs = {
  circle: "\u25cf", square: "\u25a0", diamond: "\u25c6", "triangle-up": "\u25b2",
  "triangle-down": "\u25bc", cross: "\u271a", star: "\u2605", x: "\u2716",
  "circle-open": "\u25cb",
};
const unescaped = (text) =>
  text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

function legendEntry(trace) {
  const item = document.createElement("li"), key = document.createElement("span");
  const hasMarker = trace.mode.includes("markers");
  key.className = hasMarker ? "key" : `key line ${(trace.line || {}).dash || "solid"}`;
  key.style.color = hasMarker ? trace.marker.color : trace.line.color;
  key.textContent = hasMarker ? glyphs[trace.marker.symbol] || glyphs.circle : "";
  key.setAttribute("aria-hidden", "true");
  const words = document.createElement("span");
  words.className = "legendtext";
  words.textContent = unescaped(trace.name);
  item.append(key, words);
  return item;
}

function drawLegend(place, title, traces) {
  let list = place.previousElementSibling;
  if (!list || !list.classList.contains("legend")) {
    list = document.createElement("ul");
    list.className = "legend";
    list.dataset.of = place.id.replace("plot-", "");
    place.before(list);
  }
  const named = traces.filter((trace) => trace.showlegend !== false && trace.name);
  list.replaceChildren(...named.map(legendEntry));
  if (!title || !named.length) return;
  const head = document.createElement("li");
  head.className = "title";
  head.textContent = title;
  list.prepend(head);
}

/* One function per kind of mark: from its description to a trace. */
const symbols = {
  o: "circle", s: "square", D: "diamond", "^": "triangle-up", v: "triangle-down",
  P: "cross", "*": "star", X: "x", ring: "circle-open",
};
const dashes = { "-": "solid", "--": "dash", ":": "dot", "-.": "dashdot" };

function errorBars(mark) {
  const look = { thickness: 1.2, width: 3 };
  if (mark.spread) return { error_y: { array: mark.spread, ...look } };
  if (!mark.reach) return {};
  return { error_y: {
    type: "data", symmetric: false, ...look,
    array: mark.reach.map(([, high], i) => high - mark.y[i]),
    arrayminus: mark.reach.map(([low], i) => mark.y[i] - low),
  } };
}

const drawers = {
  curve(mark, { look, place }) {
    const isRing = mark.marker === "ring";
    const parts = [
      mark.line && !isRing && "lines", mark.marker && "markers", mark.numbers && "text",
    ];
    const title = mark.title ? `<b>${plain(mark.title)}</b><br>` : "";
    return {
      type: "scatter", mode: parts.filter(Boolean).join("+"),
      name: legendName(mark.label, place), x: mark.x, y: mark.y,
      line: { color: look.read(mark.colour), width: 2, dash: dashes[mark.line] },
      marker: {
        size: isRing ? 17 : 8, symbol: symbols[mark.marker], color: look.read(mark.colour),
        ...(isRing ? { line: { width: 2.5 } } : {}),
      },
      ...errorBars(mark),
      ...(mark.texts
        ? { hovertext: mark.texts.map((text) => title + text), hoverinfo: "text" }
        : { hoverinfo: "skip" }),
      ...(mark.numbers
        ? { text: mark.numbers.map(String), textposition: "top right", cliponaxis: false,
            textfont: { color: look.read("quiet"), size: 11 } }
        : {}),
    };
  },

  level(mark, { look, picture }) {
    return {
      type: "scatter", mode: "lines", name: plain(mark.label),
      x: picture.x.limits, y: [mark.y, mark.y], hoverinfo: "text", text: mark.text,
      line: { color: look.read("quiet"), width: 1.5, dash: "dash" },
    };
  },
};

/* The charts of the page, and when they are redrawn. */
const figures = [];
for (const [name, picture] of Object.entries(data.pictures)) {
  if (picture.x.is_count) picture.x.limits = picture.x.limits || countLimits(picture);
  const place = document.getElementById("plot-" + name);
  if (place) figures.push({ place, picture });
}

/* Limits for whole numbers from one to the largest. */
function countLimits(picture) {
  const largest = Math.max(1, ...picture.marks.flatMap((mark) => mark.x || []));
  return [0.4, largest + 0.6];
}

function drawOne({ place, picture }) {
  const look = theme(), { x, y, height, legend } = picture;
  const traces = picture.marks.map((mark) => drawers[mark.kind](mark, { look, place, picture }));
  const layout = {
    ...baseLayout(look),
    width: place.clientWidth,
    height,
    margin: { l: 10, r: 10, t: 8, b: 10 },
    xaxis: axisLayout(x, look, 0.8 * place.clientWidth),
    yaxis: axisLayout(y, look, 0.76 * height),
    showlegend: false,
  };
  place.style.minHeight = "";
  drawLegend(place, legend && legend[0].toUpperCase() + legend.slice(1), traces);
  return Plotly.react(place, traces, layout, config);
}

const drawAll = () => Promise.all(figures.map(drawOne));

function listen() {
  let timer = 0, width = root.clientWidth;
  addEventListener("resize", () => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    clearTimeout(timer);
    timer = setTimeout(drawAll, 120);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
}

root.classList.add("live");
drawAll().then(
  () => {
    listen();
    root.dataset.ready = "yes";
  },
  (error) => {
    /* Fall back to the static charts. */
    root.classList.remove("live");
    throw error;
  }
);
