/* What all live pictures share: the data, the choice, colours, texts and axes.
   All pictures are described in the data; here they are only drawn. */
const root = document.documentElement;
const source = document.getElementById("report-data");
if (!window.Plotly || !source) return;

const data = JSON.parse(source.textContent);
const rows = data.rows;
const nRows = rows.number.length;
const state = { rule: 0, scale: { rows: "order", maps: "order" } };
const config = { displayModeBar: false, responsive: false, typesetMath: false };
const narrow = 560;
const isNarrow = (place) => place.clientWidth < narrow;

/* Plotly reads tags and entities in texts; names are to stay as they are. */
const escaped = (text) =>
  String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
/* Right-to-left names stand between isolating marks, so that signs beside them stay. */
const rightToLeft =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const plain = (text) =>
  rightToLeft.test(text) ? `\u2068${escaped(text)}\u2069` : escaped(text);
const short = (text, longest) =>
  text.length <= longest ? text : text.slice(0, longest - 1) + "…";
/* A label and what is said of it, as long as the legend has room for. */
const legendName = (label, place, rest = "") => {
  const room = Math.min(44, Math.floor((place.clientWidth - 50) / 9));
  return plain(short(label, room - rest.length)) + rest;
};

function theme() {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue("--" + name).trim();
  const prefix = rows.is_ordered ? "s" : "g";
  return {
    read,
    group: (k) => read(prefix + k),
    soft: (k) => read(`${prefix}${k}-soft`),
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

/* Labels that do not touch each other; `width` is that of the axis in pixels. */
function thinned(labels, width, letter = 7) {
  const kept = [];
  for (const [x, long] of labels) {
    const text = short(long, 14);
    const last = kept[kept.length - 1];
    const room = last ? ((last[1].length + text.length + 3) / 2) * letter : 0;
    if (!last || (x - last[0]) * width >= room) kept.push([x, text]);
  }
  return kept;
}

/* One side of a picture; `pixels` is its length and `letter` the room of a letter. */
function axisLayout(axis, scale, look, pixels, letter) {
  const marks = axis.ticks && thinned(axis.ticks[scale], pixels, letter);
  const isFew = axis.limits && axis.limits[1] <= (pixels < 0.8 * narrow ? 12.6 : 25.6);
  return {
    color: look.read("ink"),
    gridcolor: look.read("line"),
    linecolor: look.read("faint"),
    tickfont: { color: look.read("quiet"), size: 12 },
    zeroline: false,
    fixedrange: true,
    automargin: true,
    showgrid: !(axis.is_bare || marks || axis.is_count),
    showline: !axis.is_bare,
    showticklabels: !axis.is_bare,
    ...(axis.title
      ? { title: { text: plain(short(axis.title, 40)), standoff: 8, font: { size: 13 } } }
      : {}),
    ...(axis.limits ? { range: axis.limits } : {}),
    ...(axis.starts_at_zero ? { rangemode: "tozero" } : {}),
    ...(axis.is_share ? { tickformat: ".0%" } : {}),
    ...(axis.is_count && isFew ? { dtick: 1 } : {}),
    ...(marks
      ? { tickangle: 0, tickvals: marks.map(([p]) => p), ticktext: marks.map(([, t]) => plain(t)) }
      : {}),
  };
}

function rowText(i) {
  const lines = [
    `row ${rows.number[i].toLocaleString("en")}, rule ${rows.rule[i]}`,
    `rules say ${plain(rows.says[i])}`,
    `ensemble says ${plain(rows.ensemble[i])}`,
  ];
  if (rows.y) lines.push(`${plain(data.target)} is ${plain(rows.y[i])}`);
  return lines.join("<br>");
}

const all = Array.from({ length: nRows }, (_, i) => i);
const membersOf = (rule) => (rule ? rows.members[rule - 1] : all);
const othersOf = (rule) => {
  const own = new Set(membersOf(rule));
  return all.filter((i) => !own.has(i));
};
