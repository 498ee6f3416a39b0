/** Whether single keys answer: people who speak to their computer, or type elsewhere, turn them off (WCAG 2.1.4). */

const KEYS = "fairbed keys";

const keptChoice = (): boolean => {
  try {
    return localStorage.getItem(KEYS) !== "off";
  } catch {
    return true;
  }
};

class SingleKeys {
  #areOn = $state(keptChoice());

  get areOn(): boolean {
    return this.#areOn;
  }

  set areOn(on: boolean) {
    this.#areOn = on;
    try {
      localStorage.setItem(KEYS, on ? "on" : "off");
    } catch {
      // It is known until the page is left.
    }
  }

  /** The key that was pressed and means something here: not one that is typed into a field or held down. */
  heard(event: KeyboardEvent): string | undefined {
    if (!this.#areOn || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return undefined;
    const target = event.target as HTMLElement | null;
    if (target?.closest("input:not([type=checkbox]), select, textarea, [contenteditable]") != null)
      return undefined;
    return event.key.toLowerCase();
  }
}

export const singleKeys = new SingleKeys();
