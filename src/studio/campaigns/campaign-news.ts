/** Tabs of one browser tell each other that a campaign has changed: which, and nothing of what happened. */

interface News {
  readonly place: string;
  readonly campaign: string;
}

const channel =
  typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("fairbed-campaigns");

export const tellTabs = (news: News): void => channel?.postMessage(news);

/** Returns what ends it. */
export const hearTabs = (listener: (news: News) => void): (() => void) => {
  const hear = ({ data }: MessageEvent<News>): void => listener(data);
  channel?.addEventListener("message", hear);
  return () => channel?.removeEventListener("message", hear);
};
