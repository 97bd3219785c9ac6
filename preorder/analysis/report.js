"use strict";
// A click on a column's head, or Enter or Space, sorts the table's rows by it; once more turns them round.
// A column whose cells all begin with a number sorts by it, the greatest first; "–" stands for none, and comes last.
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const number = (text) => Number((text.replace("−", "-").match(/^[+-]?\d+(\.\d+)?/) ?? ["NaN"])[0]);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const rows = [...body.rows].map((row) => ({ row, text: row.cells[column].textContent }));
      const known = rows.filter(({ text }) => text !== "–");
      const none = rows.filter(({ text }) => text === "–");
      const numeric = known.every(({ text }) => !Number.isNaN(number(text)));
      const before = head.getAttribute("aria-sort");
      const order = before === "none" ? (numeric ? "descending" : "ascending")
        : before === "ascending" ? "descending" : "ascending";
      const sign = order === "ascending" ? 1 : -1;
      known.sort((a, b) => sign * (numeric ? number(a.text) - number(b.text) : a.text.localeCompare(b.text)));
      body.append(...known.concat(none).map(({ row }) => row));
      heads.forEach((other) => other.setAttribute("aria-sort", other === head ? order : "none"));
    });
  });
}
// Paper cannot be unfolded.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
