/** Train a policy, run it with a simulated participant, and see what was learnt. The same in Node and in a page. */
import { runPolicy, trainPolicy } from "fairbed";
import { psychometric } from "fairbed/design";

const model = psychometric(); // a stimulus is noticed or not: the threshold is wanted, a group's shift is not
const policy = await trainPolicy(model, { horizon: 5, beta: 0.8, steps: 60, starts: 2, evaluation: false });
const session = runPolicy(model, policy);
while (!session.done) {
  const { intensity, context } = await session.next();
  session.tell(intensity > 0.5 + 0.3 * context ? 1 : 0); // this one notices what is above 0.5, or more in context
}
const { threshold, shift } = (await session.posterior()).parameters;
console.log(`threshold ${threshold.mean.toFixed(2)} ± ${threshold.sd.toFixed(2)} (before: 0 ± 1)`);
console.log(`shift ${shift.mean.toFixed(2)} ± ${shift.sd.toFixed(2)} (before: 0 ± 1)`);
