import type { ChatExtra, ChatField } from './request.ts';

/**
 * What becomes of a documented property on its way to a runtime.
 * - `passed`: sent under its own name
 * - `renamed`: sent as `to`
 * - `ours`: done by Sluice, or put into the runtime's words by it
 * - `ignored`: this runtime has nothing like it; accepted, without effect, named in `x-sluice-ignored`
 * - `refused`: a 400 when it is switched on
 */
export interface Treatment {
  how: 'passed' | 'renamed' | 'ours' | 'ignored' | 'refused';
  to?: string;
}

/** One table a runtime: how it is asked for each property of interface 2.1. */
export interface Dialect {
  fields: Readonly<Record<ChatField, Treatment>>;
  /** Properties beyond the interface that go to this runtime as they are; all others are dropped. */
  extras: readonly ChatExtra[];
}

export const passed: Treatment = { how: 'passed' };
export const ours: Treatment = { how: 'ours' };
export const ignored: Treatment = { how: 'ignored' };
export const refused: Treatment = { how: 'refused' };
export const renamed = (to: string): Treatment => ({ how: 'renamed', to });
