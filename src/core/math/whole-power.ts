/**
 * x^n for a whole n of at least 0, by squaring: the same bits in every engine, and exact where all products are.
 * x ** n is not: engines round it differently.
 */
export const wholePower = (x: number, n: number): number => {
  let power = 1;
  let square = x;
  for (let left = n; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power *= square;
    square *= square;
  }
  return power;
};
