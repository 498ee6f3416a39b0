/** The parts of Vega have no declarations of their own for what is used of them here. */
declare module "vega-dataflow" {
  export const transforms: Record<string, unknown>;
}
declare module "vega-encode" {}
declare module "vega-transforms" {}
declare module "vega-view-transforms" {}
declare module "vega-parser" {
  export const parse: (spec: object, config: undefined, options: { readonly ast: boolean }) => object;
}
declare module "vega-scenegraph" {
  export const textMetrics: object;
}
declare module "vega-view" {
  export class View {
    constructor(runtime: object, options: object);
    toSVG(): Promise<string>;
    finalize(): void;
  }
}
