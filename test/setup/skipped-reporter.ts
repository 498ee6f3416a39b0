/** Names every skipped suite or test at the end: a skip that nobody sees is a test that nobody has. */
import type { Reporter, TestCase, TestModule, TestSuite } from "vitest/node";

const skippedIn = (parent: TestModule | TestSuite): readonly (TestSuite | TestCase)[] =>
  [...parent.children].flatMap((child) => {
    if (child.type === "test") return child.result().state === "skipped" ? [child] : [];
    return child.state() === "skipped" ? [child] : skippedIn(child);
  });

export default class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const { fullName } of skippedIn(module)) {
        process.stdout.write(`not run: ${module.relativeModuleId}: ${fullName}\n`);
      }
    }
  }
}
