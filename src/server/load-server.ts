/** The server, where its packages are installed; else the sentence that names the command which installs them. */
import { optionalPackage } from "../sources/optional-package.js";

const TASK = "the server";

/** Called by the command that serves: nothing else loads these packages. */
export const loadServer = async (): Promise<typeof import("./start-server.js")> => {
  await optionalPackage(() => import("hono"), TASK, "hono");
  await optionalPackage(() => import("zod"), TASK, "zod");
  await optionalPackage(() => import("@hono/zod-openapi"), TASK, "@hono/zod-openapi");
  await optionalPackage(() => import("@hono/node-server"), TASK, "@hono/node-server");
  return import("./start-server.js");
};
