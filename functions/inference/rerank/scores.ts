import { UnusableReply } from '../pooling/unusable-reply.ts';

/**
 * Reads the scores of a call, whose entries say which document they are for.
 * @param scoreOf reads the score of an entry
 * @returns the scores in the order of the documents
 * @throws UnusableReply
 */
export const scoresOf = <Entry extends { index?: unknown }>(
  entries: readonly (Entry | null)[] | undefined,
  count: number,
  scoreOf: (entry: Entry) => unknown,
): number[] => {
  if (!Array.isArray(entries) || entries.length !== count) throw new UnusableReply('The reply does not have one score for each document.');
  const scores: number[] = [];
  for (const entry of entries) {
    const index = entry?.index;
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= count || scores[index as number] !== undefined)
      throw new UnusableReply('A score has no document of its own.');
    const score = scoreOf(entry);
    if (typeof score !== 'number' || !Number.isFinite(score)) throw new UnusableReply('A score is not a finite number.');
    scores[index as number] = score;
  }
  return scores;
};
