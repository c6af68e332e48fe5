/* Numbers as the library writes them, digit for digit. */

const space = "\u00a0", minus = "\u2212";
const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const count = (value) => grouped(String(value));
const plural = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
const trueMinus = (text) =>
  text.replace(/(?<![\w.-])-(?=\d|inf)|(?<=\de)-(?=\d)/g, minus);

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

/* A measured number: three digits, separators, no exponent. */
function amount(value) {
  if (value === null || Number.isNaN(value)) return "\u2013";
  const rounded = roundTo(value, 3), size = Math.abs(rounded);
  const text = exact(rounded);
  if (size < 1 || size >= 1e15) return trueMinus(text);
  const [whole, ...rest] = text.split(".");
  return trueMinus([grouped(whole), ...rest].join("."));
}

function percent(share) {
  if (share > 0 && share < 0.005) return `<1${space}%`;
  if (share >= 0.995 && share < 1 - 1e-12) return `>99${space}%`;
  return `${fixed(100 * share, 0)}${space}%`;
}

function rateText(rate) {
  const apart = Math.min(rate, 1 - rate);
  const digits = apart <= 0 ? 0 : apart >= 0.001 ? 1 : 2;
  return `${fixed(100 * rate, digits)}${space}%`;
}

const threeDigits = (value) => trueMinus(fixed(value, 3));
const shareText = (error) => `${fixed(100 * error, 1)}${space}%`;

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
/* The same with separators from 10,000 on. */
function exactGrouped(value) {
  const text = exact(value), [whole, ...rest] = text.split(".");
  return /^-?\d{5,}$/.test(whole) ? [grouped(whole), ...rest].join(".") : text;
}
const signed = (value) => (value > 0 ? "+" : "") + exactGrouped(value);

/* The next double above or below. */
function next(value, isUp) {
  if (value === 0) return isUp ? 5e-324 : -5e-324;
  const float = new Float64Array([value]), bits = new BigInt64Array(float.buffer);
  bits[0] += value > 0 === isUp ? 1n : -1n;
  return float[0];
}
const above = (value) => next(value, true);
const below = (value) => next(value, false);

/* Wilson's 95 % interval of a rate. */
function wilson(rate, n) {
  const z = 1.959963984540054 ** 2 / n, middle = rate + z / 2;
  const reach = Math.sqrt(z * (rate * (1 - rate) + z / 4));
  const low = Math.min(Math.max((middle - reach) / (1 + z), 0), rate);
  return [low, Math.max(Math.min((middle + reach) / (1 + z), 1), rate)];
}
