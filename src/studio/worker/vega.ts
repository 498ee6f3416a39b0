/**
 * What of Vega the charts need, with its expressions walked and not evaluated: a policy without `unsafe-eval` allows it.
 * Takes the place of the package `vega` where the page is built.
 */
import { transforms as registry } from "vega-dataflow";
import * as encode from "vega-encode";
import { expressionInterpreter } from "vega-interpreter";
import { parse as parseSpec } from "vega-parser";
import { textMetrics } from "vega-scenegraph";
import * as transforms from "vega-transforms";
import * as util from "vega-util";
import { View as VegaView } from "vega-view";
import * as viewTransforms from "vega-view-transforms";

util.extend(registry, transforms, viewTransforms, encode);

// Vega-Lite takes some of its functions from here.
export * from "vega-util";
export { textMetrics };

export const parse = (spec: object): object => parseSpec(spec, undefined, { ast: true });

export class View extends VegaView {
  constructor(runtime: object, options: object) {
    super(runtime, { ...options, expr: expressionInterpreter });
  }
}
