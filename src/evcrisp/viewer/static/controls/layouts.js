// Arrangement of the panes: which are shown, and which is large.

/** Panes of the layout "images". */
const IMAGES = ["raw", "aligned", "denoised", "compare", "contrast"];
/** Sensors with more pixels start with one large pane: in a grid, their pixels would be too small. */
const LARGE_SENSOR = 500_000;

const byId = (id) => document.getElementById(id);

/** Layout in use: "auto" depends on the sensor. */
export function layoutOf(app) {
  const chosen = app.state.get("layout");
  if (chosen !== "auto") return chosen;
  return app.facts.width * app.facts.height > LARGE_SENSOR ? "large" : "grid";
}

export function hiddenPanes(state) {
  return new Set(state.get("hidden").split(",").filter(Boolean));
}

/** Whether the recording and the menus give a pane something to show. */
function hasContent(app, name) {
  if (name === "compare") return Boolean(app.state.get("filter"));
  if (name === "frame") return app.sensors.hasFrames;
  return true;
}

/** Pane that is large in the layout "large": the chosen one, or the first that is shown. */
function mainPane(app, shown) {
  const main = app.state.get("main");
  return shown.includes(main) ? main : shown[0];
}

function columnsFor(n) {
  if (n <= 3) return Math.max(1, n);
  if (n <= 4) return 2;
  return n <= 6 ? 3 : n <= 8 ? 4 : 5;
}

/** Show, hide and arrange the panes. */
export function arrangePanes(app) {
  const layout = layoutOf(app);
  const hidden = hiddenPanes(app.state);
  const names = Object.keys(app.panes);
  const shown = names.filter((name) => hasContent(app, name) && !hidden.has(name) && (layout !== "images" || IMAGES.includes(name)));
  const main = layout === "large" ? mainPane(app, shown) : "";
  for (const [name, pane] of Object.entries(app.panes)) {
    pane.element.hidden = !shown.includes(name);
    pane.element.classList.toggle("is-large", app.state.get("large") === name && shown.includes(name));
    pane.element.classList.toggle("is-main", name === main);
    pane.isCovered = shown.includes(app.state.get("large")) && app.state.get("large") !== name;
  }
  const grid = byId("panes");
  const columns = columnsFor(shown.length);
  grid.dataset.layout = layout;
  grid.style.setProperty("--columns", columns);
  // The last pane fills the rest of its row; thumbnails have two columns.
  const placed = shown.filter((name) => name !== main);
  const wide = layout === "large" ? 2 : columns;
  const rest = 1 + ((wide - (placed.length % wide)) % wide);
  for (const [name, pane] of Object.entries(app.panes)) pane.element.style.setProperty("--span", name === placed.at(-1) ? rest : 1);
  grid.style.setProperty("--columns-narrow", Math.min(2, columns));
  grid.style.setProperty("--rows", Math.max(1, Math.ceil((shown.length - 1) / 2)));
}

/** Buttons of each pane, and the menu that shows hidden panes again. */
export function attachLayouts(app) {
  for (const [name, pane] of Object.entries(app.panes)) {
    const button = (kind, text, title, action) => {
      const element = Object.assign(document.createElement("button"), { textContent: text, title });
      element.dataset.action = kind;
      element.setAttribute("aria-label", `${title}: ${pane.title.textContent}`);
      element.addEventListener("click", action);
      return element;
    };
    const actions = pane.element.querySelector(".pane-actions");
    if (pane.canvas) actions.append(button("save", "⤓", "Save a picture of this pane", () => app.savePicture(name)));
    actions.append(
      button("enlarge", "⤢", "Enlarge this pane, or make it small again", () => app.enlarge(name)),
      button("hide", "×", "Hide this pane; the menu Panes shows it again", () => app.hidePane(name, true)),
    );
    pane.title.addEventListener("dblclick", () => app.enlarge(name));
    pane.title.addEventListener("click", () => layoutOf(app) === "large" && app.state.set({ main: name }));
  }
  const list = byId("panes-list");
  for (const [name, pane] of Object.entries(app.panes)) {
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), { type: "checkbox", name });
    box.addEventListener("change", () => app.hidePane(name, !box.checked));
    label.append(box, pane.title.textContent);
    list.append(label);
  }
}

/** Show in the menu which panes are hidden. */
export function showPanesMenu(app) {
  const hidden = hiddenPanes(app.state);
  for (const box of byId("panes-list").querySelectorAll("input")) {
    box.checked = !hidden.has(box.name);
    box.parentElement.hidden = !hasContent(app, box.name);
  }
}
