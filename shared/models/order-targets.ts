import type { Model, Target } from './model.ts';

/** FNV-1a over UTF-16 code units (http://www.isthe.com/chongo/tech/comp/fnv), mixed once more because its high bits follow short keys too closely. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

const nameOf = ({ endpoint, component = '', region = '' }: Target): string => `${region}/${endpoint}/${component}`;

/**
 * A model's targets in the order in which a request tries them: the same key always has the same order, and keys spread over the targets by
 * weight (weighted rendezvous hashing, https://www.snia.org/sites/default/files/SDC15_presentations/dist_sys/Jason_Resch_New_Consistent_Hashings_Rev.pdf).
 */
export const orderTargets = ({ targets }: Pick<Model, 'targets'>, key: string): Model['targets'] => {
  if (targets.length === 1) return targets;
  const score = (target: Target): number => -target.weight / Math.log((hashOf(`${key}/${nameOf(target)}`) + 0.5) / 2 ** 32);
  return targets
    .map((target) => ({ target, score: score(target) }))
    .sort((a, b) => b.score - a.score)
    .map(({ target }) => target) as Model['targets'];
};
