// Open another recording of the start folder.

const byId = (id) => document.getElementById(id);

export function attachRecordings(app) {
  const button = byId("open");
  button.hidden = !app.settings.has_folder;
  button.addEventListener("click", () => list(app).catch((error) => app.fail(error)));
}

async function list(app) {
  const names = await app.source.recordings();
  byId("recordings-text").textContent = names.length ? "Recordings of the start folder:" : "The start folder has no recordings.";
  byId("recordings-list").replaceChildren(...names.map((name) => {
    const entry = Object.assign(document.createElement("button"), { textContent: name });
    entry.addEventListener("click", () => open(app, name));
    return entry;
  }));
  byId("recordings").showModal();
}

async function open(app, name) {
  byId("recordings").close();
  try {
    await app.source.open(name);
    history.replaceState(null, "", location.pathname);
    location.reload();
  } catch (error) {
    app.fail(error);
  }
}
