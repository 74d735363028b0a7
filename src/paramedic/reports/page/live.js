// Sections arrive whole, as the server has drawn them. What the reader has opened, marked or focused stays as it was.
let point = null; // where the pointer is, for a chart that is exchanged under it
document.addEventListener("pointermove", (event) => { point = { clientX: event.clientX, clientY: event.clientY }; });

function exchange(name, text) {
  const part = document.getElementById(`part-${name}`);
  if (!part) return;
  const open = [...part.querySelectorAll("details[open][id]")].map((details) => details.id);
  const marked = [...part.querySelectorAll("input:checked")].map((box) => box.value);
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const figure = focused?.closest("figure"), place = focused && places.get(focused);
  part.innerHTML = text;
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  for (const box of part.querySelectorAll("input")) box.checked = marked.includes(box.value);
  const again = focused && (focused.id ? document.getElementById(focused.id)
    : figure && document.getElementById(figure.id)?.querySelector(focused.matches(".plot, .cells") ? ".plot, .cells" : focused.tagName));
  if (again) {
    again.focus({ preventScroll: true });
    if (place !== undefined && place !== null && again.matches(".plot")) places.set(again, readCurves(again.closest("figure"), place));
    if (place?.row !== undefined) places.set(again, readCell(again.closest("figure"), place.row, place.column));
  } else if (point) {
    const target = document.elementFromPoint(point.clientX, point.clientY);
    if (target && part.contains(target)) pointed({ ...point, target });
  }
}

const frame = document.title;
function follow() {
  const source = new EventSource(`events${location.search}`);
  source.addEventListener("parts", (event) => {
    for (const [name, text] of Object.entries(JSON.parse(event.data))) exchange(name, text);
    const verdict = document.querySelector(".verdict h1");
    if (verdict) document.title = `${verdict.innerText} · ${frame}`;
  });
  source.addEventListener("error", () => {
    const state = document.querySelector("#part-state .state");
    if (state) { state.className = "state lost"; state.textContent = "The server cannot be reached. What is shown here is its last word."; }
  });
}
// A note goes to the journal; the page shows it when the journal has it.
async function write(event) {
  event.preventDefault();
  const text = document.getElementById("note-text"), assumption = document.getElementById("note-assumption");
  const said = document.getElementById("note-said");
  said.textContent = "";
  try {
    const answer = await fetch("notes", {
      method: "POST", headers: { "content-type": "application/json" },
      body: JSON.stringify({ text: text.value, assumption: assumption.checked }),
    });
    said.textContent = await answer.text();
    if (answer.ok) { text.value = ""; assumption.checked = false; }
  } catch { said.textContent = "The server cannot be reached. The note was not written."; }
}
document.addEventListener("DOMContentLoaded", () => {
  follow();
  document.getElementById("note")?.addEventListener("submit", write);
});
