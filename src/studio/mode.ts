/** Whether a FairBED server serves this page and keeps its campaigns, or everything stays in this browser. */

export type Mode = "static" | "server";

export const mode: Mode =
  document.querySelector('meta[name="fairbed-mode"]')?.getAttribute("content") === "server"
    ? "server"
    : "static";

/** What the status line says of where data is. */
export const whereDataIs = (): string =>
  mode === "server"
    ? `Tables stay on this computer; campaigns are on ${location.host}`
    : "Everything stays on this computer";
