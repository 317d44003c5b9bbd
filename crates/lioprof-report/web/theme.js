// Light or dark, as the system has it or as the switch says. Colours are those of theme.css; charts read them here.

let chosenTheme = null;
const themeFollowers = [];
const systemDark = matchMedia("(prefers-color-scheme: dark)");

function applyTheme() {
  const dark = chosenTheme ? chosenTheme === "dark" : systemDark.matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  readColors();
  themeFollowers.forEach((callback) => callback());
}

/** Chooses `light`, `dark`, or `null` for what the system has. */
function chooseTheme(theme) {
  chosenTheme = theme;
  applyTheme();
}

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

let colors = {};

function readColors() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = [
    "ink",
    "muted",
    "line",
    "grid",
    "surface",
    "accent",
    "read",
    "write",
    "queue",
    "service",
    "true",
    "expansion",
    "unclassified",
    "warning",
    "critical",
    "before",
    "after",
    "empty",
  ];
  colors = Object.fromEntries(names.map((name) => [name, of(name)]));
  colors.clients = [0, 1, 2, 3, 4, 5, 6].map((i) => of(`client-${i}`));
  colors.heat = steps(
    [0, 1, 2, 3, 4, 5, 6, 7].map((i) => of(`heat-${i}`)),
    48,
  );
  colors.font = parseFloat(style.fontSize) * 0.8;
  colors.family = getComputedStyle(document.body).fontFamily;
}

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function mixed(from, to, share) {
  const [a, b] = [rgb(from), rgb(to)];
  return `#${a
    .map((it, i) =>
      Math.round(it + (b[i] - it) * share)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

/** A scale of `n` colours through these. */
function steps(anchors, n) {
  return Array.from({ length: n }, (_, i) => {
    const at = (i / (n - 1)) * (anchors.length - 1);
    const low = Math.min(Math.floor(at), anchors.length - 2);
    return mixed(anchors[low], anchors[low + 1], at - low);
  });
}

/** Colour of a share of 1 on the heat scale. */
function heatColor(share) {
  return colors.heat[Math.max(0, Math.min(colors.heat.length - 1, Math.floor(share * colors.heat.length)))];
}

/** A paler version that hides what is below. */
function pale(color, share = 0.4) {
  return mixed(colors.surface, color, share);
}

/** Hatching in a colour, for what is only estimated: a pattern that ECharts and canvases take as a fill. */
function hatch(color) {
  const size = 8;
  const canvas = document.createElement("canvas");
  canvas.width = size;
  canvas.height = size;
  const pen = canvas.getContext("2d");
  pen.fillStyle = pale(color, 0.25);
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = color;
  pen.lineWidth = 2;
  pen.beginPath();
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift - 1, size + 1);
    pen.lineTo(shift + size + 1, -1);
  }
  pen.stroke();
  return { image: canvas, repeat: "repeat" };
}

/** Colour of a client: the same wherever it is shown. */
function clientColor(number) {
  return number === null || Number.isNaN(number) ? colors.muted : colors.clients[number % colors.clients.length];
}

systemDark.addEventListener("change", () => !chosenTheme && applyTheme());
