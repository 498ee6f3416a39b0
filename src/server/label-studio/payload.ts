/** What Label Studio sends, as far as it is read here; everything else in it is let go. */
import { z } from "zod";
import { InputError } from "../../core/errors.js";
import type { TaskReading } from "./connection.js";

const idSchema = z.union([z.int(), z.string().regex(/^\d+$/)]).transform(String);

const taskSchema = z.object({
  id: idSchema,
  data: z.record(z.string(), z.unknown()).optional(),
});

const annotationSchema = z.object({
  id: idSchema,
  task: idSchema.nullish(),
  /** The user's number, or the user. */
  completed_by: z.union([idSchema, z.object({ id: idSchema }).transform(({ id }) => id)]).nullish(),
  was_cancelled: z.boolean().nullish(),
  created_at: z.string().max(64).nullish(),
  updated_at: z.string().max(64).nullish(),
  result: z.unknown(),
});
type SentAnnotation = z.output<typeof annotationSchema>;

/** A task as the project lists it. */
export const listedTaskSchema = taskSchema.extend({
  is_labeled: z.boolean().nullish(),
  annotations: z.array(annotationSchema).nullish(),
});
export type ListedTask = z.output<typeof listedTaskSchema>;

const some = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.array(schema)]).nullish();

const payloadSchema = z.object({
  action: z.string().max(100),
  /** The project's number, "number.time", or the project. */
  project: z
    .union([
      idSchema,
      z
        .string()
        .regex(/^\d+\.\d+$/)
        .transform((text) => text.replace(/\..*$/, "")),
      z.object({ id: idSchema }).transform(({ id }) => id),
    ])
    .nullish(),
});
const annotatedSchema = z.object({
  annotation: some(annotationSchema),
  annotations: some(annotationSchema),
  task: some(taskSchema),
  tasks: some(taskSchema),
});
const deletedSchema = z.object({
  annotation: some(z.object({ id: idSchema })),
  annotations: some(z.object({ id: idSchema })),
  task: some(z.object({ id: idSchema })),
  tasks: some(z.object({ id: idSchema })),
});

/** One annotation: who says what of whom. */
export interface AnnotationFact {
  readonly annotation: string;
  readonly task: string;
  /** The item's id; undefined where the task's data does not say. */
  readonly item: string | undefined;
  readonly annotator: string;
  /** When it was last changed, as Label Studio says it. */
  readonly updatedAt: string;
  /** Passed on instead of answered. */
  readonly skipped: boolean;
  /** What was chosen; undefined where nothing was, null where it cannot be read. */
  readonly label: string | number | undefined | null;
}

export type LabelStudioNews =
  | {
      readonly kind: "annotated";
      readonly project: string | undefined;
      readonly facts: readonly AnnotationFact[];
    }
  | {
      readonly kind: "annotations-deleted";
      readonly project: string | undefined;
      readonly ids: readonly string[];
    }
  | { readonly kind: "tasks-deleted"; readonly project: string | undefined; readonly ids: readonly string[] }
  /** Nothing that a campaign needs to know. */
  | { readonly kind: "nothing" };

export const payloadTexts = {
  notJson: "what came is no JSON object with an action",
  action: "the action is not known",
  shape: "the payload does not have the shape that its action has",
};

const listOf = <Value>(given: Value | readonly Value[] | null | undefined): readonly Value[] =>
  given === null || given === undefined ? [] : Array.isArray(given) ? given : [given as Value];

/** The item's id in a task's data. */
export const itemIn = (
  data: Readonly<Record<string, unknown>> | undefined,
  field: string,
): string | undefined => {
  const value = data !== undefined && Object.hasOwn(data, field) ? data[field] : undefined;
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
};

const resultSchema = z.array(
  z.object({
    from_name: z.string().nullish(),
    type: z.string().nullish(),
    value: z.unknown(),
  }),
);
const choiceSchema = z.object({ choices: z.array(z.string()).length(1) });

