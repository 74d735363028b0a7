// The theme is applied here, before the first paint; everything else waits for the page.
const root = document.documentElement;
const memory = {
  get: () => { try { return localStorage.getItem("paramedic-theme"); } catch { return null; } },
  set: (value) => { try { localStorage.setItem("paramedic-theme", value); } catch { /* file:// may forbid it */ } },
};
if (["light", "dark"].includes(memory.get())) root.dataset.theme = memory.get();

function themeButton() {
  const button = document.getElementById("theme");
  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const label = () => { button.textContent = isDark() ? "Light theme" : "Dark theme"; };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    memory.set(root.dataset.theme);
    label();
  });
  label();
  button.hidden = false;
}

// Under the pointer, or with the arrow keys: the values at one place of a chart, read out below it. A page that changes
// while it is open has charts that come and go, so the listeners sit on the document.
const readings = new WeakMap();
const remembered = (figure, name) => {
  if (!readings.has(figure)) readings.set(figure, JSON.parse(figure.querySelector(name).textContent));
  return readings.get(figure);
};
const say = (figure, text) => { figure.querySelector(".reading").textContent = text || "\u00a0"; };
const nearest = (points, x) => points.reduce((a, b) => (Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a));

function readCurves(figure, x) {
  const [labels, curves] = remembered(figure, ".readings");
  const found = curves.map((points) => nearest(points, x));
  const closest = nearest(found, x);
  const cursor = figure.querySelector(".cursor");
  for (const end of ["x1", "x2"]) cursor.setAttribute(end, `${closest[0] / 10}%`);
  cursor.setAttribute("visibility", "visible");
  say(figure, found.map((point, i) => `${labels[i]}: ${point[2]} at step ${point[1]}`).join("   ·   "));
  return closest[0];
}

function value(data, level) {
  if (level === 0) return "no value";
  if (level === 1) return "exactly 0";
  if (level === 2) return "not finite";
  const share = (level - 3) / 252, [low, high] = data.ends;
  const found = data.log ? low * (high / low) ** share : low + (high - low) * share;
  return `${level === 3 ? "at most" : "about"} ${found.toPrecision(2)}`;
}

function readCell(figure, row, column) {
  const data = remembered(figure, ".cells-data");
  const place = { row: Math.min(Math.max(row, 0), data.names.length - 1), column: Math.min(Math.max(column, 0), data.steps.length - 1) };
  const cells = figure.querySelector(".cells"), cursor = figure.querySelector(".cursor");
  const height = Number(cells.dataset.height) / data.names.length;
  cursor.setAttribute("x", `${100 * place.column / data.steps.length}%`);
  cursor.setAttribute("y", place.row * height);
  cursor.setAttribute("width", `${100 / data.steps.length}%`);
  cursor.setAttribute("visibility", "visible");
  const level = atob(data.levels).charCodeAt(place.row * data.steps.length + place.column);
  say(figure, `${data.names[place.row]}: ${value(data, level)} ${data.at} ${data.steps[place.column]}`);
  return place;
}

const places = new WeakMap(); // where the arrow keys are
const drawing = (event) => (event.target instanceof Element ? event.target.closest(".plot, .cells") : null);

function pointed(event) {
  const svg = drawing(event);
  if (!svg) return;
  const figure = svg.closest("figure"), box = svg.getBoundingClientRect();
  const x = (event.clientX - box.left) / box.width, y = event.clientY - box.top;
  if (svg.matches(".plot")) { places.set(svg, readCurves(figure, 1000 * x)); return; }
  const data = remembered(figure, ".cells-data");
  const row = Math.floor(y / Number(svg.dataset.height) * data.names.length);
  if (row < data.names.length) places.set(svg, readCell(figure, row, Math.floor(x * data.steps.length)));
}

function pressed(event) {
  const svg = drawing(event);
  const [right, down] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key] || [0, 0];
  if (!svg || !(right || (down && svg.matches(".cells")))) return;
  event.preventDefault();
  const figure = svg.closest("figure");
  if (svg.matches(".cells")) {
    const at = places.get(svg) || { row: 0, column: -right };
    places.set(svg, readCell(figure, at.row + down, at.column + right));
    return;
  }
  const all = [...new Set(remembered(figure, ".readings")[1].flat().map((point) => point[0]))].sort((a, b) => a - b);
  const now = places.has(svg) ? all.indexOf(places.get(svg)) : -right;
  places.set(svg, readCurves(figure, all[Math.min(Math.max(now + right, 0), all.length - 1)]));
}

function left(event) {
  const svg = drawing(event);
  if (!svg || (event.relatedTarget instanceof Element && svg.contains(event.relatedTarget))) return;
  svg.closest("figure").querySelector(".cursor").setAttribute("visibility", "hidden");
  say(svg.closest("figure"), "");
}

document.addEventListener("DOMContentLoaded", themeButton);
document.addEventListener("pointermove", pointed);
document.addEventListener("pointerout", left);
document.addEventListener("focusout", left);
document.addEventListener("keydown", pressed);
