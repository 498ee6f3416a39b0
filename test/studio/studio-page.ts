/** The page as it ships, in a browser: served as files with the headers of the server, and what it keeps. */
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { STUDIO_POLICY } from "../../src/server/studio-files.js";
import { serve } from "../setup/chromium.js";
import { ROOT } from "../setup/dist.js";

export interface StudioPage {
  readonly page: Page;
  readonly url: string;
  /** What went wrong in the page, its console and its policy; a test expects none. */
  readonly faults: readonly string[];
  /** Hosts that the page asked, by origin. */
  readonly origins: ReadonlySet<string>;
  close(): Promise<void>;
}

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

/** A context of its own, that waits as long as a machine may take that does much else. */
export const newContext = async (
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> => {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(90_000);
  return context;
};

/** A page of its own, with storage of its own, on the built files. */
export const openStudio = async (
  browser: Browser,
  hash = "#/start",
  options: BrowserContextOptions = {},
): Promise<StudioPage> => {
  const server = await serve({ isolated: true, policy: STUDIO_POLICY, folder: join(ROOT, "dist", "studio") });
  const context = await newContext(browser, { viewport: DESKTOP, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  const origins = new Set<string>();
  watch(page, faults, origins);
  const url = `${server.url}/`;
  await page.goto(url + hash);
  return {
    page,
    url,
    faults,
    origins,
    async close() {
      await context.close();
      await server.close();
    },
  };
};

export const watch = (page: Page, faults: string[], origins: Set<string> = new Set()): void => {
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
  });
  page.on("request", (request) => {
    const address = new URL(request.url());
    if (address.protocol.startsWith("http")) origins.add(address.origin);
  });
};

/** As JSON, with arrays of numbers as plain ones. */
export const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, each: unknown) =>
      ArrayBuffer.isView(each) ? Array.from(each as unknown as ArrayLike<number>) : each,
    ),
  );

/** A document that the page keeps in this browser, as JSON; undefined where there is none. */
export const keptAsJson = async (page: Page, name: string): Promise<unknown> => {
  const text = await page.evaluate(
    (key) =>
      new Promise<string | undefined>((resolve, reject) => {
        const request = indexedDB.open("fairbed-studio", 1);
        request.onerror = () => reject(request.error);
        request.onsuccess = () => {
          const found = request.result.transaction("documents").objectStore("documents").get(key);
          found.onerror = () => reject(found.error);
          found.onsuccess = () => {
            request.result.close();
            resolve(
              JSON.stringify(found.result, (_, each: unknown) =>
                ArrayBuffer.isView(each) ? Array.from(each as unknown as ArrayLike<number>) : each,
              ),
            );
          };
        };
      }),
    name,
  );
  return text === undefined ? undefined : JSON.parse(text);
};

/** What the page asks of its workers waits until it is let go, so that something else can happen meanwhile. */
export interface HeldCalls {
  /** Until so many wait. */
  wait(count?: number): Promise<void>;
  /** Lets them go, holds no more, and waits until they have been answered. */
  letGo(): Promise<void>;
}

/** Holds the calls of one task: from now on, or from the next load on. */
export const holdCalls = async (
  page: Page,
  task: string,
  from: "now" | "the next load" = "now",
): Promise<HeldCalls> => {
  interface Holding {
    held?: (() => Promise<void>)[] | undefined;
  }
  const hold = (name: string): void => {
    const held: (() => Promise<void>)[] = [];
    const holding = window as Holding;
    holding.held = held;
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (this: Worker, message, ...others: never[]) {
      const send = (): void => post.call(this, message, ...others);
      if (message.task !== name || holding.held !== held) return send();
      held.push(
        () =>
          new Promise((resolve) => {
            this.addEventListener("message", ({ data }) => {
              if (data.id === message.id && data.kind !== "partial") setTimeout(resolve);
            });
            send();
          }),
      );
    };
  };
  if (from === "now") await page.evaluate(hold, task);
  else await page.addInitScript(hold, task);
  return {
    async wait(count = 1) {
      await page.waitForFunction((many) => ((window as Holding).held?.length ?? 0) >= many, count);
    },
    letGo: () =>
      page.evaluate(async () => {
        const { held = [] } = window as Holding;
        (window as Holding).held = undefined;
        await Promise.all(held.map((send) => send()));
      }),
  };
};

/** Opens the example from the first screen. */
export const openExample = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Try the example" }).click();
  await page.getByText("example-hiring.csv").first().waitFor();
};
