import { linesOfBedrock, linesOfGateway } from './alternatives.ts';
import { type LineAtRest, linesAtRest } from './at-rest.ts';
import { type BreakEven, breakEven } from './break-even.ts';
import { afterAllowances, byService, totalNanos } from './line.ts';
import { linesOfMonth } from './month.ts';
import type { Resources } from './resources.ts';
import type { Usage } from './usage.ts';

/** A month with some usage, and what else it could have cost, in nano-dollars. */
export interface Month {
  name: string;
  usage: Usage;
  services: ReadonlyMap<string, bigint>;
  total: bigint;
  /** What of the total is billed without any request. */
  atRest: bigint;
  /** The total of an account that uses its allowances for nothing else. */
  afterAllowances: bigint;
  /** What a million such requests more would add; undefined without requests. */
  aMillionMore: bigint | undefined;
  /** The gateway that always runs. */
  gateway: bigint;
  bedrock: bigint;
  /** Undefined without requests. */
  breakEven: BreakEven | undefined;
}

/** What is billed at rest under one name. */
export interface ItemAtRest {
  item: string;
  total: bigint;
  afterAllowances: bigint;
  toZero: string;
}

/** What a deployment costs. */
export interface Estimate {
  months: readonly Month[];
  atRest: readonly ItemAtRest[];
}

const MILLION = 1_000_000n;

/** What months with these usages cost. What is stored at rest is that of the last of them. */
export const estimate = (resources: Resources, usages: Readonly<Record<string, Usage>>): Estimate => ({
  months: Object.entries(usages).map(([name, usage]) => toMonth(resources, name, usage)),
  atRest: toItems(linesAtRest(resources, { storedGb: Object.values(usages).at(-1)?.storedGb ?? 0n })),
});

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
