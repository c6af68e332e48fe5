/* What all live pictures share: the data, the choice, colours, texts and axes.
   All positions come from the data; here they are only drawn. */
const root = document.documentElement;
const source = document.getElementById("report-data");
if (!window.Plotly || !source) return;

const data = JSON.parse(source.textContent);
const plot = data.plot;
const rows = plot.rows;
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
  const prefix = plot.groups.ordered ? "s" : "g";
  return {
    read,
    group: (k) => read(prefix + k),
    soft: (k) => read(`${prefix}${k}-soft`),
    font: getComputedStyle(document.body).fontFamily,
  };
}

function baseLayout(look, extra) {
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
    ...extra,
  };
}

function axisStyle(look, extra) {
  return {
    color: look.read("ink"),
    gridcolor: look.read("line"),
    linecolor: look.read("faint"),
    tickfont: { color: look.read("quiet"), size: 12 },
    zeroline: false,
    fixedrange: true,
    automargin: true,
    ...extra,
  };
}

const legendAbove = (title, place) => ({
  orientation: "h",
  x: 0,
  xanchor: "left",
  y: 1,
  yref: "paper",
  yanchor: "bottom",
  title: {
    text: isNarrow(place) ? title : title + "&nbsp; ",
    side: isNarrow(place) ? "top" : "left",
    font: { size: 13 },
  },
  bgcolor: "rgba(0,0,0,0)",
  itemclick: false,
  itemdoubleclick: false,
});

function rowText(i) {
  const lines = [
    `row ${rows.number[i].toLocaleString("en")}, rule ${rows.rule[i]}`,
    `rules say ${plain(rows.says[i])}`,
    `ensemble says ${plain(rows.ensemble[i])}`,
  ];
  if (rows.y) lines.push(`y is ${plain(rows.y[i])}`);
  return lines.join("<br>");
}

const all = Array.from({ length: nRows }, (_, i) => i);
const membersOf = (rule) => (rule ? plot.rules[rule - 1].rows : all);
const othersOf = (rule) => {
  const own = new Set(membersOf(rule));
  return all.filter((i) => !own.has(i));
};
