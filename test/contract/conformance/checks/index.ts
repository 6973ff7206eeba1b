import type { Check } from '../check.ts';
import { cacheChecks } from './cache.ts';
import { formatChecks } from './format.ts';
import { lengthChecks } from './length.ts';
import { messageChecks } from './messages.ts';
import { samplingChecks } from './sampling.ts';
import { thinkingChecks } from './thinking.ts';
import { tokenChecks } from './tokens.ts';
import { toolChecks } from './tools.ts';

/** Every check, in the order in which the tables show the checks of a field. */
export const checks: readonly Check[] = [
  ...messageChecks,
  ...samplingChecks,
  ...lengthChecks,
  ...formatChecks,
  ...toolChecks,
  ...tokenChecks,
  ...cacheChecks,
  ...thinkingChecks,
];
