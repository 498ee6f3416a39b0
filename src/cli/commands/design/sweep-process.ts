/** A process that computes cells of a sweep for its parent, one at a time, until the parent lets go. */
import { answerJobs } from "../../../jobs/subprocess.js";
import { type CellOrder, type CellResult, runCell } from "./sweep-cell.js";

answerJobs<CellOrder, CellResult>((order) => runCell(order));
