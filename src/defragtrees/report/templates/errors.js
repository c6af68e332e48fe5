/* Error against size. */

function errorFigure(look, place, largest, height) {
  const isShare = data.task === "classification";
  return baseLayout(look, {
    height,
    margin: { l: 10, r: 10, t: 8, b: 10 },
    xaxis: axisStyle(look, {
      title: { text: "number of rules", standoff: 8, font: { size: 13 } },
      showgrid: false, showline: true, range: [0.4, largest + 0.6],
      ...(largest <= (isNarrow(place) ? 12 : 25) ? { dtick: 1 } : {}),
    }),
    yaxis: axisStyle(look, {
      title: { text: isShare ? "error" : "squared error", standoff: 8, font: { size: 13 } },
      tickformat: isShare ? ".0%" : "", rangemode: "tozero",
    }),
    legend: { ...legendAbove("", place), title: { text: "" } },
  });
}

const ensembleTrace = (look, error, largest) => ({
  type: "scatter", mode: "lines", name: "ensemble", x: [0.4, largest + 0.6],
  y: [error, error], hoverinfo: "text", text: `ensemble: error ${errorText(error)}`,
  line: { color: look.read("quiet"), width: 1.5, dash: "dash" },
});

const errorText = (value) =>
  data.task === "classification"
    ? (100 * value).toFixed(1) + " %"
    : Number(value.toPrecision(3)).toLocaleString("en");

const fidelityText = (value) => value.toFixed(3).replace("-", "−");

const largestOf = (points) => Math.max(...points.map((p) => p.n_rules || 1));

function pathTraces(look) {
  const points = data.path.points;
  const text = points.map(
    (p) => `${p.n_rules} rules<br>error ${errorText(p.error)} ± ` +
      `${errorText(p.standard_error)}<br>fidelity ${fidelityText(p.fidelity)}`
  );
  const traces = [ensembleTrace(look, data.path.ensemble_error, largestOf(points)), {
    type: "scatter", mode: "lines+markers", name: "rules",
    x: points.map((p) => p.n_rules), y: points.map((p) => p.error),
    error_y: { array: points.map((p) => p.standard_error), thickness: 1.2, width: 3 },
    line: { color: look.read("g0"), width: 2 }, marker: { size: 8 },
    text, hoverinfo: "text",
  }];
  if (data.path.chosen !== null) {
    const point = points[data.path.chosen];
    traces.push({
      type: "scatter", mode: "markers", name: "chosen", x: [point.n_rules],
      y: [point.error], hoverinfo: "skip",
      marker: {
        size: 17, symbol: "circle-open", color: look.read("accent"), line: { width: 2.5 },
      },
    });
  }
  return traces;
}

function comparisonTraces(look, place) {
  const symbols = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "star", "x"];
  const done = data.comparison.rows.filter((row) => row.failure === null);
  const traces = [...new Set(done.map((row) => row.method))].map((name, k) => {
    const own = done.filter((row) => row.method === name).sort((a, b) => a.n_rules - b.n_rules);
    return {
      type: "scatter", mode: "lines+markers", name: legendName(name, place),
      x: own.map((row) => row.n_rules), y: own.map((row) => row.error),
      text: own.map(
        (row) => `<b>${plain(name)}</b><br>${Number(row.n_rules.toPrecision(3))} rules<br>` +
          `error ${errorText(row.error)}<br>fidelity ${fidelityText(row.fidelity)}`
      ),
      hoverinfo: "text", line: { color: look.read("g" + (k % 8)), width: 2 },
      marker: { size: 9, symbol: symbols[k % 8] },
    };
  });
  const line = ensembleTrace(look, data.comparison.ensemble_error, largestOf(done));
  return [line, ...traces];
}
