// A peer is a long-lived Python process that answers one JSON line per JSON line (bench/peers/serve.py), so
// that its start and its imports do not count.
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The first Python that can import the module, or null: $FAIRBED_PYTHON, the system's, the one on PATH. */
function findPython(module) {
  const candidates = [process.env.FAIRBED_PYTHON, "/usr/bin/python3", "python3", "python"].filter(Boolean);
  return (
    candidates.find(
      (python) => spawnSync(python, ["-c", `import ${module}`], { stdio: "ignore" }).status === 0,
    ) ?? null
  );
}

/**
 * Starts the peer of that name ("torch" for bench/peers/torch_peer.py, which needs the module torch).
 * Resolves to { about, request(message), stop() }, or to null where no Python has the module.
 */
export async function startPeer(name) {
  const python = findPython(name);
  if (python === null) return null;
  const script = fileURLToPath(new URL(`./peers/${name}_peer.py`, import.meta.url));
  // -B: no byte code beside the sources.
  // Threads that wait by spinning keep the others from a busy machine's cores, and a peer takes ten times as long.
  const env = { OMP_WAIT_POLICY: "passive", ...process.env };
  const child = spawn(python, ["-B", script], { env, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.on("error", () => {}); // a dead peer shows as the end of its answers
  const answer = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error("its process stopped");
    const message = JSON.parse(value);
    if (message.error) throw new Error(message.error);
    return message;
  };
  const { about } = await answer();
  return {
    about,
    request(message) {
      child.stdin.write(`${JSON.stringify(message)}\n`);
      return answer();
    },
    stop: () => child.stdin.end(),
  };
}

/** Named arrays as JSON can carry them; float32 values survive exactly. */
export function plainInputs(inputs) {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, { shape, data }]) => [name, { shape, data: Array.from(data) }]),
  );
}
