import type { ReplyBody } from '../../client/routes.ts';
import { fromUnits, toUnits } from '../../design/format/amounts.ts';

export type InstanceType = ReplyBody<'GET /v1/instance-types'>['data'][number];

/** True for a type that new deployments can use. */
export const isUsable = ({ status, price }: InstanceType): boolean => status === 'available' && price !== null;

// The instances that copies need, which share the accelerators of an instance.
const instancesFor = (copies: number, { accelerators }: InstanceType, ofCopy: number): number =>
  Math.ceil(copies / Math.max(1, Math.floor(accelerators / ofCopy)));

/**
 * The cost of copies in dollars an hour if all run on one type; undefined if the type is unknown or has no price.
 * @param ofCopy the accelerators that a copy needs
 */
export const hourCostOf = (type: InstanceType | undefined, ofCopy: number, copies: number): string | undefined =>
  type?.price && ofCopy > 0 && copies > 0
    ? fromUnits(toUnits(type.price.per_hour) * BigInt(instancesFor(copies, type, ofCopy)))
    : undefined;

/** Usable types with enough accelerators, the cheapest first. */
export const choosableTypes = (types: readonly InstanceType[], ofCopy: number): InstanceType[] =>
  types
    .filter((type) => isUsable(type) && type.accelerators >= ofCopy)
    .sort((a, b) => Number(toUnits(a.price?.per_hour ?? '0') - toUnits(b.price?.per_hour ?? '0')) || a.id.localeCompare(b.id));

/** The hardware of a type in a few words. */
export const hardwareOf = ({ accelerators, accelerator, accelerator_memory_gib, memory_gib }: InstanceType): string =>
  `${accelerators} × ${accelerator}, ${accelerator_memory_gib} GiB each, ${memory_gib} GiB of memory`;
