/**
 * How a runtime takes a field of docs/api.md:
 * - `passed`: sent under its own name
 * - `renamed`: sent as `to`, with its value in the runtime's terms
 * - `ours`: handled by Sluice
 * - `ignored`: accepted without effect, because the runtime has nothing like it; listed in `x-sluice-ignored`
 * - `refused`: a 400 when it is switched on
 */
export type Treatment = { how: 'passed' | 'ours' | 'ignored' | 'refused' } | { how: 'renamed'; to: string };

/** One table for each runtime: how it takes each field of interface 2.1. */
export interface Dialect<Field extends string = string, Extra extends string = string> {
  fields: Readonly<Record<Field, Treatment>>;
  /** Fields beyond the interface that this runtime gets as they are; all others are dropped. */
  extras: readonly Extra[];
  /** Fields of a plain completion that this runtime takes differently than a field of the same name in a chat. */
  completionFields?: Readonly<Record<string, Treatment>>;
  /** Fields of every body, whatever the request: it is always for a stream. */
  always: Readonly<Record<string, unknown>>;
  /** The runtime's name for our id of the request, if it takes one. */
  requestIdField?: string;
  /** This runtime can keep a limit on thinking tokens. */
  keepsThinkingBudget: boolean;
  /** Its grammar can't express some keywords of JSON Schema: functions/inference/chat/schema-grammar.ts. */
  hasStrictGrammar: boolean;
  /** This runtime can continue the last message of an assistant. */
  continuesLastMessage: boolean;
}

export const passed: Treatment = { how: 'passed' };
export const ours: Treatment = { how: 'ours' };
export const ignored: Treatment = { how: 'ignored' };
export const refused: Treatment = { how: 'refused' };
export const renamed = (to: string): Treatment => ({ how: 'renamed', to });

/** The name under which a runtime gets a field; undefined where it doesn't. */
export const sentAs = (field: string, treatment: Treatment): string | undefined =>
  treatment.how === 'passed' ? field : treatment.how === 'renamed' ? treatment.to : undefined;
