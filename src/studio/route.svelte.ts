/** Where the page is: the screen and its settings stand in the address, never the data. */

export const SCREENS = ["start", "audit", "plan", "collect", "design", "export"] as const;
export type ScreenName = (typeof SCREENS)[number];

export interface Route {
  readonly screen: ScreenName;
  readonly settings: Readonly<Record<string, string>>;
}

export const parseRoute = (hash: string): Route => {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const screen = SCREENS.find((name) => name === path) ?? "start";
  return { screen, settings: Object.fromEntries(new URLSearchParams(query)) };
};

export const routeHash = (screen: ScreenName, settings: Readonly<Record<string, string>> = {}): string => {
  const query = new URLSearchParams(settings).toString();
  return `#/${screen}${query === "" ? "" : `?${query}`}`;
};

class CurrentRoute {
  #now = $state.raw<Route>(parseRoute(location.hash));
  /** Settings of the screens that were left. */
  #left: Partial<Record<ScreenName, Route["settings"]>> = {};

  constructor() {
    addEventListener("hashchange", () => {
      const { screen, settings } = this.#now;
      this.#left[screen] = settings;
      this.#now = parseRoute(location.hash);
      this.#resume();
    });
  }

  /** A link that names a screen alone leads to how it was left; that of the campaigns leads to all of them. */
  #resume(): void {
    const { screen, settings } = this.#now;
    const left = this.#left[screen];
    if (screen !== "collect" && left !== undefined && Object.keys(settings).length === 0) this.set(left);
  }

  /** Settings that were chosen for a table that is not open any more. */
  forget(): void {
    this.#left = {};
  }

  get screen(): ScreenName {
    return this.#now.screen;
  }

  get settings(): Readonly<Record<string, string>> {
    return this.#now.settings;
  }

  go(screen: ScreenName, settings: Readonly<Record<string, string>> = {}): void {
    location.hash = routeHash(screen, settings);
  }

  /** Changes settings of this screen without a step in the browser's history. */
  set(changes: Readonly<Record<string, string | undefined>>): void {
    // A link was followed, and the page is about to hear of it: what is left behind does not take its place.
    if (parseRoute(location.hash).screen !== this.screen) return;
    const merged = Object.entries({ ...this.settings, ...changes }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    history.replaceState(null, "", routeHash(this.screen, Object.fromEntries(merged)));
    this.#now = parseRoute(location.hash);
  }
}

export const route = new CurrentRoute();
