/** Commands of `campaign/`. */
import type { Command } from "../command.js";
import { adjudicate, retract, skip } from "./campaign/annotate.js";
import { ask } from "./campaign/ask.js";
import { backup, restore } from "./campaign/backup.js";
import { configure } from "./campaign/configure.js";
import { create } from "./campaign/create.js";
import { deleteCampaign } from "./campaign/delete.js";
import { estimate } from "./campaign/estimate.js";
import { exportCampaign } from "./campaign/export.js";
import { forecast } from "./campaign/forecast.js";
import { list } from "./campaign/list.js";
import { replay } from "./campaign/replay.js";
import { status } from "./campaign/status.js";
import { tell } from "./campaign/tell.js";
import { verify } from "./campaign/verify.js";
import { withdraw } from "./campaign/withdraw.js";

export const commands: readonly Command[] = [
  create,
  ask,
  tell,
  status,
  forecast,
  estimate,
  exportCampaign,
  configure,
  skip,
  retract,
  adjudicate,
  withdraw,
  replay,
  verify,
  backup,
  restore,
  list,
  deleteCampaign,
];
