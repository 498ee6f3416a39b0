import { commandPages } from "../../.vitepress/references.js";

export default {
  paths: async () => (await commandPages()).map(({ name, content }) => ({ params: { name }, content })),
};
