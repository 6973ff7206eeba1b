import type { InstanceType } from './catalogue.ts';

/** The number of copies that fit on an instance and share its accelerators. */
export const copiesPerInstance = (type: Pick<InstanceType, 'accelerators'>, acceleratorsOfCopy: number): number =>
  Math.floor(type.accelerators / acceleratorsOfCopy);

/** The instances that copies need. */
export const instancesFor = (copies: number, perInstance: number): number => Math.ceil(copies / perInstance);
