import type { Check } from './registration-report.ts';

export interface Finding extends Omit<Check, 'name'> {
  /** The tokens of the short conversation, as the container or the tokenizer counted them. */
  promptTokens?: number | undefined;
}

export const passing = (detail: string): Finding => ({ passed: true, detail });
export const failing = (detail: string): Finding => ({ passed: false, detail });
