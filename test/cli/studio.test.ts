/** `fairbed studio` as people use it: the page, a browser, and Ctrl-C. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, describe, expect, test, vi } from "vitest";
import { studioCommandTexts } from "../../src/cli/commands/server/studio.js";
import { failureText } from "../../src/cli/failure.js";
import { studioServerTexts } from "../../src/server/studio-server.js";
import { archiveSource } from "../../src/server/studio-source.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { runInProcess } from "./in-process.js";
import { invoke } from "./invoke.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-studio-command-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A browser that writes down where it was sent, and ends as it is told. */
const browser = (code: number): { readonly PATH: string } => {
  for (const name of ["xdg-open", "open"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho "$1" > "${join(folder, "opened")}"\nexit ${code}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return { PATH: `${folder}${delimiter}${process.env.PATH ?? ""}` };
};

/** Runs it until it has said enough, looks at the page and presses Ctrl-C. */
const visited = async (words: readonly string[], env: Readonly<Record<string, string>>, until: RegExp) => {
  let page = "";
  let said = "";
  const opened = join(folder, "opened");
  rmSync(opened, { force: true });
  const outcome = await invoke(["studio", "--port", "0", ...words], {
    env,
    during: (child) => {
      let isSeen = false;
      child.stderr?.on("data", async (text) => {
        said += String(text);
        const [, url] = /(http:\S+)/.exec(said) ?? [];
        if (isSeen || url === undefined || !until.test(said)) return;
        isSeen = true;
        page = await (await fetch(url)).text();
        try {
          // A browser is another process, and has its turn when the machine comes to it.
          if (words.includes("--no-open")) await setTimeout(300);
          else await vi.waitFor(() => expect(readFileSync(opened, "utf8")).not.toBe(""), { timeout: 30_000 });
        } finally {
          child.kill("SIGINT");
        }
      });
    },
  });
  const [, url = ""] = /(http:\S+)/.exec(said) ?? [];
  return { ...outcome, page, url };
};

describe("fairbed studio", () => {
  test("opens the page, says that everything stays here, and ends on Ctrl-C", async () => {
    const { code, stdout, stderr, page, url } = await visited([], browser(0), /stays on this computer/);
    expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
    expect(stderr).toContain(`${studioCommandTexts.listening(url)}\n${studioCommandTexts.here}\n`);
    expect(page).toContain('<meta name="fairbed-mode" content="static"');
    expect(readFileSync(join(folder, "opened"), "utf8")).toBe(`${url}\n`);
    expect(stderr).not.toContain(studioCommandTexts.notOpened);
    expect(stderr.endsWith(`\nfairbed: ${failureText.stopped}\n`)).toBe(true);
  });

  test("goes on where no browser can be opened, and says so", async () => {
    const { code, stderr, page } = await visited([], browser(3), /open the address yourself/);
    expect(code).toBe(130);
    expect(stderr).toContain(studioCommandTexts.notOpened);
    expect(page).toContain("fairbed-mode");
  });

  test("opens none where none is wanted", async () => {
    const { code } = await visited(["--no-open"], browser(0), /stays on this computer/);
    expect(code).toBe(130);
    expect(() => readFileSync(join(folder, "opened"))).toThrow("ENOENT");
  });

  test("is written into a folder for other servers, the same from the archive that ships", async () => {
    const [saved, shipped] = [join(folder, "saved"), join(ROOT, "dist", "studio")];
    expect((await runInProcess(["studio", "--save", saved])).said).toEqual([
      expect.stringMatching(/^The page is in .*saved \(\d+ files\)/),
    ]);
    const names = readdirSync(shipped, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(shipped, join(entry.parentPath, entry.name)))
      .sort();
    const archive = archiveSource(`${shipped}.json.br`);
    expect([...(await archive.names())].sort()).toEqual(names);
    for (const name of names) {
      const bytes = readFileSync(join(shipped, name));
      expect(readFileSync(join(saved, name)).equals(bytes), name).toBe(true);
      expect(bytes.equals(await archive.read(name)), name).toBe(true);
    }
  });

  test("is for this computer alone", async () => {
    const { failure } = await runInProcess(["studio", "--host", "0.0.0.0"]);
    expect(failure).toBe(studioServerTexts.host("0.0.0.0"));
  });
});
