"use strict";
// Sorting, filtering and opening rows of the table of tasks.
const table = document.getElementById("table");
const body = table.tBodies[0];
const none = document.getElementById("none");
const rows = [...body.rows];
const texts = rows.map((row) => (row.textContent + (row.dataset.e ?? "")).toLowerCase());
const ids = { text: "f-text", level: "f-level", run: "f-run", verdict: "f-verdict", speed: "f-speed" };
const field = Object.fromEntries(Object.entries(ids).map(([k, id]) => [k, document.getElementById(id)]));

// The sections of all candidates, unpacked once when the first is wanted.
let details;
async function unpack() {
  const packed = document.getElementById("details").textContent.trim();
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

async function open(row, wanted) {
  const button = row.querySelector(".open");
  const expanded = button.getAttribute("aria-expanded") === "true";
  if (wanted === undefined) wanted = !expanded;
  if (wanted === expanded) return;
  button.setAttribute("aria-expanded", wanted);
  if (!wanted) return void row.nextElementSibling.remove();
  const detail = document.createElement("tr");
  detail.className = "detail";
  const cell = detail.insertCell();
  cell.colSpan = row.cells.length;
  cell.textContent = "Loading";
  row.after(detail);
  try {
    details ??= unpack();
    cell.innerHTML = (await details)[row.id] ?? "Nothing more is known.";
  } catch (error) {
    cell.textContent = "This browser cannot unpack the details (" + error.message + ").";
  }
}

function closeAll() {
  for (const detail of body.querySelectorAll(".detail")) {
    detail.previousElementSibling.querySelector(".open").setAttribute("aria-expanded", false);
    detail.remove();
  }
}

function filter() {
  const words = field.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const is = (control, value) => !control || !control.value || control.value === value;
  closeAll();
  let shown = 0;
  rows.forEach((row, i) => {
    const d = row.dataset;
    row.hidden = !(is(field.level, d.l) && is(field.run, d.r) && is(field.verdict, d.v) &&
      is(field.speed, d.s) && words.every((word) => texts[i].includes(word)));
    shown += !row.hidden;
  });
  document.getElementById("shown").textContent = shown + " of " + rows.length;
  none.hidden = shown > 0;
}

function showAll() {
  for (const control of Object.values(field)) if (control) control.value = "";
  filter();
}

function sort(header) {
  const column = header.cellIndex;
  const numeric = header.classList.contains("n");
  // The first click puts the largest number, or the first word, on top.
  const now = header.getAttribute("aria-sort");
  const up = now ? now === "descending" : !numeric;
  const key = (row) => row.cells[column].dataset.k;
  const compare = numeric ? (a, b) => a - b : (a, b) => a.localeCompare(b, "en", { numeric: true });
  closeAll();
  body.append(...[...rows].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    return up ? compare(x, y) : compare(y, x);
  }));
  for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", up ? "ascending" : "descending");
}

async function follow() {
  const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!row || !body.contains(row)) return;
  if (row.hidden) showAll();
  await open(row, true);
  row.scrollIntoView({ block: "start" });
  row.querySelector(".open").focus({ preventScroll: true });
}

table.tHead.addEventListener("click", (event) => {
  const header = event.target.closest("th");
  if (header) sort(header);
});
body.addEventListener("click", (event) => {
  if (event.target.closest(".detail") || String(getSelection())) return;
  open(event.target.closest("tr"));
});
for (const control of Object.values(field)) control?.addEventListener("input", filter);
none.querySelector("button").addEventListener("click", () => {
  showAll();
  field.text.focus();
});
document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", follow);
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
follow();
