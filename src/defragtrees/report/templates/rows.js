/* The rows as lines. */

function lineTrace(own, look, options) {
  const scale = state.scale.rows;
  const axes = plot.axes.slice(0, plot.shown);
  const x = [], y = [], customdata = [], text = [];
  for (const i of own) {
    const about = options.quiet ? "" : rowText(i);
    axes.forEach((axis, a) => {
      x.push(axis[scale][i]);
      y.push(a);
      customdata.push(rows.number[i]);
      if (!options.quiet)
        text.push(`<b>${plain(axis.name)}</b> ${plain(axis.texts[i])}<br>${about}`);
    });
    x.push(null);
    y.push(null);
    customdata.push(null);
    text.push("");
  }
  return {
    type: "scatter",
    mode: axes.length > 1 ? "lines" : "markers",
    x, y, customdata, text,
    name: plain(options.name),
    hoverinfo: options.quiet ? "skip" : "text",
    showlegend: false,
    opacity: options.opacity,
    line: { color: options.color, width: options.width },
    marker: { color: options.color },
    meta: { role: options.role },
  };
}

/* A legend in full colour: that of the faint lines themselves could not be seen. */
const legendTrace = (name, color) => ({
  type: "scatter", mode: "lines", x: [null], y: [null], name,
  line: { color, width: 3 }, hoverinfo: "skip", meta: { role: "legend" },
});

function lineTraces(look, place) {
  const labels = plot.groups.labels;
  const traces = [];
  const isChosen = state.rule > 0;
  if (isChosen)
    traces.push(
      lineTrace(othersOf(state.rule), look, {
        name: "other rows", color: look.read("faint"), width: 0.7, opacity: 0.35,
        role: "others", quiet: true,
      }),
      legendTrace("other rows", look.read("faint"))
    );
  const groups = isChosen ? rows.ensemble_group : rows.says_group;
  const own = membersOf(state.rule);
  const many = own.length > 300;
  labels.forEach((label, k) => {
    const some = own.filter((i) => groups[i] === k);
    if (some.length)
      traces.push(
        lineTrace(some, look, {
          name: label, color: look.group(k), width: isChosen ? 1.3 : 0.8,
          opacity: isChosen ? (many ? 0.55 : 0.8) : many ? 0.35 : 0.6,
          role: isChosen ? "chosen" : "all",
        }),
        legendTrace(legendName(label, place), look.group(k))
      );
  });
  return traces;
}

function bandShapes(look) {
  if (!state.rule) return [];
  const shapes = [];
  for (const [a, bands] of Object.entries(plot.rules[state.rule - 1].bands)) {
    if (Number(a) >= plot.shown) continue;
    for (const [x0, x1] of bands[state.scale.rows])
      shapes.push({
        type: "rect", x0, x1, y0: Number(a) - 0.16, y1: Number(a) + 0.16,
        layer: "below", fillcolor: look.read("accent-soft"),
        line: { color: look.read("accent"), width: 1.5 },
      });
  }
  return shapes;
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

function valueNotes(axis, a, look, width) {
  return thinned(axis.labels[state.scale.rows], width).map(([x, text]) => ({
    x, y: a, yshift: -13, showarrow: false, text: plain(text),
    xanchor: x < 0.03 ? "left" : x > 0.97 ? "right" : "center",
    bgcolor: look.read("paper"), opacity: 0.85, borderpad: 1,
    font: { size: 11, color: look.read("quiet") },
  }));
}

function nameNote(axis, a, look, width) {
  return {
    x: 0, y: a, yshift: 13, xanchor: "left", showarrow: false,
    text: plain(short(axis.name, Math.floor(width / 8))),
    bgcolor: look.read("paper"), opacity: 0.9, borderpad: 1,
    font: { size: 12, color: look.read("ink") },
  };
}

/* Equal values are a thick stretch of their axis. */
function guides(axes, look) {
  const line = (a, x0, x1, width) => ({
    type: "line", x0, x1, y0: a, y1: a, layer: "above",
    line: { color: look.read("quiet"), width },
  });
  return axes.flatMap((axis, a) => [
    line(a, 0, 1, 1),
    ...(state.scale.rows === "order"
      ? axis.stretches.map(([x0, x1]) => line(a, x0 + 0.003, x1 - 0.003, 4))
      : []),
  ]);
}

function rowsFigure(place, look) {
  const axes = plot.axes.slice(0, plot.shown);
  const hasMissing = axes.some((axis) => axis.has_missing);
  const width = 0.75 * place.clientWidth;
  const notes = axes.flatMap((axis, a) => valueNotes(axis, a, look, width));
  if (isNarrow(place))
    axes.forEach((axis, a) => notes.push(nameNote(axis, a, look, place.clientWidth)));
  axes.forEach((axis, a) => {
    if (axis.has_missing)
      notes.push({
        x: plot.missing_at, y: a, yshift: -13, text: "missing", showarrow: false,
        font: { size: 11, color: look.read("quiet") },
      });
  });
  const title = state.rule
    ? `Rows of rule ${state.rule}; the ensemble says`
    : "The rules say";
  return baseLayout(look, {
    height: (isNarrow(place) ? 130 : 90) + 58 * axes.length,
    margin: { l: 8, r: 8, t: 8, b: 8 },
    xaxis: axisStyle(look, {
      range: [hasMissing ? plot.missing_at - 0.07 : -0.04, 1.03],
      showticklabels: false, showgrid: false, showline: false,
    }),
    yaxis: axisStyle(look, {
      range: [axes.length - 0.45, isNarrow(place) ? -0.7 : -0.35], showgrid: false, showline: false,
      tickvals: axes.map((_, a) => a),
      ticktext: axes.map((axis) => plain(short(axis.name, 30))),
      tickfont: { color: look.read("ink"), size: 13 },
      showticklabels: !isNarrow(place),
    }),
    shapes: [...bandShapes(look), ...guides(axes, look)],
    annotations: notes,
    legend: legendAbove(title, place),
  });
}
