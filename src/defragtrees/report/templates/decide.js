/* The threshold of two classes. */
const decider = document.getElementById("decider");
if (decider) {
  const { line, say: tell } = statusLine();
  const name = data.class_words[data.positive], place = element("dl", { class: "edit-figures" });
  const sentence = element("p", { class: "decided" });
  const total = element("span", {}); /* of points, from which rows are flagged */
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
  const least = () => mirrored(cutOf(current));
  /* One that follows from costs may have many digits. */
  const shown = () => exact(isSet(current) ? least() : roundTo(least(), 3));
  const lines = [["flagged rows", "flagged", count], ["share flagged", "flaggedShare", percent],
    ...(data.has_y ? [[`flagged rows that are ${positiveName()}`, "precision", percent],
      [`${positiveName()} rows that are flagged`, "recall", percent],
      [data.error_name, "error", errorText], ["mean cost", "cost", amount]] : [])];
  function show(found, value) {
    showFigures(place, lines, found);
    box.value = value;
    slider.setAttribute("aria-valuetext", `P(${spelled(name)}) at least ${value}`);
    if (form(current).values) {
      const totals = held.filter((_, i) => found.predicted[i] === data.positive).map((one) => totalsOf(current, one)[0]);
      const [pick, words] = (current.unit > 0) === (data.positive === 1) ? [Math.min, "at least"] : [Math.max, "at most"];
      total.textContent = totals.length ? `, here a total of ${words} ${trueMinus(exactGrouped(roundTo(pick(...totals), 9)))} points` : "";
    }
    if (!data.has_y) return;
    const are = (wanted, flagged) => {
      const n = data.expected.reduce((sum, label, i) =>
        sum + ((label === data.positive) === wanted && (found.predicted[i] === data.positive) === flagged), 0);
      return `${count(n)} ${n === 1 ? "is" : "are"}`;
    };
    sentence.textContent = spelled(`Of ${plural(found.flagged, "flagged row")}, ${are(true, true)} ${positiveName()} and ` +
      `${are(false, true)} not. Of the other ${plural(nRows - found.flagged, "row")}, ${are(true, false)} ${positiveName()}.`);
  }
  const commit = (value) => {
    if (!(value > 0 && value < 1)) return tell(`A threshold must be above 0 and below 1 (0.15 is 15 %); it stays ${shown()}.`), false;
    return done(changes.threshold(value), tell, true);
  };
  const box = numberField({ min: 0, max: 1, "data-key": "threshold/number", "aria-label": `Threshold of P(${spelled(name)})` }, shown, commit);
  const slider = element("input", { type: "range", min: 0, step: 1, "data-key": "threshold/slider",
    "aria-label": `Slider for the threshold of P(${spelled(name)})`, on: {
      input: () => show(measure(withThreshold(current, stops[slider.value])), exact(stops[slider.value])),
      change: () => commit(stops[slider.value]) } });

  const costField = (isMissed) => {
    const [t, a] = isMissed ? [data.positive, 1 - data.positive] : [1 - data.positive, data.positive];
    const words = isMissed ? "Cost of a missed row" : "Cost of a false alarm";
    const change = (value) => {
      if (!(value >= 0)) return tell("A cost must be a number that is not negative."), false;
      costs = swapped(costs, t, swapped(costs[t], a, value));
      before.cost = measure(original).cost;
      return shownAgain(false);
    };
    return element("label", {}, `${words} `, numberField({ min: 0, "data-key": isMissed ? "cost/missed" : "cost/alarm" }, () => exact(costs[t][a]), change));
  };
  /* Of the cheapest thresholds, the one that flags the fewest rows. */
  function cheapest() {
    const sums = stops.map((stop) => data.expected.reduce((sum, label, i) => {
      const predicted = likely[i] >= stop ? data.positive : 1 - data.positive;
      return sum + (label < 0 ? 0 : weights[i] * costs[label][predicted]);
    }, 0));
    commit(stops[sums.lastIndexOf(Math.min(...sums))]);
  }
  panels.push(() => {
    findStops();
    slider.max = stops.length - 1;
    const passed = stops.findIndex((stop) => stop >= least());
    slider.value = passed < 0 ? stops.length - 1 : passed;
    show(measure(current), shown());
    enableDeeds(decider);
  });
  decider.append(
    element("p", { class: "asked" }, "Predict ", named(positiveName()), ` if P(${spelled(name)}) \u2265 `, box, total, " ", slider),
    line, place, ...(data.has_y ? [sentence, element("p", { class: "costs" }, costField(true), costField(false),
      button("Cheapest threshold", "cheapest", cheapest))] : []),
    element("div", { class: "edit-deeds" }, ...deeds(tell)));
  shownAgain(false);
}
