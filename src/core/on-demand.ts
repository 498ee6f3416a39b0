/** Code that only some calls need, loaded by those: a page that never makes such a call does without it. */

export interface OnDemand<Loaded> {
  /** Before the first {@link OnDemand.now}; what was loaded stays. */
  load(): Promise<Loaded>;
  /** What was loaded. */
  now(): Loaded;
}

export const onDemand = <Loaded>(load: () => Promise<Loaded>): OnDemand<Loaded> => {
  let loaded: { readonly value: Loaded } | undefined;
  return {
    async load() {
      loaded ??= { value: await load() };
      return loaded.value;
    },
    now() {
      if (loaded === undefined) throw new Error("asked for before it was loaded");
      return loaded.value;
    },
  };
};
