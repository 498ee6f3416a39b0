/** Campaigns: data collection that runs for weeks and loses nothing. The same in Node and in a page. */

export type { Agreement } from "../core/stats.js";
export type {
  AcquiredSoFar,
  AcquisitionRanking,
  ForecastChoice,
  RankedRow,
  RecordedRow,
} from "../workflows/acquisition-ranking.js";
export type { AnnotatorAgreement, CampaignAgreement } from "./agreement.js";
export { auditCampaign, auditCampaignTexts, type CampaignAudit } from "./audit-campaign.js";
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
export type { CardChange } from "./card-changes.js";
export type { CardCell, CardComposition, CardGroup } from "./card-composition.js";
export { type CardPart, type CardSection, type CardTable, cardSections } from "./card-sections.js";
export { type ChainFault, checkEvents, checkItems } from "./chain.js";
export {
  type CampaignCard,
  type CardAudit,
  type CardCounts,
  type CardEstimate,
  type CardLeakage,
  type CardOwner,
  type CardPurpose,
  type CardResult,
  completeDataCard,
  DATA_CARD_FORMAT,
  type DataCardOptions,
  dataCard,
} from "./data-card.js";
export { dataCardMarkdown, dataCardText } from "./data-card-text.js";
export type { DesignAnswer } from "./design-answers.js";
export type { AskReason, EventKind, LogEvent, LogHead, StoredItem } from "./events.js";
export {
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportOptions,
  exportTable,
  exportText,
  exportTexts,
} from "./export.js";
export { indexedDbStore } from "./indexeddb-store.js";
export { memoryStore } from "./memory-store.js";
export { AnswerRefused, type AnswerStatus, type PoolAnswer, type TakenAnswer } from "./pool-answers.js";
export { type ExportedStatus, PROVENANCE_COLUMNS, type ProvenanceColumn } from "./pool-export.js";
export { type AnnotatorQuestion, forAnnotator, type Question } from "./question.js";
export { type AuditChoice, modelsInThread, type PoolModels } from "./ranking-schedule.js";
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
