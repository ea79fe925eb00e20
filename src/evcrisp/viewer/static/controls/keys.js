// Keyboard shortcuts, and their list in the help.

export function attachKeys(app) {
  const { state } = app;
  const cycle = (id) => {
    const options = [...document.getElementById(id).options].filter((option) => !option.disabled);
    const index = options.findIndex((option) => option.value === state.get(id));
    state.set({ [id]: options[(index + 1) % options.length].value });
  };
  const panes = ["raw", "aligned", "denoised", "contrast", "confidence", "cloud", "front", "compare", "layers"];
  const actions = [
    ["Space", "play or pause", [" "], () => app.play(!app.isPlaying)],
    ["← →", "previous or next window; with Shift, ten windows", ["ArrowLeft", "ArrowRight"], (event) => app.step((event.key === "ArrowLeft" ? -1 : 1) * (event.shiftKey ? 10 : 1))],
    ["Home End", "start or end of the recording", ["Home", "End"], (event) => app.goTo(event.key === "Home" ? 0 : app.facts.duration_us)],
    ["[ ]", "shorter or longer window", ["[", "]"], (event) => app.resize(event.key === "[" ? 1 / 1.5 : 1.5)],
    ["N", "windows that the events choose on or off", ["n"], () => app.switchAuto()],
    ["- +", "slower or faster", ["-", "+", "="], (event) => app.changeSpeed(event.key === "-" ? -1 : 1)],
    ["M", "next method", ["m"], () => cycle("method")],
    ["S", "signal and noise, signal only, noise only", ["s"], () => cycle("show")],
    ["A", "accumulation", ["a"], () => cycle("accumulation")],
    ["C", "colors", ["c"], () => cycle("colors")],
    ["L", "colors by label or by layer", ["l"], () => cycle("by")],
    ["B", "boxes of layers on or off", ["b"], () => state.set({ boxes: !state.get("boxes") })],
    ["W", "flow: none, motion arrow, arrows, colors", ["w"], () => cycle("flow")],
    ["V", "contrast map: raw, aligned, kept", ["v"], () => cycle("map")],
    ["F", "Pareto front on or off", ["f"], () => state.set({ front: !state.get("front") })],
    [", .", "previous or next point of the front", [",", "."], (event) => app.stepPoint(event.key === "," ? -1 : 1)],
    ["1 … 9", "enlarge a pane", ["1", "2", "3", "4", "5", "6", "7", "8", "9"], (event) => app.enlarge(panes[Number(event.key) - 1])],
    ["G", "layout: auto, grid, one large, four images", ["g"], () => cycle("layout")],
    ["P", "save a picture of all panes", ["p"], () => app.savePicture("")],
    ["0", "show the whole sensor", ["0"], () => state.set({ zoom: 1, cx: -1, cy: -1 })],
    ["T", "light or dark", ["t"], () => app.switchTheme()],
    ["Esc", "cancel; close a large pane; deselect the point of the front", ["Escape"], () => app.escape()],
    ["?", "this help", ["?"], () => app.help()],
  ];
  const list = document.getElementById("keys");
  for (const [keys, text] of actions) {
    list.append(Object.assign(document.createElement("dt"), { textContent: keys }));
    list.append(Object.assign(document.createElement("dd"), { textContent: text }));
  }
  addEventListener("keydown", (event) => {
    const isTyping = event.target.matches?.('input[type="number"], input[type="text"], select, dialog *');
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    if (event.key === " " && event.target.matches?.("button")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = actions.find(([, , keys]) => keys.includes(key));
    if (!action) return;
    event.preventDefault();
    action[3](event);
  });
}
