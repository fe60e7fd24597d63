import { fill, h, icon } from "../dom.ts";
import { chapters } from "./gallery.ts";

/** The examples, by chapter, in a dialog over the page. */
export class GalleryDialog {
  readonly element = h("dialog", {
    class: "gallery",
    "aria-labelledby": "gallery-title",
    onclick: (e: Event) => e.target === this.element && this.element.close(),
  });
  readonly #open: (id: string) => void;

  constructor(open: (id: string) => void) {
    this.#open = open;
  }

  /** Opens the dialog. */
  show(): void {
    if (this.element.childElementCount === 0) this.#fill();
    this.element.showModal();
  }

  #fill(): void {
    let number = 0;
    const close = (): void => this.element.close();
    fill(
      this.element,
      h(
        "div",
        { class: "gallery-head" },
        h("h2", { id: "gallery-title" }, "Examples"),
        h("p", { class: "faint" }, "In the order in which one may learn it; each has a tour."),
        h("button", { type: "button", class: "icon-button", "aria-label": "Close", onclick: close }, icon("close")),
      ),
      chapters.map(({ title, examples }) =>
        h(
          "section",
          {},
          h("h3", {}, title),
          h(
            "ul",
            { class: "cards" },
            examples.map((example) =>
              h(
                "li",
                {},
                h(
                  "button",
                  {
                    type: "button",
                    class: "card",
                    "data-example": example.id,
                    onclick: () => {
                      close();
                      this.#open(example.id);
                    },
                  },
                  h("span", { class: "card-number", "aria-hidden": "true" }, ++number),
                  h("strong", {}, example.title),
                  h("span", { class: "badge" }, example.isa),
                  h("span", { class: "faint" }, example.summary),
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }
}
