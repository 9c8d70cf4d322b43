// Draws the plots of a page from their Vega-Lite specifications. Without this script, readers have the tables.
"use strict";
{
  const PHONE = matchMedia("(max-width: 36rem)");

  /** Return the specification for this screen: colours are CSS variables, so that dark mode and print change them. */
  const adapted = ({ usermeta, data, ...original }, room) => {
    let text = JSON.stringify(original);
    for (const [name, colour] of Object.entries(usermeta.palette)) text = text.replaceAll(`"${colour}"`, `"var(--${name})"`);
    const spec = { ...JSON.parse(text), data };
    if (spec.facet && spec.spec.width.step) return spec; // a picture of tables, which is only saved
    if (spec.facet) {
      spec.columns = PHONE.matches ? 2 : Math.max(2, Math.floor(room / (spec.spec.width + 45)));
      if (PHONE.matches) spec.spec.width = spec.spec.height = room / 2 - 45;
    } else if (spec.width === 700) {
      spec.width = "container";
    } else if (PHONE.matches) {
      spec.width = spec.height = room - 60;
      spec.config.legend = { ...spec.config.legend, orient: "bottom", direction: "vertical", columns: 1 };
    }
    if (PHONE.matches) {
      spec.params.find((param) => param.name === "narrow").value = true;
      spec.params = spec.params.filter((param) => param.name !== "zoom"); // a finger scrolls the page
      if (spec.height?.step) spec.height.step *= 1.7; // names are above the rows
    }
    return spec;
  };

  /** Return a Vega view that evaluates expressions without `eval`, which the site's policy forbids. */
  const viewOf = (spec, options) => {
    const compiled = vega.compile(spec, { logger: vega.logger(vega.ERROR_LEVEL) }).spec;
    return new vega.View(vega.parse(compiled, null, { ast: true }), { expr: vega.expressionInterpreter, ...options });
  };

  /** Return the elements with a tooltip, from the top of the plot to its end. */
  const targets = (box) =>
    [...box.querySelectorAll("svg *")].filter((element) => element.__data__?.tooltip && element.__data__.mark?.items);

  class Plot {
    constructor(box) {
      this.box = box;
      this.canvas = box.appendChild(document.createElement("div"));
      this.canvas.className = "plot-canvas";
      this.canvas.ariaHidden = "true"; // the tip is read; Vega's own labels are unrounded numbers of each mark
      this.tip = box.appendChild(document.createElement("div"));
      this.tip.className = "plot-tip";
      this.tip.setAttribute("role", "status");
      this.tip.hidden = true;
    }

    /** Read the specification: from its address, or from the page if its data depend on the reader. */
    async read() {
      const inPage = this.box.querySelector("script");
      if (inPage) return JSON.parse(inPage.textContent);
      const response = await fetch(this.box.dataset.plot);
      if (!response.ok) throw new Error(`${response.status}`);
      return response.json();
    }

    async load() {
      this.spec = await this.read();
      await document.fonts.ready; // text is measured to lay it out
      await this.draw();
      PHONE.addEventListener("change", () => this.draw());
      this.box.addEventListener("keydown", (event) => this.move(event));
      this.box.addEventListener("blur", () => this.leave());
    }

    /** Show the buttons that save the plot. */
    offer() {
      for (const button of this.box.parentElement.querySelectorAll("[data-save]")) {
        button.addEventListener("click", () => this.save(button.dataset.save));
        button.parentElement.hidden = false;
      }
    }

    async draw() {
      this.view?.finalize();
      this.view = viewOf(adapted(this.spec, this.box.clientWidth), { container: this.canvas, renderer: "svg", hover: true });
      this.view.tooltip((_, event, item, value) => (value ? this.show(value, event.clientX, event.clientY) : this.hide()));
      await this.view.runAsync();
      this.box.setAttribute("role", "application");
      this.box.setAttribute("aria-roledescription", "plot; arrow keys go from point to point");
      this.box.setAttribute("aria-label", this.spec.description);
      this.box.tabIndex = 0;
    }

    show(value, x, y) {
      const lines = typeof value === "object" ? Object.entries(value) : [["", value]];
      this.tip.replaceChildren(
        ...lines.map(([name, text], i) => {
          const line = document.createElement(i ? "div" : "strong");
          line.dir = "auto";
          line.textContent = i ? `${name}: ${text}` : text;
          return line;
        }),
      );
      this.tip.hidden = false;
      const frame = this.box.getBoundingClientRect();
      const left = Math.min(x - frame.left + 14, frame.width - this.tip.offsetWidth);
      const below = y - frame.top + 18;
      this.tip.style.left = `${Math.max(0, left)}px`;
      this.tip.style.top = `${y + 18 + this.tip.offsetHeight < innerHeight ? below : y - frame.top - this.tip.offsetHeight - 10}px`;
    }

    hide() {
      this.tip.hidden = true;
    }

    leave() {
      this.hide();
      this.index = undefined;
      this.box.querySelector(".plot-target")?.classList.remove("plot-target");
    }

    /** Move to the point that a key selects; Enter opens its link. */
    move(event) {
      const all = targets(this.box);
      const at = this.index ?? -1;
      const next = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
      if (event.key === "Escape") this.leave();
      if (event.key === "Enter" && all[at]?.__data__.href) location.assign(all[at].__data__.href);
      if (next === undefined || !all.length) return;
      event.preventDefault();
      this.leave();
      this.index = Math.max(0, Math.min(all.length - 1, next));
      const element = all[this.index];
      element.classList.add("plot-target");
      element.scrollIntoView({ block: "nearest" });
      const { left, top, width, height } = element.getBoundingClientRect();
      this.show(element.__data__.tooltip, left + Math.min(width / 2, 240), top + height / 2);
    }

    /** Save the plot as it is now, in the light colours, as a file. */
    async save(format) {
      this.spec ??= await this.read();
      const width = this.box.parentElement.clientWidth; // the box may be hidden
      const spec = adapted(this.spec, width);
      spec.config.font = "sans-serif"; // a picture cannot load the site's font
      if (spec.width === "container") Object.assign(spec, { width, autosize: { type: "fit-x", contains: "padding" } });
      const view = viewOf(spec, { renderer: "none" });
      const isOfReader = (name) => /^(zoom|pick)/.test(name);
      const state = this.view?.getState({ signals: isOfReader, data: (name) => isOfReader(name) && name.endsWith("_store") });
      if (state) view.setState(state);
      await view.runAsync();
      let svg = await view.toSVG();
      view.finalize();
      for (const [name, colour] of Object.entries(this.spec.usermeta.palette)) svg = svg.replaceAll(`var(--${name})`, colour);
      const source = new Blob([svg], { type: "image/svg+xml" });
      const link = document.createElement("a");
      link.download = `${this.box.dataset.name}.${format}`;
      link.href = URL.createObjectURL(format === "svg" ? source : await png(svg));
      link.click();
      URL.revokeObjectURL(link.href);
    }
  }

  /** Return an SVG as a PNG of twice its size, on white. */
  const png = async (svg) => {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  };

  for (const box of document.querySelectorAll("[data-plot]")) {
    const plot = new Plot(box);
    if (box.hidden) plot.offer(); // the page shows the same in HTML
    else {
      plot.load().then(() => plot.offer()).catch((error) => {
        box.textContent = "The plot could not be loaded. The table has the same numbers.";
        console.error(error);
      });
    }
  }
}
