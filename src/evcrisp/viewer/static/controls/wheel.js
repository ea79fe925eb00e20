// Zoom or scroll with the wheel, as on maps. If the whole page is visible, the wheel zooms. In a frame, or on a page longer
// than the screen, it scrolls, unless Ctrl (or ⌘) is held or the pane was clicked.

/** Whether the page is not in a frame and needs no scrolling. */
function isFullyVisible() {
  if (window !== window.top) return false;
  return [document.documentElement, document.getElementById("panes")].every((element) => element.scrollHeight <= element.clientHeight + 1);
}

/** Call `onZoom` for wheel events that zoom the pane, and `onScroll` for those that scroll the page. */
export function attachWheel(canvas, onZoom, onScroll) {
  let isClicked = false; // since the pointer entered
  canvas.addEventListener("pointerdown", () => (isClicked = true));
  canvas.addEventListener("pointerleave", () => (isClicked = false));
  canvas.addEventListener("wheel", (event) => {
    if (!(event.ctrlKey || event.metaKey || isClicked || isFullyVisible())) {
      onScroll();
      return;
    }
    event.preventDefault();
    onZoom(event);
  }, { passive: false });
}
