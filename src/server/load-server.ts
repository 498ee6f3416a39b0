/** The server, where its packages are installed; else the sentence that names the command which installs them. */
import { optionalPackage } from "../sources/optional-package.js";

const TASK = "the server";

/** Called by the command that serves: nothing else loads these packages. */
export const loadServer = async (): Promise<typeof import("./start-server.js")> => {
  const packages = {
    hono: () => import("hono"),
    zod: () => import("zod"),
    "@hono/zod-openapi": () => import("@hono/zod-openapi"),
    "@hono/node-server": () => import("@hono/node-server"),
  };
  const all = Object.keys(packages).join(" ");
  for (const [name, load] of Object.entries(packages)) {
    await optionalPackage<unknown>(load, TASK, name, undefined, all);
  }
  return import("./start-server.js");
};
