/* Two features at a time. */

function mapShapes(pair, look) {
  const shapes = [], corners = new Map();
  for (const box of pair.boxes) {
    const isChosen = state.rule === box.rule + 1;
    for (const [x0, x1, y0, y1] of box[state.scale.maps]) {
      shapes.push({
        type: "rect", x0, x1, y0, y1, layer: "below",
        fillcolor: box.is_filled
          ? look.soft(plot.rules[box.rule].group) : "rgba(0,0,0,0)",
        line: {
          color: look.read(isChosen ? "accent" : "quiet"),
          width: isChosen ? 3 : 1, dash: box.is_whole ? "solid" : "dash",
        },
      });
      const corner = `${x0}|${y1}`;
      if (!corners.has(corner)) corners.set(corner, { x: x0, y: y1, rules: [] });
      corners.get(corner).rules.unshift(box.rule + 1);
    }
  }
  return [shapes, [...corners.values()].map((corner) => cornerNote(corner, look))];
}

/* Rules that begin at one corner share a label; the chosen one stands out. */
function cornerNote({ x, y, rules }, look) {
  const names = rules.map((k) => (k === state.rule ? `<b>${k}</b>` : String(k)));
  const text = names.length > 6 ? names.slice(0, 5).join(", ") + ", …" : names.join(", ");
  return {
    x, y, xanchor: "left", yanchor: "top", showarrow: false, text,
    bgcolor: look.read("paper"), opacity: 0.9, borderpad: 1,
    font: { size: 12, color: look.read(rules.includes(state.rule) ? "accent" : "ink") },
  };
}

function dotTraces(pair, look, place) {
  /* By order, equal values are spread by chance: on two axes they would be a line. */
  const scale = state.scale.maps === "order" ? "spread" : "value";
  const across = plot.axes[pair.x], up = plot.axes[pair.y];
  const own = new Set(membersOf(state.rule));
  const places = new Map();
  for (const i of all) {
    const agrees = rows.agrees ? rows.agrees[i] : true;
    const x = across[scale][i], y = up[scale][i];
    const key = [own.has(i), rows.ensemble_group[i], agrees, x, y].join("|");
    if (!places.has(key))
      places.set(key, { own: own.has(i), group: rows.ensemble_group[i], agrees, x, y, rows: [] });
    places.get(key).rows.push(i);
  }
  const found = [...places.values()];
  const traces = [];
  const add = (some, options) => {
    if (!some.length) return;
    traces.push({
      type: "scatter", mode: "markers",
      x: some.map((p) => p.x), y: some.map((p) => p.y),
      customdata: some.map((p) => p.rows.map((i) => rows.number[i])),
      text: some.map((p) => dotText(p, across, up)),
      hoverinfo: "text", name: options.name, opacity: options.opacity,
      marker: {
        color: options.color, symbol: options.symbol,
        size: some.map((p) => Math.min(22, 5 + 2.4 * Math.sqrt(p.rows.length))),
        line: { color: look.read("paper"), width: 0.6 },
      },
      meta: { role: options.role },
      showlegend: options.role !== "others",
    });
  };
  add(found.filter((p) => !p.own), {
    name: "other rows", color: look.read("faint"), symbol: "circle", opacity: 0.4,
    role: "others",
  });
  const role = state.rule ? "chosen" : "all";
  plot.groups.labels.forEach((label, k) => {
    for (const agrees of [true, false])
      add(found.filter((p) => p.own && p.group === k && p.agrees === agrees), {
        name: legendName(label, place, agrees ? "" : ", the rules differ"),
        color: look.group(k), symbol: agrees ? "circle" : "x", opacity: 0.85, role,
      });
  });
  return traces;
}

function dotText(place, across, up) {
  const i = place.rows[0];
  const where =
    `<b>${plain(across.name)}</b> ${plain(across.texts[i])}<br>` +
    `<b>${plain(up.name)}</b> ${plain(up.texts[i])}<br>`;
  return place.rows.length === 1
    ? where + rowText(i)
    : `${where}${place.rows.length} rows; ensemble says ${plain(rows.ensemble[i])}`;
}

function mapAxis(axis, look, pixels, letter) {
  const missing = axis.has_missing ? [[plot.missing_at, "missing"]] : [];
  const marks = thinned([...missing, ...axis.labels[state.scale.maps]], pixels, letter);
  return axisStyle(look, {
    range: [axis.has_missing ? plot.missing_at - 0.04 : -0.03, 1.03], tickangle: 0,
    tickvals: marks.map(([p]) => p),
    ticktext: marks.map(([, t]) => plain(t)),
    title: { text: plain(short(axis.name, 40)), standoff: 8, font: { size: 13 } },
    showgrid: false, showline: true,
  });
}

function mapFigure(pair, place, look) {
  const [shapes, annotations] = mapShapes(pair, look);
  const isAsked = !state.rule || pair.boxes.some((box) => box.rule === state.rule - 1);
  if (!isAsked)
    annotations.push({
      xref: "paper", yref: "paper", x: 1, y: 1, xanchor: "right", yanchor: "top",
      text: `rule ${state.rule} asks about neither feature`, showarrow: false,
      bgcolor: look.read("accent-soft"), borderpad: 4, font: { size: 12 },
    });
  return baseLayout(look, {
    height: isNarrow(place) ? 440 : 500,
    margin: { l: 10, r: 10, t: 8, b: 10 },
    xaxis: mapAxis(plot.axes[pair.x], look, 0.8 * place.clientWidth, 7.5),
    yaxis: mapAxis(plot.axes[pair.y], look, 380, 3),
    shapes, annotations,
    legend: legendAbove(
      state.rule ? `Rows of rule ${state.rule}; the ensemble says` : "The ensemble says",
      place
    ),
  });
}
