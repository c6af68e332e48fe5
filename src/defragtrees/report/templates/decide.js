/* The threshold of two classes: a curve of precision, recall and cost, with a handle on it. */
const decider = document.getElementById("decider");
if (decider) {
  const name = data.class_words[data.positive], sentence = element("p", { class: "decided" });
  const total = element("span", {}); /* of points, from which rows are flagged */
  const chart = element("div", { class: "chart", "aria-hidden": "true" });
  let stops = [], likely = [], held = [];

  /* A short threshold above one probability, and not above the next. */
  function between(low, high, slack) {
    for (let digits = 2; digits <= 12; digits += 1) {
      let least = Number(high.toFixed(digits));
      if (least > high - slack) least = Number((least - 10 ** -digits).toFixed(digits));
      if (least > low + slack && least > 0 && least < 1) return [least];
    }
    return [];
  }
  /* One step for each probability of the rows, and one above all. */
  function findStops() {
    ({ held } = predict(current));
    likely = held.map((one) => form(current).outputs(current, one)[data.positive]);
    const distinct = [...new Set(likely)].sort((a, b) => a - b).filter((p, i, all) => !i || p - all[i - 1] > 4e-9);
    /* The library compares log-odds of points, and shares of the second class. */
    const slack = form(current).values || data.positive === 0 ? 1e-9 : 0;
    stops = distinct.flatMap((p, i) => between(i ? distinct[i - 1] : 0, p, slack));
    stops.push(...between(distinct[distinct.length - 1], 1, 1e-9));
  }
  /* What each step brings, as shares: the highest cost is 1. */
  function curves() {
    const found = stops.map((stop) => {
      const sums = { flagged: 0, right: 0, all: 0, cost: 0 };
      data.expected.forEach((label, i) => {
        const isIn = likely[i] >= stop, isIt = label === data.positive;
        if (isIn) sums.flagged += weights[i];
        if (isIt) sums.all += weights[i];
        if (isIn && isIt) sums.right += weights[i];
        if (label >= 0) sums.cost += weights[i] * costs[label][isIn ? data.positive : 1 - data.positive];
      });
      return { precision: sums.flagged ? sums.right / sums.flagged : null, recall: sums.right / sums.all, cost: sums.cost };
    });
    const most = Math.max(...found.map((one) => one.cost)) || 1;
    return found.map((one) => ({ ...one, share: one.cost / most }));
  }
  /* Steps lie side by side, as far apart as those of the slider below. */
  function draw(place) {
    if (!data.has_y || !stops.length) return;
    const [width, high, left] = [600, 150, 40], found = curves(), last = Math.max(1, stops.length - 1);
    const x = (i) => left + 8 + (i / last) * (width - left - 16), y = (share) => 8 + (1 - share) * (high - 16);
    const drawn = [0, 0.5, 1].map((share) => `<path class="grid" d="M${left} ${y(share)}H${width}"/><text x="${left - 6}" y="${y(share) + 4}" text-anchor="end">${100 * share}%</text>`);
    [["precision", "g2", ""], ["recall", "g1", "6 4"], ["share", "quiet", "2 3"]].forEach(([key, colour, dash]) => {
      const points = found.flatMap((one, i) => (isKnown(one[key]) ? [`${x(i).toFixed(1)} ${y(one[key]).toFixed(1)}`] : []));
      drawn.push(`<path class="curve" stroke="var(--${colour})" stroke-dasharray="${dash}" d="M${points.join("L")}"/>`);
      if (isKnown(found[place][key])) drawn.push(`<circle cx="${x(place)}" cy="${y(found[place][key])}" r="4.5" fill="var(--${colour})"/>`);
    });
    drawn.push(`<path class="handle" d="M${x(place)} 0V${high}"/>`);
    chart.innerHTML = `<svg viewBox="0 0 ${width} ${high}">${drawn.join("")}</svg>`;
  }
  const least = () => mirrored(cutOf(current));
  /* One that follows from costs may have many digits. */
  const shown = () => exact(isSet(current) ? least() : roundTo(least(), 3));
  function show(found, value) {
    draw(Number(slider.value));
    box.value = value;
    slider.setAttribute("aria-valuetext", `P(${spelled(name)}) at least ${value}`);
    if (form(current).values) {
      const totals = held.filter((_, i) => found.predicted[i] === data.positive).map((one) => totalsOf(current, one)[0]);
      const [pick, words] = (current.unit > 0) === (data.positive === 1) ? [Math.min, "at least"] : [Math.max, "at most"];
      total.textContent = totals.length ? `, here a total of ${words} ${trueMinus(exactGrouped(roundTo(pick(...totals), 9)))} points` : "";
    }
    const are = (wanted, flagged) => {
      const n = data.expected.reduce((sum, label, i) =>
        sum + ((label === data.positive) === wanted && (found.predicted[i] === data.positive) === flagged), 0);
      return `${count(n)} ${n === 1 ? "is" : "are"}`;
    };
    sentence.textContent = spelled(data.has_y ? `Of ${plural(found.flagged, "flagged row")}, ${are(true, true)} ${positiveName()} and `
      + `${are(false, true)} not. Of the other ${plural(nRows - found.flagged, "row")}, ${are(true, false)} ${positiveName()}.`
      : `${plural(found.flagged, "flagged row")} of ${count(nRows)}.`);
  }
  const commit = (value) => {
    if (!(value > 0 && value < 1)) return say(`A threshold must be above 0 and below 1 (0.15 is 15%); it stays ${shown()}.`), false;
    return done(changes.threshold(value), say, true);
  };
  const box = numberField({ min: 0, max: 1, "data-key": "threshold/number", "aria-label": `Threshold of P(${spelled(name)})` }, shown, commit);
  const slider = element("input", { type: "range", min: 0, step: 1, "data-key": "threshold/slider",
    "aria-label": `Slider for the threshold of P(${spelled(name)})`, on: {
      input: () => {
        const tried = withThreshold(current, stops[slider.value]), found = measure(tried);
        show(found, exact(stops[slider.value]));
        showAll(found, tried);
      },
      change: () => commit(stops[slider.value]) } });

  const costField = (isMissed) => {
    const [t, a] = isMissed ? [data.positive, 1 - data.positive] : [1 - data.positive, data.positive];
    const words = isMissed ? "Cost of a missed row" : "Cost of a false alarm";
    const change = (value) => {
      if (!(value >= 0)) return say("A cost must be a number that is not negative."), false;
      costs = swapped(costs, t, swapped(costs[t], a, value));
      before.cost = measure(original).cost;
      return shownAgain(false);
    };
    return element("label", {}, `${words} `, numberField({ min: 0, "data-key": isMissed ? "cost/missed" : "cost/alarm" }, () => exact(costs[t][a]), change));
  };
  /* Of the cheapest thresholds, the one that flags the fewest rows. */
  function cheapest() {
    const sums = curves().map((one) => one.cost);
    commit(stops[sums.lastIndexOf(Math.min(...sums))]);
  }
  panels.push(() => {
    findStops();
    slider.max = stops.length - 1;
    const passed = stops.findIndex((stop) => stop >= least());
    slider.value = passed < 0 ? stops.length - 1 : passed;
    show(measure(current), shown());
  });
  const key = (words, kind) => element("li", { class: kind }, words);
  decider.prepend(element("h3", {}, "Threshold"));
  decider.append(
    element("p", { class: "asked" }, "Predict ", named(positiveName()), ` if P(${spelled(name)}) \u2265 `, box, total),
    ...(data.has_y ? [element("ul", { class: "keys", role: "list" }, key("precision: flagged rows that are right", "g2"),
      key("recall: rows found", "g1"), key("cost, as a share of the highest", "cost"))] : []),
    element("div", { class: "curves" }, chart, slider), sentence,
    ...(data.has_y ? [element("p", { class: "costs" }, costField(true), costField(false), button("Cheapest threshold", "cheapest", cheapest))] : []));
  shownAgain(false);
}
