"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const root = document.documentElement;

  // Figures name their colours; light, dark and print each define them.
  const themed = (value, key, palette) => {
    if (Array.isArray(value)) return value.map((item) => themed(item, key, palette));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, themed(item, name, palette)]));
    }
    const named = typeof value === "string" && value.startsWith("$") && /color$/.test(key);
    return named ? palette.getPropertyValue("--" + value.slice(1)).trim() : value;
  };

  const layoutOf = (layout, small, palette) => {
    const ink = palette.getPropertyValue("--ink").trim();
    const rule = palette.getPropertyValue("--rule").trim();
    const axis = { gridcolor: rule, linecolor: rule, zeroline: false, automargin: true, ticks: "",
                   tickfont: { size: 12 } };
    const result = {
      font: { family: "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif", size: 13, color: ink },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: small ? { l: 44, r: 8, t: 8, b: 40 } : { l: 60, r: 12, t: 34, b: 48 },
      hovermode: "closest", showlegend: !small, bargap: 0.06,
      legend: { orientation: "h", x: 0, y: 1.0, yanchor: "bottom", xanchor: "left", font: { size: 12.5 } },
      ...layout,
    };
    for (const name of Object.keys(layout).filter((key) => /^[xy]axis/.test(key))) {
      result[name] = { ...axis, ...layout[name] };
      if (result[name].title) result[name].title = { ...result[name].title, standoff: 8, font: { size: 13 } };
    }
    return result;
  };

  const draw = (element) => {
    const palette = getComputedStyle(root);
    const figure = themed(figures[Number(element.dataset.figure)], "", palette);
    const small = element.parentElement.classList.contains("grid");
    return Plotly.react(element, figure.data, layoutOf(figure.layout, small, palette),
                        { displayModeBar: false, responsive: true });
  };
  const all = [...document.querySelectorAll(".figure")];
  const drawAll = () => Promise.all(all.map(draw));

  drawAll().then(() => { root.dataset.drawn = String(all.length); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  // Paper is always light and narrow.
  const printing = (now) => { root.classList.toggle("printing", now); drawAll(); };
  addEventListener("beforeprint", () => printing(true));
  addEventListener("afterprint", () => printing(false));
})();
