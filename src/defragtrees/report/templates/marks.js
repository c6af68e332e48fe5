/* One function for each kind of mark: from its description to traces, shapes and notes. */

const symbols = {
  o: "circle", s: "square", D: "diamond", "^": "triangle-up", v: "triangle-down",
  P: "cross", "*": "star", X: "x", ring: "circle-open",
};
const dashes = { "-": "solid", "--": "dash", ":": "dot", "-.": "dashdot" };
/* A legend in full colour: that of faint marks themselves could not be seen. */
const legendTrace = (name, color) => ({
  type: "scatter", mode: "lines", x: [null], y: [null], name,
  line: { color, width: 3 }, hoverinfo: "skip", meta: { role: "legend" },
});

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
    return { traces: [{
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
    }] };
  },

  level(mark, { look, picture }) {
    return { traces: [{
      type: "scatter", mode: "lines", name: plain(mark.label),
      x: picture.x.limits, y: [mark.y, mark.y], hoverinfo: "text", text: mark.text,
      line: { color: look.read("quiet"), width: 1.5, dash: "dash" },
    }] };
  },

  row_lines(mark, { look, place, scale }) {
    const isChosen = state.rule > 0;
    const traces = [];
    const others = othersOf(state.rule);
    if (isChosen && others.length) {
      const grey = { name: "other rows", color: look.read("faint"), role: "others" };
      traces.push(
        ...(others.length > mark.most_lines
          ? bandTraces(mark.axes, others, scale, { ...grey, opacity: 0.4 })
          : [lineTrace(mark.axes, others, scale, {
              ...grey, width: 0.7, opacity: 0.35, isQuiet: true })]),
        legendTrace("other rows", look.read("faint"))
      );
    }
    const groups = isChosen ? rows.ensemble_group : rows.says_group;
    const members = membersOf(state.rule);
    const isBand = members.length > (isChosen ? mark.most_chosen : mark.most_lines);
    const many = members.length > 100;
    rows.labels.forEach((label, k) => {
      const some = members.filter((i) => groups[i] === k);
      const own = { name: label, color: look.group(k), role: isChosen ? "chosen" : "all" };
      if (some.length)
        traces.push(
          ...(isBand
            ? bandTraces(mark.axes, some, scale, { ...own, opacity: 0.3 })
            : [lineTrace(mark.axes, some, scale, {
                ...own, width: isChosen ? 1.3 : 0.8,
                opacity: isChosen ? (many ? 0.55 : 0.8) : 0.6 })]),
          legendTrace(legendName(label, place), look.group(k))
        );
    });
    return { traces, ...lyingAxes(mark.axes, scale, look, place) };
  },

  rule_boxes(mark, { look, scale }) {
    const shapes = [], corners = new Map();
    for (const box of mark.boxes) {
      const isChosen = state.rule === box.rule + 1;
      if (mark.is_for_chosen && !isChosen) continue;
      for (const [x0, x1, y0, y1] of box.sides[scale]) {
        shapes.push(boxShape(mark, box, [x0, x1, y0, y1], isChosen, look));
        const corner = `${x0}|${y1}`;
        if (!corners.has(corner)) corners.set(corner, { x: x0, y: y1, rules: [] });
        corners.get(corner).rules.unshift(box.rule + 1);
      }
    }
    if (mark.is_for_chosen) return { shapes };
    const notes = [...corners.values()].map((corner) => cornerNote(corner, look));
    if (state.rule && !mark.boxes.some((box) => box.rule === state.rule - 1))
      notes.push({
        xref: "paper", yref: "paper", x: 1, y: 1, xanchor: "right", yanchor: "top",
        text: `rule ${state.rule} asks about neither feature`, showarrow: false,
        bgcolor: look.read("accent-soft"), borderpad: 4, font: { size: 12 },
      });
    return { shapes, notes };
  },

  row_dots(mark, { look, place, scale }) {
    const members = new Set(membersOf(state.rule));
    const places = stacked(mark, scale, members);
    const traces = [];
    const add = (some, options) => {
      if (some.length) traces.push(dotTrace(mark, some, look, options));
    };
    add(places.filter((p) => !p.isMember), {
      name: "other rows", color: look.read("faint"), symbol: "circle", opacity: 0.4,
      role: "others",
    });
    const role = state.rule ? "chosen" : "all";
    rows.labels.forEach((label, k) => {
      for (const agrees of [true, false])
        add(places.filter((p) => p.isMember && p.group === k && p.agrees === agrees), {
          name: legendName(label, place, agrees ? "" : ", the rules differ"),
          color: look.group(k), symbol: agrees ? "circle" : "x", opacity: 0.85, role,
        });
    });
    return { traces };
  },
};

