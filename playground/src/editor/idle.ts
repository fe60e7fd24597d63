import type { StateEffect } from "@codemirror/state";
import { type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { pause } from "../dom.ts";

/**
 * Asks for something after each update that it depends on, when nothing more has happened for a moment (milliseconds),
 * and puts the answer into the editor, unless it has come too late or (null) changes nothing.
 */
export const whenIdle = (
  dependsOn: (update: ViewUpdate) => boolean,
  delay: number,
  ask: (view: EditorView) => Promise<StateEffect<unknown> | null>,
) =>
  ViewPlugin.fromClass(
    class {
      #timer = 0;
      #version = 0;
      readonly #view: EditorView;

      constructor(view: EditorView) {
        this.#view = view;
        this.#wait(0);
      }

      update(update: ViewUpdate): void {
        if (dependsOn(update)) this.#wait(delay);
      }

      destroy(): void {
        clearTimeout(this.#timer);
        this.#version++;
      }

      #wait(milliseconds: number): void {
        clearTimeout(this.#timer);
        const version = ++this.#version;
        this.#timer = window.setTimeout(() => void this.#ask(version), milliseconds);
      }

      async #ask(version: number): Promise<void> {
        const effect = await ask(this.#view);
        // Answers come together: each is a step of its own.
        await pause();
        if (version === this.#version && effect !== null) this.#view.dispatch({ effects: effect });
      }
    },
  );
