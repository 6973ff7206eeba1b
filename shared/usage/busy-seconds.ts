import { HOUR_MS, SECOND_MS } from '../time/units.ts';

const SECONDS_AN_HOUR = HOUR_MS / SECOND_MS;
const BITS = 8;
// A bit for each second of an hour.
const HOUR_BYTES = SECONDS_AN_HOUR / BITS;

// Longer than any request: its function ends before.
const MAX_BUSY_MS = HOUR_MS;

const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;

/** The seconds of a UTC hour that are in either of two sets. */
export const unionOf = (a: Uint8Array, b: Uint8Array): Uint8Array => {
  const union = new Uint8Array(Math.max(a.length, b.length));
  for (let i = 0; i < union.length; i++) union[i] = (a[i] ?? 0) | (b[i] ?? 0);
  return union;
};

// The last bytes of an hour can be left out.
const isSet = (bits: Uint8Array, second: number): boolean => (((bits[Math.floor(second / BITS)] ?? 0) >> (second % BITS)) & 1) === 1;

const BITS_OF_BYTE = Uint8Array.from({ length: 2 ** BITS }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

// Whole bytes at a time, because a month of a deployment has millions of seconds.
const countBits = (bits: Uint8Array, from: number, to: number): number => {
  let count = 0;
  for (let second = from; second < to; ) {
    const byte = bits[Math.floor(second / BITS)] ?? 0;
    const isWhole = second % BITS === 0 && second + BITS <= to;
    count += isWhole ? (BITS_OF_BYTE[byte] ?? 0) : Number(isSet(bits, second));
    second += isWhole ? BITS : 1;
  }
  return count;
};

// From one whole second to another, in ms since the epoch; the end is exclusive.
interface BusyPeriod {
  fromMs: number;
  toMs: number;
}

/** The seconds in which at least one request was in flight: a set, so requests at the same time count once. */
export const createBusySeconds = () => {
  const hours = new Map<number, Uint8Array>();
  return {
    /** Adds every second that a request touches, at least that of its arrival. */
    add: (arrivedMs: number, durationMs: number): void => {
      const endMs = arrivedMs + Math.min(Math.max(durationMs, 1), MAX_BUSY_MS);
      for (let ms = Math.floor(arrivedMs / SECOND_MS) * SECOND_MS; ms < endMs; ms += SECOND_MS) {
        const hourMs = hourOf(ms);
        const bits = hours.get(hourMs) ?? new Uint8Array(HOUR_BYTES);
        hours.set(hourMs, bits);
        const second = (ms - hourMs) / SECOND_MS;
        bits[Math.floor(second / BITS)] = (bits[Math.floor(second / BITS)] ?? 0) | (1 << (second % BITS));
      }
    },

    /** Adds the seconds of an hour; the last bytes without any can be left out. */
    addHour: (hourMs: number, bits: Uint8Array): void => {
      hours.set(hourMs, unionOf(hours.get(hourMs) ?? new Uint8Array(HOUR_BYTES), bits));
    },

    /** The number of busy seconds from one whole second to another, in ms since the epoch. */
    countIn: (fromMs: number, toMs: number): number => {
      let count = 0;
      for (let hourMs = hourOf(fromMs); hourMs < toMs; hourMs += HOUR_MS) {
        const bits = hours.get(hourMs);
        if (!bits) continue;
        count += countBits(bits, Math.max(fromMs - hourMs, 0) / SECOND_MS, Math.min((toMs - hourMs) / SECOND_MS, SECONDS_AN_HOUR));
      }
      return count;
    },

    /** The busy seconds as periods, in order; adjacent seconds are one period. */
    periods: (): BusyPeriod[] => {
      const periods: BusyPeriod[] = [];
      for (const [hourMs, bits] of [...hours].sort(([one], [other]) => one - other))
        for (let second = 0; second < bits.length * BITS; second++) {
          if (!isSet(bits, second)) continue;
          const fromMs = hourMs + second * SECOND_MS;
          const last = periods.at(-1);
          if (last?.toMs === fromMs) last.toMs += SECOND_MS;
          else periods.push({ fromMs, toMs: fromMs + SECOND_MS });
        }
      return periods;
    },

    /** The seconds of each hour that has any, by the hour's start in ms since the epoch. */
    hours: (): ReadonlyMap<number, Uint8Array> => hours,
  };
};

export type BusySeconds = ReturnType<typeof createBusySeconds>;
