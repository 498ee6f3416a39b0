/** The page, as the server hands it out: what it may do, what is kept, and that nothing else can be had. */
import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { VERSION } from "../../src/core/version.js";
import { STUDIO_POLICY, studioFiles, studioTexts } from "../../src/server/studio-files.js";
import { served } from "./served.js";
import { INDEX, makeBuild, SCRIPT, SECRET } from "./studio-build.js";

const { root, folder } = makeBuild();
afterAll(() => rmSync(root, { recursive: true }));

const withPage = () => served({ options: { studio: folder } });

describe("the page", () => {
  it("is at /, knows that there is a server, and needs no token", async () => {
    const server = withPage();
    await server.tokenFor("admin");
    const { status, text, headers } = await server.send("GET", "/", { headers: { Accept: "text/html,*/*" } });
    expect([status, text]).toEqual([200, INDEX.replace('content="static"', 'content="server"')]);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-cache");
    expect((await server.raw("GET", "/index.html")).status).toBe(200);
    const again = await server.send("GET", "/", { headers: { "If-None-Match": headers.get("etag") ?? "" } });
    expect([again.status, again.text]).toEqual([304, ""]);
  });

  it("runs nothing but its own files, is isolated, and is in no frame", async () => {
    for (const path of ["/", "/assets/engine-12345678.js", "/icon.svg"]) {
      const { headers } = await withPage().raw("GET", path);
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-security-policy": STUDIO_POLICY,
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
      });
    }
    expect(STUDIO_POLICY).toContain("default-src 'none'");
    expect(STUDIO_POLICY).not.toMatch(/'unsafe-eval'|unsafe-inline|https?:|\*/);
  });

  it("is described for programs that ask for JSON", async () => {
    const { json } = await withPage().send("GET", "/", { headers: { Accept: "application/json" } });
    expect(json).toEqual({
      ...{ name: "fairbed", version: VERSION },
      ...{ api: "/api/v1", docs: "/docs", openapi: "/openapi.json" },
    });
  });

  it("that is not built is said to be missing, and the server works", async () => {
    const server = served({ options: { studio: join(root, "nowhere") } });
    const { status, text } = await server.send("GET", "/");
    expect(status).toBe(200);
    expect(text).toContain(studioTexts.missing);
    expect((await server.raw("GET", "/assets/engine-12345678.js")).status).toBe(404);
    expect((await server.send("GET", "/health")).status).toBe(200);
  });

  it("counts as requests of whoever asks", async () => {
    const server = served({ options: { studio: folder, rate: { perSecond: 0.001, burst: 3 } } });
    const statuses = [];
    for (const path of ["/", "/icon.svg", "/assets/data.json", "/", "/assets/data.json"]) {
      statuses.push((await server.raw("GET", path)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
  });

  it("is not for whoever calls the server by another name", async () => {
    const server = served({ options: { studio: folder, allowedHosts: ["127.0.0.1"] } });
    for (const path of ["/", "/assets/data.json"]) {
      expect((await server.raw("GET", path, { headers: { Host: "evil.example" } })).status).toBe(403);
    }
  });
});

describe("its files", () => {
  it("have their types", async () => {
    const server = withPage();
    for (const [path, type] of [
      ["/assets/index-Dk3_a-9Z.js", "text/javascript; charset=utf-8"],
      ["/assets/index-BcdEfgh1.css", "text/css; charset=utf-8"],
      ["/assets/kernel-aaaabbbb.wasm", "application/wasm"],
      ["/assets/text-aaaabbbb.woff2", "font/woff2"],
      ["/assets/data.json", "application/json; charset=utf-8"],
      ["/icon.svg", "image/svg+xml; charset=utf-8"],
      ["/manifest.webmanifest", "application/manifest+json; charset=utf-8"],
    ]) {
      const response = await server.raw("GET", path);
      expect([path, response.status, response.headers.get("content-type")]).toEqual([path, 200, type]);
    }
  });

  it("are kept for ever where their names say what is in them, and asked for again else", async () => {
    const server = withPage();
    for (const [path, isHashed] of [
      ["/assets/index-Dk3_a-9Z.js", true],
      ["/assets/engine-12345678.js", true],
      ["/assets/data.json", false],
      ["/icon.svg", false],
    ] as const) {
      const kept = (await server.raw("GET", path)).headers.get("cache-control");
      expect([path, kept]).toEqual([path, isHashed ? "public, max-age=31536000, immutable" : "no-cache"]);
    }
  });

  it("come compressed to those who can read it: as they were built, or made here", async () => {
    const server = withPage();
    const get = async (path: string, accept: string) => {
      const response = await server.raw("GET", path, { headers: { "Accept-Encoding": accept } });
      const bytes = Buffer.from(await response.arrayBuffer());
      expect(response.headers.get("vary")).toContain("Accept-Encoding");
      expect(response.headers.get("content-length")).toBe(String(bytes.length));
      const isPacked = response.headers.get("content-encoding") === "gzip";
      return { isPacked, text: String(isPacked ? gunzipSync(bytes) : bytes) };
    };
    for (const accept of ["gzip, deflate, br", "br;q=1.0, gzip;q=0.8", "*"]) {
      expect(await get("/assets/index-Dk3_a-9Z.js", accept)).toEqual({ isPacked: true, text: SCRIPT });
      expect((await get("/assets/engine-12345678.js", accept)).text).toBe(`// packed before\n${SCRIPT}`);
    }
    for (const accept of ["", "br", "gzip;q=0", "identity"]) {
      expect(await get("/assets/engine-12345678.js", accept)).toEqual({ isPacked: false, text: SCRIPT });
    }
    // Small ones, and those that are compressed already.
    expect((await get("/icon.svg", "gzip")).isPacked).toBe(false);
    expect((await get("/assets/text-aaaabbbb.woff2", "gzip")).isPacked).toBe(false);
  });

  it("are all that can be had", async () => {
    const server = withPage();
    const files = studioFiles({ folder, mode: "static" });
    for (const path of [
      "/../secret.txt",
      "/assets/../../secret.txt",
      "/assets/..%2f..%2fsecret.txt",
      "/%2e%2e/secret.txt",
      "/assets/%2e%2e%5csecret.txt",
      "//secret.txt",
      `/${root}/secret.txt`,
      "/link.txt",
      "/up/secret.txt",
      "/assets",
      "/assets/",
      "/assets/engine-12345678.js.gz",
      "/assets/engine-12345678.js%00.txt",
      "/nothing.js",
      "/constructor",
    ]) {
      for (const each of [path, decodeURIComponent(path)]) expect(await files.find(each)).toBeUndefined();
      const response = await server.raw("GET", path);
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.text()).not.toContain(SECRET);
    }
    expect((await server.raw("POST", "/icon.svg")).status).toBe(404);
    const head = await server.raw("HEAD", "/icon.svg");
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  it("are those of a build that was written anew", async () => {
    const { root: other, folder: built } = makeBuild();
    const files = studioFiles({ folder: built, mode: "static" });
    expect((await files.find("/assets/new-12345678.js"))?.status).toBeUndefined();
    writeFileSync(join(built, "assets", "new-12345678.js"), "1");
    writeFileSync(join(built, "index.html"), "<p>new</p>");
    utimesSync(join(built, "index.html"), new Date(), new Date(Date.now() + 5000));
    expect(new TextDecoder().decode((await files.find("/"))?.body ?? undefined)).toBe("<p>new</p>");
    expect((await files.find("/assets/new-12345678.js"))?.status).toBe(200);
    rmSync(built, { recursive: true });
    expect(await files.isBuilt()).toBe(false);
    rmSync(other, { recursive: true });
  });
});
