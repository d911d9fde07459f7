"use strict";
(() => {
  const keyOf = (row, column) => {
    const text = row.cells[column].dataset.sort;
    return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  };
  // Text comes after numbers, in either direction.
  const compare = (a, b, sign) => {
    if (typeof a === typeof b) return sign * (a < b ? -1 : a > b ? 1 : 0);
    return typeof a === "number" ? -1 : 1;
  };
  for (const button of document.querySelectorAll("table.sortable th button")) {
    button.addEventListener("click", () => {
      const header = button.closest("th");
      const down = header.getAttribute("aria-sort") !== "descending";
      for (const other of header.parentElement.cells) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = header.closest("table").tBodies[0];
      const sign = down ? -1 : 1;
      const rows = [...body.rows].sort(
        (a, b) => compare(keyOf(a, header.cellIndex), keyOf(b, header.cellIndex), sign));
      body.append(...rows);
    });
  }
})();
