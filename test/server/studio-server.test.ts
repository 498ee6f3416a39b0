/** The page on a socket of this machine, without anything but Node. */
import { readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { STUDIO_DEFAULTS } from "../../src/server/server-defaults.js";
import { STUDIO_POLICY, studioTexts } from "../../src/server/studio-files.js";
import {
  type StudioServer,
  type StudioServerOptions,
  startStudio,
  studioServerTexts,
} from "../../src/server/studio-server.js";
import { INDEX, makeBuild, SCRIPT, SECRET } from "./studio-build.js";

const { root, folder } = makeBuild();
afterAll(() => rmSync(root, { recursive: true }));
const running: StudioServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});
const start = async (options: StudioServerOptions = {}): Promise<StudioServer> => {
  const server = await startStudio({ folder, port: 0, ...options });
  running.push(server);
  return server;
};

/** Sends a path as it stands. */
const raw = (
  { port }: StudioServer,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((done, failed) => {
    request({ host: "127.0.0.1", port, path, headers }, (got) => {
      let text = "";
      got.on("data", (piece) => {
        text += String(piece);
      });
      got.on("end", () => done({ status: got.statusCode ?? 0, text }));
    })
      .on("error", failed)
      .end();
  });

describe("the page alone", () => {
  it("is as it was built, isolated, and keeps what does not change", async () => {
    const { url } = await start();
    const page = await fetch(url);
    expect([page.status, await page.text()]).toEqual([200, INDEX]);
    expect(page.headers.get("content-security-policy")).toBe(STUDIO_POLICY);
    expect(page.headers.get("cross-origin-embedder-policy")).toBe("require-corp");
    expect(page.headers.get("cross-origin-opener-policy")).toBe("same-origin");
    const script = await fetch(`${url}assets/index-Dk3_a-9Z.js?v=1`);
    expect(await script.text()).toBe(SCRIPT);
    expect(script.headers.get("content-encoding")).toBe("gzip");
    expect(script.headers.get("cache-control")).toContain("immutable");
    const etag = page.headers.get("etag") ?? "";
    expect((await raw(running[0], "/", { "If-None-Match": etag })).status).toBe(304);
    const head = await fetch(url, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  it("has nothing else, and is only read", async () => {
    const server = await start();
    for (const path of [
      "/../secret.txt",
      "/%2e%2e/secret.txt",
      "/assets/..%2f..%2fsecret.txt",
      "/link.txt",
      "/%",
    ]) {
      const got = await raw(server, path);
      expect([path, got.status]).toEqual([path, 404]);
      expect(got.text).not.toContain(SECRET);
    }
    const posted = await fetch(server.url, { method: "POST", body: "x" });
    expect([posted.status, await posted.text()]).toEqual([405, `${studioServerTexts.method}\n`]);
  });

  it("is not for pages of other sites, nor by other names", async () => {
    const server = await start();
    expect((await raw(server, "/", { Host: "evil.example" })).status).toBe(403);
    expect((await raw(server, "/", { Origin: "https://evil.example" })).status).toBe(403);
    expect((await raw(server, "/", { Host: `localhost:${server.port}` })).status).toBe(200);
  });

  it("is offered to this machine alone", async () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1", "example.org"]) {
      await expect(startStudio({ folder, host, port: 0 })).rejects.toThrow(studioServerTexts.host(host));
    }
  });

  it("takes another port where the usual one is taken, and says where one that was wanted is", async () => {
    const { port } = await start();
    await expect(startStudio({ folder, port })).rejects.toThrow(
      studioServerTexts.address("127.0.0.1", port, "EADDRINUSE"),
    );
    const [first, second] = [await start({ port: undefined }), await start({ port: undefined })];
    expect(second.isElsewhere).toBe(true);
    expect(second.port).not.toBe(STUDIO_DEFAULTS.port);
    expect((await fetch(second.url)).status).toBe(200);
    expect(first.port).not.toBe(second.port);
  });

  it("that is not built is said to be missing", async () => {
    await expect(startStudio({ folder: join(root, "nowhere"), port: 0 })).rejects.toThrow(
      studioTexts.missing,
    );
  });

  it("needs no package", () => {
    const seen = new Set<string>();
    const outside = new Set<string>();
    const follow = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const [, specifier] of readFileSync(file, "utf8").matchAll(
        /^(?:import|\} from) .*"([^"]+)";$/gm,
      )) {
        if (!specifier.startsWith(".")) outside.add(specifier);
        else follow(resolve(dirname(file), specifier.replace(/\.js$/, ".ts")));
      }
    };
    follow(fileURLToPath(new URL("../../src/server/studio-server.ts", import.meta.url)));
    expect(seen.size).toBeGreaterThan(4);
    expect([...outside].filter((name) => !name.startsWith("node:"))).toEqual([]);
  });
});
