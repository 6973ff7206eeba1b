import { seededRandom } from '../../../../infra/local/sagemaker/seeded-random.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { sized } from '../../../support/sized.ts';
import type { Arrival } from './lived-month.ts';

export interface Range {
  fromMs: number;
  toMs: number;
}

const arrivalAt = (atMs: number, random: () => number): Arrival => ({
  atMs,
  serviceMs: 700 + Math.floor(random() * 8 * SECOND_MS),
  promptTokens: Math.floor(random() * 4_000),
  completionTokens: 1 + Math.floor(random() * 900),
  costNanos: BigInt(Math.floor(random() * 40_000_000)),
});

const midnights = ({ fromMs, toMs }: Range): number[] =>
  Array.from({ length: (toMs - fromMs) / DAY_MS }, (_, day) => fromMs + day * DAY_MS);

const isWeekday = (ms: number): boolean => ![0, 6].includes(new Date(ms).getUTCDay());

const LONG_GAP_EVERY = 25;
const LONG_GAP_MS = 290 * SECOND_MS;

/**
 * On weekdays, requests from 7:05 until 13 UTC, with breaks of 25 and 70 minutes. They are at most 130 seconds apart,
 * but now and then five minutes, so that no idle time that can be suggested is within a poll of a gap.
 */
export const officeHours = (range: Range, seed: number): Arrival[] => {
  const random = seededRandom(seed);
  return midnights(range)
    .filter(isWeekday)
    .flatMap((midnight) =>
      [
        [425, 500],
        [525, 570],
        [640, 780],
      ].flatMap(([fromMinute = 0, toMinute = 0]) => {
        const times: number[] = [];
        for (let ms = fromMinute * MINUTE_MS + 12_345; ms < toMinute * MINUTE_MS; ) {
          times.push(midnight + ms);
          ms += times.length % LONG_GAP_EVERY === 0 ? LONG_GAP_MS : 30 * SECOND_MS + Math.floor(random() * 100 * SECOND_MS);
        }
        return times.map((atMs) => arrivalAt(atMs, random));
      }),
    );
};

// A request to a deployment that sleeps causes about twenty passes.
const HOURS_BETWEEN = sized(7, 3);

/** Every day, requests with hours between them from 2 to 21 UTC, and one that is answered over midnight. */
export const roundTheDay = (range: Range, seed: number): Arrival[] => {
  const random = seededRandom(seed);
  return midnights(range).flatMap((midnight) => {
    const times: number[] = [];
    for (let ms = 2 * HOUR_MS + 17_345; ms < 21 * HOUR_MS; ms += HOURS_BETWEEN * HOUR_MS + Math.floor(random() * HOUR_MS)) times.push(ms);
    times.push(DAY_MS - 2 * SECOND_MS - 321);
    return times.map((ms) => arrivalAt(midnight + ms, random));
  });
};
