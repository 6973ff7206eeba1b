import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type EconomicsSums,
  NO_TIME,
  NO_USAGE,
  sumOf,
  sumsOfDeployment,
  sumsWithoutDeployment,
} from '../../../../functions/control/economics/economics-sums.ts';
import { figuresOf, quotient } from '../../../../functions/control/economics/figures.ts';

const ADMIN = { isOwner: false };
const OWNER = { isOwner: true };

const DAY = sumsOfDeployment(
  {
    seconds: { waking: 600n, busy: 3_000n, idle: 5_600n, draining: 800n },
    awakeSeconds: 10_000n,
    costNanos: 4_000_000_000n,
    uncostedSeconds: 0n,
    chargeNanos: 5_000_000_000n,
  },
  {
    requests: 10,
    promptTokens: 3_000_000n,
    cachedTokens: 1_000_000n,
    completionTokens: 1_000_000n,
    soldNanos: 2_000_000_000n,
    promptMs: 30_000n,
    generationMs: 90_000n,
  },
);

const UNUSED = sumsOfDeployment({ ...DAY }, NO_USAGE);

test('an admin sees the platform’s cost, the revenue of tokens and GPU time, and the margin', () => {
  expect(figuresOf(DAY, ADMIN)).toMatchObject({
    cost: '4',
    cost_missing: [],
    revenue: { total: '7', tokens: '2', gpu_time: '5' },
    margin: '3',
    utilization: '0.3',
  });
});

test('an owner sees what it pays as the cost, and neither revenue nor margin nor the platform’s cost', () => {
  const figures = figuresOf(DAY, OWNER);
  // Five dollars for GPU time, and two for its own tokens.
  expect(figures).toMatchObject({ cost: '7', known_cost: '7', revenue: null, margin: null });
  expect(figures.break_even_tokens_per_second.at_sold_price).toBeNull();
});

test('cost is attributed to prompts and completions by the measured phases', () => {
  const { attribution, cost_per_million } = figuresOf(DAY, ADMIN);
  expect(attribution).toEqual({ rule: 'phases', prompt_share: '0.25' });
  expect(cost_per_million).toEqual({ tokens: '1', prompt: '0.333333333', completion: '3' });
});

test('cost is attributed by a completion token’s weight of 4 if no phase was measured', () => {
  const { attribution, cost_per_million } = figuresOf({ ...DAY, promptMs: 0n, generationMs: 0n }, ADMIN);
  expect(attribution).toEqual({ rule: 'weight', prompt_share: '0.4286' });
  expect(cost_per_million).toEqual({ tokens: '1', prompt: '0.571428571', completion: '2.285714286' });
});

test('an instance type without a cost makes the cost null and never 0, and says so', () => {
  const figures = figuresOf({ ...DAY, costNanos: 1_000_000_000n, uncostedSeconds: 1n }, ADMIN);
  expect(figures).toMatchObject({ cost: null, known_cost: '1', cost_missing: ['no_cost_price'], margin: null, attribution: null });
  expect(figures.cost_per_million).toEqual({ tokens: null, prompt: null, completion: null });
  expect(figuresOf({ ...DAY, uncostedSeconds: 1n, soldNanos: 0n }, OWNER).cost).toBe('5');
});

test('tokens that no deployment served have no known cost', () => {
  expect(figuresOf(sumsWithoutDeployment(DAY), ADMIN)).toMatchObject({
    cost: null,
    cost_missing: ['not_metered'],
    revenue: { total: '2' },
    margin: null,
    utilization: null,
  });
});

test('a day awake without a request costs, has a utilization of 0 and no cost per token', () => {
  const sums = { ...UNUSED, seconds: { waking: 0n, busy: 0n, idle: 10_000n, draining: 0n } };
  expect([sums.awakeDays, sums.unusedDays]).toEqual([1, 1]);
  expect(figuresOf(sums, ADMIN)).toMatchObject({ cost: '4', utilization: '0', attribution: null, tokens_per_second: '0' });
});

test('the break-even rate is the tokens a second whose value is the cost, at the sold and the list price', () => {
  const listPrice = { prompt_nanos: 500_000_000, completion_nanos: 500_000_000 };
  expect(figuresOf(DAY, { ...ADMIN, listPrice })).toMatchObject({
    tokens_per_second: '400',
    break_even_tokens_per_second: { at_sold_price: '800', at_list_price: '800' },
    list_cost: '2',
  });
  expect(figuresOf(DAY, ADMIN).list_cost).toBeNull();
  expect(figuresOf({ ...DAY, soldNanos: 0n }, ADMIN).break_even_tokens_per_second.at_sold_price).toBeNull();
});

test('a quotient is rounded once, half away from zero', () => {
  expect([quotient(1n, 8n, 2), quotient(-1n, 8n, 2), quotient(1n, 3n, 3), quotient(1n, 0n, 3)]).toEqual(['0.13', '-0.13', '0.333', null]);
});

const Amount = fc.bigInt(0n, 10n ** 14n);
const Sums: fc.Arbitrary<EconomicsSums> = fc
  .tuple(Amount, Amount, Amount, Amount, Amount, fc.boolean())
  .map(([costNanos, chargeNanos, soldNanos, promptTokens, completionTokens, isServed]) => {
    const usage = { ...NO_USAGE, requests: 1, soldNanos, promptTokens, completionTokens };
    return isServed ? sumsOfDeployment({ ...NO_TIME, awakeSeconds: 5n, costNanos, chargeNanos }, usage) : sumsWithoutDeployment(usage);
  });

test('sums don’t depend on how rows are grouped', () => {
  fc.assert(
    fc.property(fc.array(Sums, { minLength: 2, maxLength: 8 }), fc.integer({ min: 1, max: 7 }), (all, cut) => {
      const at = Math.min(cut, all.length - 1);
      const add = (part: readonly EconomicsSums[]) => part.reduce(sumOf);
      expect(sumOf(add(all.slice(0, at)), add(all.slice(at)))).toEqual(add(all));
    }),
  );
});