function lineTrace(axes, some, scale, options) {
  const x = [], y = [], customdata = [], text = [];
  for (const i of some) {
    const about = options.isQuiet ? "" : rowText(i);
    axes.forEach((axis, a) => {
      x.push(axis.places[scale][i]);
      y.push(a);
      customdata.push(rows.number[i]);
      if (!options.isQuiet)
        text.push(`<b>${plain(axis.name)}</b> ${plain(axis.texts[i])}<br>${about}`);
    });
    x.push(null);
    y.push(null);
    customdata.push(null);
    text.push("");
  }
  return {
    type: "scatter", mode: axes.length > 1 ? "lines" : "markers",
    x, y, customdata, text, name: plain(options.name),
    hoverinfo: options.isQuiet ? "skip" : "text", showlegend: false,
    opacity: options.opacity, line: { color: options.color, width: options.width },
    marker: { color: options.color }, meta: { role: options.role },
  };
}

/* The middle half of many rows on each axis as a band, and their median as a line. */
function bandTraces(axes, some, scale, options) {
  const ends = axes.map((axis) => {
    const there = some.filter((i) => axis.places[scale][i] > data.missing_at)
      .sort((i, j) => axis.places[scale][i] - axis.places[scale][j]);
    return [0.25, 0.5, 0.75].map((q) => there[Math.floor(q * (there.length - 1) + 0.5)]);
  });
  const seen = axes.map((_, a) => a).filter((a) => ends[a][1] !== undefined);
  /* A band needs two lines to lie between. */
  const lines = seen.length > 1 ? seen.map((a) => [a, a]) : seen.flatMap((a) => [[a, a - 0.12], [a, a + 0.12]]);
  const at = (k) => lines.map(([a]) => axes[a].places[scale][ends[a][k]]);
  const up = lines.map(([, y]) => y);
  const text = lines.map(([a]) => {
    const [low, middle, high] = ends[a].map((i) => plain(axes[a].texts[i]));
    return `<b>${plain(axes[a].name)}</b> median ${middle}<br>half from ${low} to ${high}` +
      `<br>${some.length.toLocaleString("en")} rows: ${plain(options.name)}`;
  });
  const shared = {
    type: "scatter", mode: "lines", name: plain(options.name), showlegend: false,
    meta: { role: options.role },
  };
  return [
    { ...shared, x: [...at(0), ...at(2).reverse()], y: [...up, ...up.slice().reverse()],
      fill: "toself", fillcolor: options.color, opacity: options.opacity,
      line: { width: 0 }, hoverinfo: "skip", customdata: some.map((i) => rows.number[i]) },
    { ...shared, x: at(1), y: up, text, hoverinfo: "text",
      line: { color: options.color, width: 2.2 }, customdata: [] },
  ];
}

/* Axes below each other with their names and values; where the page is narrow names
   stand above them. Equal values are a thick stretch. */
