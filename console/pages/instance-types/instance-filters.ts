import { type InstanceType, isUsable } from '../deployments/hour-cost.ts';

/** The kinds of instance types that the screen can show. */
export const KINDS = [
  ['', 'All'],
  ['usable', 'Available'],
  ['unpriced', 'No price'],
  ['retired', 'Retired'],
] as const;

const FITS: Readonly<Record<string, (type: InstanceType) => boolean>> = {
  usable: isUsable,
  unpriced: ({ status, price }) => status === 'available' && price === null,
  retired: ({ status }) => status === 'retired',
};

/** The types of a kind whose id or accelerator has a text in it. */
export const matchingTypes = (types: readonly InstanceType[], { kind, text }: { kind: string; text: string }): InstanceType[] => {
  const wanted = text.toLowerCase();
  return types.filter((type) => (FITS[kind]?.(type) ?? true) && `${type.id} ${type.accelerator}`.toLowerCase().includes(wanted));
};

/** The price version that takes effect next; undefined if none is planned. */
export const nextPriceOf = ({ prices = [] }: InstanceType, nowS: number) =>
  prices.filter(({ effective_at }) => effective_at > nowS).sort((a, b) => a.effective_at - b.effective_at)[0];
