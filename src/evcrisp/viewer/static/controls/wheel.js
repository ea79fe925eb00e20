// Whether the wheel zooms a pane or scrolls the page, as with maps: where nothing can be scrolled it zooms; in a frame, or on a
// page that is longer than the screen, it scrolls, unless Ctrl (or ⌘) is held or the pane was clicked.

/** Whether there is nothing but this page, and all of it is in sight. */
function isWholeView() {
  if (window !== window.top) return false;
  return [document.documentElement, document.getElementById("panes")].every((element) => element.scrollHeight <= element.clientHeight + 1);
}

/** Call `zoom` with the wheel's events that are meant for the pane, and `onOther` at those that are not. */
export function attachWheel(canvas, zoom, onOther) {
  let isChosen = false; // clicked since the pointer came
  canvas.addEventListener("pointerdown", () => (isChosen = true));
  canvas.addEventListener("pointerleave", () => (isChosen = false));
  canvas.addEventListener("wheel", (event) => {
    if (!(event.ctrlKey || event.metaKey || isChosen || isWholeView())) {
      onOther();
      return;
    }
    event.preventDefault();
    zoom(event);
  }, { passive: false });
}
