/** Campaigns: data collection that runs for weeks and loses nothing. The same in Node and in a page. */

export { BACKUP_FORMAT, backupLines, restoreCampaign } from "./backup.js";
export {
  type Answer,
  type Asked,
  type AskOptions,
  Campaign,
  type CampaignNews,
  campaignTexts,
  type DesignCampaign,
  type OpenOptions,
  type PoolCampaign,
  type RankingAge,
  type Withdrawn,
} from "./campaign.js";
export { type ChainFault, checkEvents, checkItems } from "./chain.js";
export type { DesignAnswer } from "./design-answers.js";
export type { AskReason, EventKind, LogEvent, LogHead, StoredItem } from "./events.js";
export { indexedDbStore } from "./indexeddb-store.js";
export { memoryStore } from "./memory-store.js";
export { AnswerRefused, type AnswerStatus, type PoolAnswer, type TakenAnswer } from "./pool-answers.js";
export { type AnnotatorQuestion, forAnnotator, type Question } from "./question.js";
export { modelsInThread, type PoolModels } from "./ranking-schedule.js";
export { type Replay, type ReplayOptions, replayCampaign } from "./replay.js";
export type {
  CampaignAcquisition,
  CampaignOptions,
  CampaignSettings,
  PoolColumn,
  SettingsChange,
} from "./settings.js";
export type { CampaignCounts, CampaignStatus } from "./status.js";
export {
  type CampaignStore,
  type LockedLog,
  type LogChange,
  type StoredCampaign,
  type StoredDocument,
  StoreUnavailable,
} from "./store.js";
export { type Verification, verifyCampaign } from "./verify.js";
