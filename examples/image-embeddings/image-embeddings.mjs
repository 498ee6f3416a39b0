/**
 * Which pictures to label, from what a network sees in them.
 *
 * For: somebody with a folder of pictures and time to label 60 of them. The pictures show cells; wanted is a model that
 * tells ring-shaped cells from filled ones. The pictures come from two clinics, one of which burns a scale bar into half
 * of them, and what is labelled should say little about the clinic.
 *
 * Run: node image-embeddings.mjs (a few seconds, no network). The 600 pictures are drawn by this program, and the network
 * is a small one with random weights; with pictures of your own, `fairbed data embed` makes the same table with a
 * network that was trained.
 *
 * What is printed: a picture of each kind; which ones to label next; how well 60 labels do that are drawn at random, chosen
 * for what they tell (EPIG), and chosen by FairBED; and whether that differs from drawing at random. These trials show no
 * difference: drawing at random is as good here, and 60 pictures hardly teach anybody to tell the clinics apart.
 */
import { acquisition, seededStream, simulate, tableOf } from "fairbed";

const SIZE = 16;
const PICTURES = 600;
const LABELS = 60;
const stream = seededStream(3);

/** [SIZE * SIZE] brightness from 0 to 1. The second clinic burns a scale bar into half of its pictures. */
const draw = (shape, clinic) => {
  const [x0, y0] = [stream.uniform(), stream.uniform()].map((u) => SIZE / 2 + 5 * (u - 0.5));
  const radius = 3.2 + 2 * stream.uniform();
  const bar = clinic === "second" && stream.uniform() < 0.5;
  const contrast = 0.45 + 0.3 * stream.uniform();
  return Float64Array.from({ length: SIZE * SIZE }, (_, i) => {
    const [x, y] = [i % SIZE, Math.floor(i / SIZE)];
    const distance = Math.sqrt((x - x0) ** 2 + (y - y0) ** 2);
    const inside = shape === "ring" ? Math.abs(distance - radius) < 1 : distance < 0.8 * radius;
    const light = bar && y >= SIZE - 2 && x >= SIZE - 7 ? 0.95 : 0.2;
    return Math.min(1, Math.max(0, light + contrast * inside + 0.12 * stream.normal()));
  });
};

/** 12 filters of 3 by 3 with random weights, what is below 0 left out; of each the mean, and the largest of each half. */
const filters = Array.from({ length: 12 }, () => Float64Array.from({ length: 9 }, () => stream.normal()));
const embed = (picture) =>
  filters.flatMap((filter) => {
    let sum = 0;
    const largest = [0, 0];
    for (let y = 1; y < SIZE - 1; y++) {
      for (let x = 1; x < SIZE - 1; x++) {
        const at = (k) => picture[(y + Math.floor(k / 3) - 1) * SIZE + x + (k % 3) - 1];
        const seen = Math.max(
          0,
          filter.reduce((total, weight, k) => total + weight * at(k), 0),
        );
        const half = Number(y >= SIZE / 2);
        sum += seen;
        largest[half] = Math.max(largest[half], seen);
      }
    }
    return [sum / (SIZE - 2) ** 2, ...largest];
  });

const pictures = Array.from({ length: PICTURES }, () => {
  const clinic = stream.uniform() < 0.5 ? "first" : "second";
  const shape = stream.uniform() < (clinic === "first" ? 0.55 : 0.4) ? "ring" : "filled";
  return { clinic, shape, picture: draw(shape, clinic) };
});

const lines = ({ picture }) =>
  Array.from({ length: SIZE / 2 }, (_, row) =>
    Array.from({ length: SIZE }, (_, x) => " .:-=+*#%@"[Math.floor(9.99 * picture[2 * row * SIZE + x])]).join(
      "",
    ),
  );
const kinds = ["ring", "filled"].flatMap((shape) => ["first", "second"].map((clinic) => ({ shape, clinic })));
const shown = kinds.map(({ shape, clinic }) =>
  lines(pictures.find((each) => each.shape === shape && each.clinic === clinic)),
);
console.log(
  kinds
    .map(({ shape, clinic }) => `${shape}, ${clinic} clinic`.padEnd(22))
    .join("")
    .trimEnd(),
);
for (let row = 0; row < SIZE / 2; row++) {
  console.log(
    shown
      .map((each) => each[row].padEnd(22))
      .join("")
      .trimEnd(),
  );
}

const rows = pictures.map(({ clinic, shape, picture }, i) => ({
  picture: `picture ${i}`,
  clinic,
  shape,
  ...Object.fromEntries(embed(picture).map((value, i) => [`e${i}`, value])),
}));
const ROLES = { target: "shape=ring", sensitive: ["clinic"], id: "picture" };

// Twenty are labelled; of the others, which next? From the clinic's name it learns only where a picture is labelled.
const begun = tableOf(rows.map((row, i) => (i < 20 ? row : { ...row, shape: null })));
const session = acquisition(begun, ROLES);
console.log("\nTo label next, after the first 20");
for (const { id, reason, target, leakage } of await session.ask(6)) {
  const why =
    reason === "random"
      ? "drawn at random"
      : `to tell ${target.toFixed(3)} nats about shapes, ${leakage.toFixed(3)} about the clinic`;
  console.log(`  ${id}: ${why}`);
}

const TRIALS = 12;
const { methods, againstRandom } = await simulate(tableOf(rows), {
  ...ROLES,
  methods: ["random", "epig", "fairbed"],
  budget: LABELS,
  batch: 10,
  checkpoints: [LABELS],
  trees: 50,
  seeds: TRIALS,
});
const NAMES = { random: "at random", epig: "by what they tell (EPIG)", fairbed: "by FairBED" };
const of = ({ mean, standardError }) => `${mean.toFixed(3)} ± ${standardError.toFixed(3)}`;
console.log(
  `\n${LABELS} labels, judged on pictures held out: means of ${TRIALS} trials and their standard errors`,
);
console.log(`  ${"chosen".padEnd(26)}${"shape is right".padEnd(18)}clinic told apart (AUC, 0.5 is guessing)`);
for (const { method, final } of methods) {
  console.log(`  ${NAMES[method].padEnd(26)}${of(final.accuracy).padEnd(18)}${of(final.leakageAuc)}`);
}
for (const { sentence } of againstRandom.methods) console.log(`\n${sentence}`);
