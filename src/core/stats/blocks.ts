/** More values than this are resampled in so many blocks: their means are as normal, in a fraction of the time. */
const MOST_BLOCKS = 2000;

/**
 * Means of blocks of every so many values, whose mean is that of the values and which vary among each other as means of
 * so many do: a bootstrap of the blocks is one of the values. The values themselves where there are at most 2000. Columns
 * of the same length are cut alike, so that what belongs together stays together.
 */
export const blockMeans = (values: Float64Array): Float64Array => {
  const n = values.length;
  if (n <= MOST_BLOCKS) return values;
  const means = new Float64Array(MOST_BLOCKS);
  for (let i = 0; i < n; i++) means[i % MOST_BLOCKS] += (values[i] * MOST_BLOCKS) / n;
  return means;
};
