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

// Under the pointer: the nearest value of each curve, read out below the chart.
function pointerReading() {
  const chart = document.getElementById("chart");
  if (!chart) return;
  const curves = JSON.parse(document.getElementById("readings").textContent);
  const labels = [...document.querySelectorAll(".legend li")].map((item) => item.textContent.trim());
  const cursor = document.getElementById("cursor");
  const reading = document.getElementById("reading");
  const nearest = (points, x) => points.reduce((a, b) => (Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a));
  chart.addEventListener("pointermove", (event) => {
    const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse()).x;
    const found = curves.map((points) => nearest(points, x));
    const closest = found.reduce((a, b) => (Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a));
    cursor.setAttribute("x1", closest[0]);
    cursor.setAttribute("x2", closest[0]);
    cursor.removeAttribute("hidden");
    reading.textContent = found.map((point, i) => `${labels[i]}: ${point[2]} at step ${point[1]}`).join("   ·   ");
  });
  chart.addEventListener("pointerleave", () => {
    cursor.setAttribute("hidden", "");
    reading.textContent = "\u00a0";
  });
}

document.addEventListener("DOMContentLoaded", () => { themeButton(); pointerReading(); });
