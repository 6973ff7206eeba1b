import { linesOfBedrock, linesOfGateway } from './alternatives.ts';
import { type LineAtRest, linesAtRest, linesOnce } from './at-rest.ts';
import { type BreakEven, breakEven } from './break-even.ts';
import { afterAllowances, byService, type Line, totalNanos } from './line.ts';
import { linesOfMonth } from './month.ts';
import type { Resources } from './resources.ts';
import type { Usage } from './usage.ts';

/** A month with some usage, and what else it could have cost, in nano-dollars. */
export interface Month {
  name: string;
  usage: Usage;
  services: ReadonlyMap<string, bigint>;
  total: bigint;
  /** The part of the total that is billed without any request. */
  atRest: bigint;
  /** The total of an account that uses its allowances for nothing else. */
  afterAllowances: bigint;
  /** The cost of a million more requests like these; undefined without requests. */
  aMillionMore: bigint | undefined;
  /** The gateway that always runs. */
  gateway: bigint;
  bedrock: bigint;
  /** Undefined without requests. */
  breakEven: BreakEven | undefined;
}

export interface ItemAtRest {
  item: string;
  total: bigint;
  afterAllowances: bigint;
  toZero: string;
}

export interface Estimate {
  months: readonly Month[];
  atRest: readonly ItemAtRest[];
  /** The items that are billed once, in nano-dollars, by item. */
  once: readonly { item: string; total: bigint }[];
}

const MILLION = 1_000_000n;

/** Estimates a month for each usage. Data stored at rest are those of the last one. */
export const estimate = (resources: Resources, usages: Readonly<Record<string, Usage>>): Estimate => ({
  months: Object.entries(usages).map(([name, usage]) => toMonth(resources, name, usage)),
  atRest: toItems(linesAtRest(resources, { storedGb: Object.values(usages).at(-1)?.storedGb ?? 0n })),
  once: onceOf(linesOnce(resources)),
});

const onceOf = (lines: readonly Line[]): Estimate['once'] =>
  [...new Set(lines.map(({ item }) => item))].map((item) => ({ item, total: totalNanos(lines.filter((line) => line.item === item)) }));

const toMonth = (resources: Resources, name: string, usage: Usage): Month => {
  const lines = linesOfMonth(resources, usage);
  const total = totalNanos(lines);
  const isUsed = usage.requests > 0n;
  return {
    name,
    usage,
    services: byService(lines),
    total,
    atRest: totalNanos(linesAtRest(resources, usage)),
    afterAllowances: totalNanos(afterAllowances(lines)),
    aMillionMore: isUsed ? totalNanos(linesOfMonth(resources, { ...usage, requests: usage.requests + MILLION })) - total : undefined,
    gateway: totalNanos(linesOfGateway(usage)),
    bedrock: totalNanos(linesOfBedrock(usage)),
    breakEven: isUsed ? breakEven(resources, usage) : undefined,
  };
};

const toItems = (lines: readonly LineAtRest[]): ItemAtRest[] => {
  const reduced = afterAllowances(lines);
  return [...new Set(lines.map(({ item }) => item))].map((item) => {
    const isOfItem = (line: { item: string }): boolean => line.item === item;
    const ofItem = lines.filter(isOfItem);
    return {
      item,
      total: totalNanos(ofItem),
      afterAllowances: totalNanos(reduced.filter(isOfItem)),
      toZero: ofItem[0]?.toZero ?? '',
    };
  });
};
