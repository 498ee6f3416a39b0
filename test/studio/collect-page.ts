/** The collect screen as tests use it: the question that is shown, keys, and campaigns on a server. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { modelsInThread } from "../../src/campaign/ranking-schedule.js";
import { jsonLog } from "../../src/server/log.js";
import { type RunningServer, startServer } from "../../src/server/start-server.js";

export const questionIn = (page: Page) => page.getByRole("region", { name: "Question" });

/** However slow the machine is: what is awaited comes, or the test is over. */
export const eventually = <Found>(read: () => Found | Promise<Found>) =>
  expect.poll(read, { timeout: 90_000 });

const itemOf = async (page: Page, region: "Question" | "Settle"): Promise<string> => {
  const heading = page.getByRole("region", { name: region }).getByRole("heading");
  await heading.filter({ hasText: "?" }).waitFor();
  return ((await heading.textContent()) ?? "").replace(/^.* of\s+/, "").replace(/\?$/, "");
};
/** The record that is asked about. */
export const itemIn = (page: Page): Promise<string> => itemOf(page, "Question");
/** The record that is to be settled. */
export const disputeIn = (page: Page): Promise<string> => itemOf(page, "Settle");

export const nextAfter = async (page: Page, item: string): Promise<string> => {
  await eventually(() => itemIn(page)).not.toBe(item);
  return itemIn(page);
};
/** Presses a key and waits for the next question; the record that it was pressed for. */
export const press = async (page: Page, key: string): Promise<string> => {
  const item = await itemIn(page);
  await page.keyboard.press(key);
  await nextAfter(page, item);
  return item;
};
export const says = (page: Page, text: string): Promise<void> => page.getByText(text).first().waitFor();

/** Everything that workers post to the page, as text; what is asked of the network is in the workers. */
export const recordPosts = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const posted: string[] = [];
    Object.assign(window, { posted });
    const Plain = window.Worker;
    window.Worker = class extends Plain {
      constructor(...given: ConstructorParameters<typeof Worker>) {
        super(...given);
        this.addEventListener("message", ({ data }) => posted.push(JSON.stringify(data) ?? ""));
      }
    };
  });

/** Without the record itself, whose columns may have any name. */
export const everythingIn = async (page: Page): Promise<string> => {
  const all = await page.evaluate(() => {
    const { posted } = window as unknown as { readonly posted: readonly string[] };
    const stored = [JSON.stringify({ ...sessionStorage }), JSON.stringify({ ...localStorage })];
    return [document.documentElement.outerHTML, location.href, ...posted, ...stored].join("\n");
  });
  return all.replace(/"values":\{[^}]*\}/g, "");
};

/** A server for campaigns and the page. */
export const startCollecting = (
  options: Partial<Parameters<typeof startServer>[0]> = {},
): Promise<RunningServer> =>
  startServer({
    store: memoryStore(),
    port: 0,
    log: jsonLog(() => {}),
    models: modelsInThread,
    graceSeconds: 0,
    ...options,
  });