function lyingAxes(axes, scale, look, place) {
  const line = (a, x0, x1, width) => ({
    type: "line", x0, x1, y0: a, y1: a, layer: "above",
    line: { color: look.read("quiet"), width },
  });
  const note = (x, y, text, color, extra) => ({
    x, y, yshift: -13, showarrow: false, text: plain(text), opacity: 0.85, borderpad: 1,
    bgcolor: look.read("paper"), font: { size: 11, color: look.read(color) }, ...extra,
  });
  const shapes = [], notes = [];
  axes.forEach((axis, a) => {
    shapes.push(line(a, 0, 1, 1));
    if (scale === "order")
      for (const [x0, x1] of axis.stretches) shapes.push(line(a, x0 + 0.003, x1 - 0.003, 4));
    for (const [x, text] of thinned(axis.labels[scale], 0.75 * place.clientWidth))
      notes.push(note(x, a, text, "quiet", {
        xanchor: x < 0.03 ? "left" : x > 0.97 ? "right" : "center",
      }));
    if (axis.has_missing) notes.push(note(data.missing_at, a, "missing", "quiet"));
    if (isNarrow(place))
      notes.push(note(0, a, short(axis.name, Math.floor(place.clientWidth / 8)), "ink", {
        yshift: 13, xanchor: "left", font: { size: 12, color: look.read("ink") },
      }));
  });
  const yaxis = {
    tickvals: axes.map((_, a) => a),
    ticktext: axes.map((axis) => plain(short(axis.name, 30))),
    tickfont: { color: look.read("ink"), size: 13 },
    showticklabels: !isNarrow(place),
    ...(isNarrow(place) ? { range: [axes.length - 0.45, -0.7] } : {}),
  };
  return { shapes, notes, yaxis, extraHeight: isNarrow(place) ? 40 : 0 };
}

function boxShape(mark, box, [x0, x1, y0, y1], isChosen, look) {
  const fill = mark.is_for_chosen ? look.read("accent-soft")
    : box.is_filled ? look.soft(rows.rule_groups[box.rule]) : "rgba(0,0,0,0)";
  return {
    type: "rect", x0, x1, y0, y1, layer: "below", fillcolor: fill,
    line: {
      color: look.read(isChosen ? "accent" : "quiet"),
      width: mark.is_for_chosen ? 1.5 : isChosen ? 3 : 1,
      dash: box.is_dashed ? "dash" : "solid",
    },
  };
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

/* Rows that lie on each other and look the same are one larger dot. */
function stacked(mark, scale, members) {
  const places = new Map();
  for (const i of all) {
    const isMember = members.has(i), group = rows.ensemble_group[i];
    const agrees = rows.agrees ? rows.agrees[i] : true;
    const x = mark.x.places[scale][i], y = mark.y.places[scale][i];
    const key = [isMember, group, agrees, x, y].join("|");
    if (!places.has(key)) places.set(key, { isMember, group, agrees, x, y, rows: [] });
    places.get(key).rows.push(i);
  }
  return [...places.values()];
}

function dotTrace(mark, some, look, options) {
  return {
    type: "scatter", mode: "markers", x: some.map((p) => p.x), y: some.map((p) => p.y),
    customdata: some.map((p) => p.rows.map((i) => rows.number[i])),
    text: some.map((p) => dotText(p, mark)),
    hoverinfo: "text", name: options.name, opacity: options.opacity,
    marker: {
      color: options.color, symbol: options.symbol,
      size: some.map((p) => Math.min(22, 5 + 2.4 * Math.sqrt(p.rows.length))),
      line: { color: look.read("paper"), width: 0.6 },
    },
    meta: { role: options.role }, showlegend: options.role !== "others",
  };
}

function dotText(stack, mark) {
  const i = stack.rows[0];
  const where = [mark.x, mark.y]
    .map((axis) => `<b>${plain(axis.name)}</b> ${plain(axis.texts[i])}<br>`).join("");
  return stack.rows.length === 1
    ? where + rowText(i)
    : `${where}${stack.rows.length} rows; ensemble says ${plain(rows.ensemble[i])}`;
}
