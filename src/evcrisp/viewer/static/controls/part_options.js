// Parameters of the method and of the filter as form fields.

const byId = (id) => document.getElementById(id);
const KINDS = ["method", "filter"];

/** Parameters in the address that the chosen part has; damaged ones are left out. */
export function optionsOf(app, kind) {
  const known = knownOptions(app, kind);
  let given = {};
  try {
    given = JSON.parse(app.state.get(`${kind}_options`) || "{}");
  } catch {
    return {};
  }
  if (typeof given !== "object" || given === null) return {};
  return Object.fromEntries(Object.entries(given).filter(([name]) => name in known));
}

function knownOptions(app, kind) {
  return app.settings.options?.[kind]?.[app.state.get(kind)] ?? {};
}

function setOption(app, kind, name, value) {
  const options = { ...optionsOf(app, kind), [name]: value };
  if (value === undefined || value === knownOptions(app, kind)[name]) delete options[name];
  app.state.set({ [`${kind}_options`]: Object.keys(options).length ? JSON.stringify(options) : "" });
}

/** Value of a field with the type of the default; undefined for the default. */
function valueOf(input, fallback) {
  if (input.type === "checkbox") return input.checked;
  const text = input.value.trim();
  if (text === "") return undefined;
  const isNumber = typeof fallback === "number" || (fallback === null && Number.isFinite(Number(text)));
  return isNumber ? Number(text) : text;
}

function fieldOf(app, kind, name, fallback, given) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  const isFlag = typeof fallback === "boolean";
  input.type = isFlag ? "checkbox" : "text";
  input.name = name;
  const value = name in given ? given[name] : fallback;
  if (isFlag) input.checked = value;
  else {
    input.value = value ?? "";
    input.placeholder = fallback === null ? "chosen" : String(fallback);
    if (typeof fallback === "number") input.inputMode = "decimal";
  }
  label.title = `Default: ${fallback === null ? "chosen by the method" : fallback}`;
  label.classList.toggle("is-changed", name in given);
  input.addEventListener("change", () => {
    const changed = valueOf(input, fallback);
    if (typeof changed === "number" && !Number.isFinite(changed)) return app.fail(new Error(`${name} must be a number; got “${input.value}”.`));
    setOption(app, kind, name, changed);
  });
  label.append(name, input);
  return label;
}

export class PartOptions {
  constructor(app) {
    this.app = app;
    this.kind = "";
    this.form = byId("parameters");
    for (const kind of KINDS) {
      byId(`${kind}-options`).addEventListener("click", (event) => {
        event.preventDefault(); // of the label around it
        this.open(this.kind === kind ? "" : kind);
      });
    }
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.querySelector(".close").addEventListener("click", () => this.open(""));
    this.form.querySelector(".reset").addEventListener("click", () => app.state.set({ [`${this.kind}_options`]: "" }));
  }

  open(kind) {
    this.kind = kind;
    this.shown = "";
    this.app.paint();
  }

  /** Update buttons and fields if the part or its parameters have changed. */
  draw() {
    const { app } = this;
    for (const kind of KINDS) {
      const button = byId(`${kind}-options`);
      button.hidden = !app.source.isLive || !Object.keys(knownOptions(app, kind)).length;
      button.setAttribute("aria-expanded", String(this.kind === kind));
      button.setAttribute("aria-pressed", String(Object.keys(optionsOf(app, kind)).length > 0));
    }
    const known = this.kind ? knownOptions(app, this.kind) : {};
    this.form.hidden = !Object.keys(known).length;
    const given = this.kind ? optionsOf(app, this.kind) : {};
    const now = this.kind ? JSON.stringify([this.kind, app.state.get(this.kind), given]) : "";
    if (now === this.shown) return;
    this.shown = now;
    this.form.querySelector("h2").textContent = this.kind ? `Parameters of ${app.state.get(this.kind)}` : "";
    const fields = Object.entries(known).map(([name, fallback]) => fieldOf(app, this.kind, name, fallback, given));
    this.form.querySelector(".parameter-fields").replaceChildren(...fields);
  }
}
