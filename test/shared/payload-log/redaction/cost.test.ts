import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_STEPS } from '../../../../shared/payload-log/redaction/budget.ts';
import { findSpans } from '../../../../shared/payload-log/redaction/find-spans.ts';
import { normalize } from '../../../../shared/payload-log/redaction/normal-text.ts';
import { redactText } from '../../../../shared/payload-log/redaction/redact-text.ts';
import { redactValue } from '../../../../shared/payload-log/redaction/redact-value.ts';
import { PATTERNS, type RedactionRules } from '../../../../shared/payload-log/settings.ts';
import { isFull, sized } from '../../../support/sized.ts';
import { plainOf, SIZE, shapesOf } from './shapes.ts';

const RULES: RedactionRules = { patterns: [...PATTERNS], paths: [], tool_arguments: 'redact' };
const ALL = new Set(PATTERNS);
const MAX_BYTES = 1_000_000;
const MAX_RATIO = 3;
// The characters of a text whose CPU time is measured, with bounds in proportion.
const MEASURED = sized(250_000, SIZE);
const SHARE = MEASURED / SIZE;

const redact = (value: unknown, share = 1) => redactValue(value, RULES, MAX_BYTES * share, MAX_STEPS * share);

const cpuMsOf = (work: () => unknown): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

// In turns, so that other work on the machine slows down both or neither.
const leastCpu = (works: readonly (() => unknown)[], runs: number): number[] => {
  const least = works.map(() => Number.POSITIVE_INFINITY);
  for (let run = 0; run < runs; run++) for (const [i, work] of works.entries()) least[i] = Math.min(least[i] as number, cpuMsOf(work));
  return least;
};

const RUNS = 5;

// Divided by the CPU time of plain text of the same size. A value is measured alone first, against the least time of
// plain text so far. Too high a ratio, such as on a busy machine, is measured again, both in turns.
const ratioOf = (value: unknown, leastOfPlain: number): number => {
  const alone = cpuMsOf(() => redact(value, SHARE)) / leastOfPlain;
  if (alone <= MAX_RATIO) return alone;
  const plain = plainOf(MEASURED);
  for (let attempt = 1; ; attempt++) {
    const [own = 0, ofPlain = 1] = leastCpu([() => redact(value, SHARE), () => redact(plain, SHARE)], RUNS * attempt);
    if (own / ofPlain <= MAX_RATIO || attempt === 4) return own / ofPlain;
  }
};

// Returns the least CPU time of plain text.
const warmUp = (): number => {
  const plain = plainOf(MEASURED);
  return leastCpu([() => redact(plain, SHARE)], 2 * RUNS)[0] as number;
};

const stepsOf = (text: string): number => {
  const budget = { left: Number.MAX_SAFE_INTEGER };
  redactText(text, ALL, budget);
  return Number.MAX_SAFE_INTEGER - budget.left;
};

test('redacts whatever text in at most three times the CPU time of as much plain text', () => {
  const leastOfPlain = warmUp();
  const rows = shapesOf(MEASURED).map(([name, value]) => ({ name, ratio: ratioOf(value, leastOfPlain) }));
  const table = rows.map(({ name, ratio }) => `${ratio.toFixed(2).padStart(5)}  ${name}`);
  process.stdout.write(`CPU of each text, divided by that of plain text:\n${table.join('\n')}\n`);
  expect(rows.length).toBeGreaterThanOrEqual(40);
  expect(rows.filter(({ ratio }) => ratio > MAX_RATIO)).toEqual([]);
}, 300_000);

describe('redaction', () => {
  test('takes one to two steps for each character of plain text', () => {
    const steps = stepsOf(plainOf(SIZE)) / SIZE;
    expect(steps).toBeGreaterThanOrEqual(1);
    expect(steps).toBeLessThan(2);
  });

  test.each(shapesOf(20_000).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])))(
    'takes twice as many steps for twice as much of %s',
    (_, text) => {
      const passOf = (part: string): number => findSpans(normalize(part), ALL, Number.MAX_SAFE_INTEGER)?.steps ?? 0;
      const half = text.slice(0, text.length / 2);
      const steps = passOf(text);
      expect(steps).toBeLessThanOrEqual(2.1 * passOf(half) + 2_000);
      expect(steps).toBeLessThanOrEqual(20 * text.length);
    },
  );
});

describe('the budget', () => {
  const text = 'word 4111 1111 1111 1111 '.repeat(100);

  test('leaves out the text in which it ends, and everything after it, and says so', () => {
    const { value, isTruncated, counts } = redactValue({ a: 'first', b: text, c: ['later'], d: 'last' }, RULES, MAX_BYTES, 1_000);
    expect(value).toEqual({ a: 'first', b: '[redacted:budget]', '[redacted:budget]': '[redacted:budget]' });
    expect(isTruncated).toBe(true);
    expect(counts).toMatchObject({ budget: 1 });
  });

  test('also bounds values without texts', () => {
    const { value, counts } = redactValue(
      Array.from({ length: 1_000 }, () => 1),
      RULES,
      MAX_BYTES,
      500,
    );
    expect((value as unknown[]).at(-1)).toBe('[redacted:budget]');
    expect((value as unknown[]).length).toBeLessThanOrEqual(10);
    expect(counts).toEqual({ budget: 1 });
  });

  test('is enough for 1 MB of text with something to find', () => {
    expect(redact(`${plainOf(SIZE - 50_000)} a@b.example`).counts).toEqual({ email: 1 });
    expect(MAX_STEPS).toBe(MAX_RATIO * MAX_BYTES);
  });
});

const part = fc.constantFrom(
  ...'a @ . - : / + 1 41 4111 _ = " ( ) \\ \\n é \u00a0 \u200b １ ＠'.split(' '),
  ...'DE89 GB11 QA11A eyJ aaaaaaaaa sk- whsec_ bearer basic AKIA 1. :: YTpi -----BEGIN -----END secret_access_key'.split(' '),
  ' ',
  'PRIVATE KEY-----',
);
const parts = fc.array(part, { minLength: 1, maxLength: 5 }).map((list) => list.join(''));

test('takes no more steps for any repetition of parts of the patterns than the budget of its size', () => {
  fc.assert(
    fc.property(parts, parts, fc.integer({ min: 0, max: 100 }), (one, other, percent) => {
      const length = 20_000;
      const text = one.repeat(length / one.length).slice(0, percent * 200) + other.repeat((length - percent * 200) / other.length);
      const found = findSpans(normalize(text), ALL, Number.MAX_SAFE_INTEGER);
      expect(found?.steps).toBeLessThanOrEqual(25 * text.length + 1_000);
      const redacted = redactText(text, ALL, { left: Number.MAX_SAFE_INTEGER });
      expect(redactText(redacted ?? '', ALL, { left: Number.MAX_SAFE_INTEGER })).toBe(redacted);
    }),
    { numRuns: sized(40, 5_000) },
  );
}, 600_000);

/** The search for slow texts measures CPU time, and so only where nothing else runs. */
(isFull ? test : test.skip)(
  'finds no text of which 1 MB takes more than three times the CPU time of plain text',
  () => {
    const leastOfPlain = warmUp();
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        expect(ratioOf(`${one}${other}`.repeat(MEASURED / (one.length + other.length)), leastOfPlain)).toBeLessThanOrEqual(MAX_RATIO);
      }),
      { numRuns: 200 },
    );
  },
  1_200_000,
);
