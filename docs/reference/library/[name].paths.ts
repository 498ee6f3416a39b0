import { libraryPages } from "../../.vitepress/references.js";

export default {
  paths: async () => (await libraryPages()).map(({ name, content }) => ({ params: { name }, content })),
};
