import type { ContainerTokenizer } from '../model/tokenizer.ts';
import { forcedPhase, type Phase } from './phase.ts';

/** The phases of an answer that begins with a text; the phases themselves without one. */
export const openedWith = (opening: string | undefined, createPhases: () => Phase[], tokenizer: ContainerTokenizer): (() => Phase[]) => {
  if (opening === undefined) return createPhases;
  const tokens = tokenizer.encodeText(opening);
  return () => [forcedPhase({ kind: 'content' }, tokens), ...createPhases()];
};
