/* Numbers and dates as the library writes them, digit for digit. */

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const count = (value) => grouped(String(value));
const plural = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
const trueMinus = (text) =>
  text.replace(/(?<![\w.-])-(?=\d|inf)|(?<=\de)-(?=\d)/g, "\u2212");

/* A recorded text, with the signs of print; a category such as ">=200" stays as it is. */
const typographic = { "<=": "\u2264", ">=": "\u2265" };
const typeset = (text) => trueMinus(text.replace(/(?<= )[<>]=(?![\w.-])/g, (sign) => typographic[sign]));

/* Fixed decimals; ties are rounded to the even digit, as in Python. */
function fixed(value, digits) {
  const text = Math.abs(value).toFixed(digits);
  const exact = Math.abs(value).toFixed(Math.min(100, digits + 60));
  const rest = digits ? exact.slice(exact.indexOf(".") + 1 + digits) : exact.split(".")[1] || "";
  let result = text;
  if (/^50*$/.test(rest)) {
    const low = digits ? exact.slice(0, exact.length - rest.length) : exact.split(".")[0];
    if (Number(low[low.length - 1]) % 2 === 0) result = low;
  }
  return (value < 0 ? "-" : "") + result;
}

/* A number rounded to significant digits. */
function roundTo(value, digits) {
  if (value === 0) return 0;
  const decimals = digits - 1 - Number(value.toExponential(digits - 1).split("e")[1]);
  if (decimals >= 0) return Number(fixed(value, Math.min(100, decimals)));
  const unit = 10 ** -decimals, low = Math.floor(value / unit), rest = value / unit - low;
  return (rest === 0.5 ? low + (low % 2 !== 0) : Math.round(value / unit)) * unit;
}

/* A number exactly as stored, in as few characters as possible. */
function exact(value) {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
  const [mantissa, exponent] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 16) {
    const plain = String(value);
    return plain.includes("e") ? value.toFixed(Math.max(0, mantissa.replace(/^-?\d\.?/, "").length - power)) : plain;
  }
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}
function withCommas(text, fewest) {
  const [whole, ...rest] = text.split(".");
  return /^-?\d+$/.test(whole) && whole.replace("-", "").length >= fewest ? [grouped(whole), ...rest].join(".") : text;
}
/* The same with separators from 10,000 on. */
const exactGrouped = (value) => withCommas(exact(value), 5);
const signed = (value) => (value > 0 ? "+" : "") + exactGrouped(value);

/* A measured number: few digits, separators, no exponent. */
function rounded(value, digits = 3) {
  const text = exact(roundTo(value, digits));
  return Math.abs(value) < 1e15 ? withCommas(text, 4) : text;
}
const isKnown = (value) => value !== null && value !== undefined && !Number.isNaN(value);
const amount = (value) => (isKnown(value) ? trueMinus(rounded(value)) : "\u2013");
const rowCount = (value) => {
  if (!isKnown(value)) return "an unknown number of";
  const isWhole = value >= 10 || Math.abs(value - Math.round(value)) < 1e-6 * Math.max(value, 1);
  return grouped(fixed(value, isWhole ? 0 : 1));
};

function rateText(rate) {
  const apart = Math.min(rate, 1 - rate);
  const digits = apart <= 0 ? 0 : apart >= 0.001 ? 1 : 2;
  return `${fixed(100 * rate, digits)}%`;
}
const threeDigits = (value) => trueMinus(fixed(value, 3));

/* A probability and its interval, with the decimals that the interval supports. */
const percentDigits = ([low, high]) => (high - low >= 0.02 ? 0 : high - low >= 0.002 ? 1 : 2);
function percent(value, digits = 0) {
  const unit = Number(`1e-${digits}`);
  if (100 * value > 0 && 100 * value < unit / 2) return `<${exact(unit)}%`;
  if (100 * value >= 100 - unit / 2 && 100 * value < 100 - 1e-10) return `>${fixed(100 - unit, digits)}%`;
  return `${fixed(100 * value, digits)}%`;
}
function percentRange(ends) {
  const [low, high] = ends.map((end) => fixed(100 * end, percentDigits(ends)));
  return `${low}–${high}%`;
}

/* Days since 1970, since midnight, or between two times. */
const microseconds = 86400000000;
const clock = (day) => {
  const text = new Date(Math.floor(day / 1000)).toISOString().slice(11, 23) + String(day % 1000).padStart(3, "0");
  return text.replace(/0+$/, "").replace(/\.$/, "").replace(/:00$/, "");
};
const splitDays = (days) => {
  const all = BigInt(Math.round(days * microseconds)), size = BigInt(microseconds);
  const rest = ((all % size) + size) % size;
  return [Number((all - rest) / size), Number(rest)];
};
const dayText = (days) => new Date(days * 86400000).toISOString().slice(0, 10);
const isDate = (days) => days >= -719162 && days < 2932896;
const kinds = {
  date: (days) => (days === Math.floor(days) && isDate(days) ? dayText(days) : kinds.datetime(days)),
  datetime: (days) => {
    if (!isDate(days)) return `day ${exact(days)}`;
    const [day, rest] = splitDays(days);
    return `${dayText(day)} ${clock(rest)}`;
  },
  time: (days) => (days >= 0 && days < 1 ? clock(splitDays(days)[1]) : `day ${exact(days)}`),
  duration: (days) => {
    const whole = Math.floor(Math.abs(days)), rest = Math.abs(days) - whole;
    const parts = [...(whole ? [plural(whole, "day")] : []), ...(rest || !whole ? [clock(splitDays(rest)[1])] : [])];
    return (days < 0 ? "-" : "") + parts.join(" ");
  },
};

/* The next double above or below. */
function next(value, isUp) {
  if (value === 0) return isUp ? 5e-324 : -5e-324;
  const float = new Float64Array([value]), bits = new BigInt64Array(float.buffer);
  bits[0] += value > 0 === isUp ? 1n : -1n;
  return float[0];
}
const above = (value) => next(value, true);
const below = (value) => next(value, false);

/* The height at x of the line through points with ascending places. */
function interpolate(x, places, heights) {
  const k = places.filter((one) => one <= x).length;
  if (!k || k === places.length) return heights[k && k - 1];
  return heights[k - 1] + (heights[k] - heights[k - 1]) * (x - places[k - 1]) / (places[k] - places[k - 1]);
}
/* Wilson's 95% interval of a rate. */
function wilson(rate, n) {
  const z = 1.959963984540054 ** 2 / n, middle = rate + z / 2;
  const reach = Math.sqrt(z * (rate * (1 - rate) + z / 4));
  const low = Math.min(Math.max((middle - reach) / (1 + z), 0), rate);
  return [low, Math.max(Math.min((middle + reach) / (1 + z), 1), rate)];
}
