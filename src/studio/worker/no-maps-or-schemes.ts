/**
 * What Vega imports and no chart here uses: maps, and colour schemes (`report/style.ts` gives every chart its colours).
 * Takes the place of the packages `d3-geo`, `d3-scale-chromatic` and `topojson-client` where the page is built, which would
 * otherwise be in it as a whole.
 */
const noMaps = (): never => {
  throw new Error("charts of the page draw no maps");
};
const noColours: readonly string[] = [];

export {
  noColours as schemeAccent,
  noColours as schemeCategory10,
  noColours as schemeDark2,
  noColours as schemeObservable10,
  noColours as schemePaired,
  noColours as schemePastel1,
  noColours as schemePastel2,
  noColours as schemeSet1,
  noColours as schemeSet2,
  noColours as schemeSet3,
  noMaps as feature,
  noMaps as geoArea,
  noMaps as geoBounds,
  noMaps as geoCentroid,
  noMaps as mesh,
};
