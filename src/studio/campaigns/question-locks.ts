/** Which tab shows a question: no two do, and what a closed tab held is free for the next one. */

const HELD_HERE = "fairbed held";
const releases = new Map<string, () => void>();

/** Without locks, as on a page without https, a tab knows its own questions again and no others. */
const ownOnly = (request: string): boolean => {
  try {
    return (sessionStorage.getItem(HELD_HERE) ?? "").split(" ").includes(request);
  } catch {
    return false;
  }
};
const noteOwn = (): void => {
  try {
    sessionStorage.setItem(HELD_HERE, [...releases.keys()].join(" "));
  } catch {
    // Then a reload asks for others.
  }
};

/** Whether it is this tab's now. `fresh` are questions that nobody else can know of. */
export const takeQuestion = (request: string, fresh = false): Promise<boolean> => {
  if (releases.has(request)) return Promise.resolve(true);
  if (navigator.locks === undefined) {
    if (!fresh && !ownOnly(request)) return Promise.resolve(false);
    releases.set(request, () => {});
    noteOwn();
    return Promise.resolve(true);
  }
  return new Promise((resolve) => {
    void navigator.locks.request(`fairbed question ${request}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      if (lock === null) return undefined;
      return new Promise<void>((release) => {
        releases.set(request, release);
      });
    });
  });
};

export const letGoOfQuestion = (request: string): void => {
  releases.get(request)?.();
  releases.delete(request);
  if (navigator.locks === undefined) noteOwn();
};

/** One tab sends at a time, so that what was said arrives in its order. */
export const asOnlySender = async (key: string, send: () => Promise<void>): Promise<void> => {
  if (navigator.locks === undefined) return send();
  await navigator.locks.request(`fairbed outbox ${key}`, send);
};