/** The one choice of the control. Undefined where nothing was chosen; null where it is not one choice. */
const labelIn = (result: unknown, { fromName, values }: TaskReading): AnnotationFact["label"] => {
  const parsed = resultSchema.safeParse(result);
  if (!parsed.success) return null;
  const own = parsed.data.filter(({ from_name }) => from_name === fromName);
  if (own.length === 0) return parsed.data.length === 0 ? undefined : null;
  const value = own.length === 1 ? choiceSchema.safeParse(own[0].value) : undefined;
  if (value === undefined || !value.success) return null;
  const [choice] = value.data.choices;
  return values !== undefined && Object.hasOwn(values, choice) ? values[choice] : choice;
};

export const factOf = (
  sent: SentAnnotation,
  task: { readonly id: string; readonly data?: Readonly<Record<string, unknown>> | undefined } | undefined,
  reading: TaskReading,
): AnnotationFact => ({
  annotation: sent.id,
  task: task?.id ?? sent.task ?? "0",
  item: itemIn(task?.data, reading.field),
  annotator: sent.completed_by ?? "",
  updatedAt: sent.updated_at ?? sent.created_at ?? "",
  skipped: sent.was_cancelled === true,
  label: labelIn(sent.result, reading),
});

const ANNOTATED = ["ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_UPDATED"];
const ANNOTATIONS_DELETED = ["ANNOTATIONS_DELETED", "ANNOTATION_DELETED"];
const TASKS_DELETED = ["TASKS_DELETED", "TASK_DELETED"];
const NOTHING = /^(TASKS?_(CREATED|UPDATED)|PROJECT_\w+|LABEL_LINK_\w+|START_TRAINING|TRAIN)$/;

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const parsedBy = <Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
  text: string,
): z.output<Schema> => {
  const parsed = schema.safeParse(given);
  // The parser's words quote what came, which is about somebody.
  if (!parsed.success) throw new InputError("payload", text);
  return parsed.data;
};

/** What a webhook says. Throws where it cannot be understood. */
export const newsIn = (text: string, reading: TaskReading): LabelStudioNews => {
  const given = jsonOf(text);
  const { action, project: number } = parsedBy(payloadSchema, given, payloadTexts.notJson);
  const project = number ?? undefined;
  if (ANNOTATED.includes(action)) {
    const sent = parsedBy(annotatedSchema, given, payloadTexts.shape);
    const annotations = [...listOf(sent.annotation), ...listOf(sent.annotations)];
    const tasks = [...listOf(sent.task), ...listOf(sent.tasks)];
    if (annotations.length === 0) throw new InputError("payload", payloadTexts.shape);
    const only = annotations.length === 1 && tasks.length === 1 ? tasks[0] : undefined;
    const facts = annotations.map((each) =>
      factOf(each, only ?? tasks.find(({ id }) => id === each.task), reading),
    );
    return { kind: "annotated", project, facts };
  }
  const isTasks = TASKS_DELETED.includes(action);
  if (isTasks || ANNOTATIONS_DELETED.includes(action)) {
    const sent = parsedBy(deletedSchema, given, payloadTexts.shape);
    const gone = isTasks
      ? [...listOf(sent.task), ...listOf(sent.tasks)]
      : [...listOf(sent.annotation), ...listOf(sent.annotations)];
    if (gone.length === 0) throw new InputError("payload", payloadTexts.shape);
    return {
      kind: isTasks ? "tasks-deleted" : "annotations-deleted",
      project,
      ids: gone.map(({ id }) => id),
    };
  }
  if (NOTHING.test(action)) return { kind: "nothing" };
  throw new InputError("payload", payloadTexts.action);
};

/** Ids of items that a payload names, however little else of it can be read. */
export const itemsNamedIn = (text: string, { field }: TaskReading): readonly string[] => {
  const parsed = z.object({ task: z.unknown(), tasks: z.unknown() }).partial().safeParse(jsonOf(text));
  if (!parsed.success) return [];
  return [...listOf(parsed.data.task), ...listOf(parsed.data.tasks)].flatMap((each) => {
    const task = z.object({ data: z.record(z.string(), z.unknown()) }).safeParse(each);
    const item = task.success ? itemIn(task.data.data, field) : undefined;
    return item === undefined ? [] : [item];
  });
};
