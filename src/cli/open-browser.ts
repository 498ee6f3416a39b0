/** Opens an address in the browser of whoever sits here. */
import { spawn } from "node:child_process";

/** The program of each platform; any other one has that of the free desktops. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  // The first word in quotes would be the title of a window.
  win32: ["cmd", "/c", "start", '""'],
};

/** Whether a browser was asked to: without a desktop there is none. Resolves soon, and never fails. */
export const openBrowser = (address: string, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const [program, ...words] = OPENERS[process.platform] ?? ["xdg-open"];
    try {
      // On its own, so that a browser that it becomes outlives the command.
      const child = spawn(program, [...words, address], { stdio: "ignore", detached: true });
      child.once("error", () => resolve(false));
      child.once("exit", (code) => resolve(code === 0));
      signal.addEventListener("abort", () => resolve(true), { once: true });
      child.unref();
    } catch {
      resolve(false);
    }
  });
