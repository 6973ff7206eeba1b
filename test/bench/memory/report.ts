import { costNanos } from '../../../infra/tools/cost/line.ts';
import { gigabyteSeconds, quantity } from '../../../infra/tools/cost/quantity.ts';
import { median, percentile } from '../lib/statistics.ts';
import { toTable } from '../lib/table.ts';
import { coreShare } from './cpu-quota.ts';
import type { Size } from './measure.ts';

const MILLION = 1_000_000n;
const NANOS_PER_DOLLAR = 1e9;
// The time of the model for a short chat, as in docs/cost.md.
const CHAT_MS = 2_000;
const STREAM_MS = 40_000;
const STREAM_TOKENS = 1_200;

// In dollars, for so many billed milliseconds each.
const millionUsd = (memoryMb: number, billedMs: number): number => {
  const seconds = costNanos({
    item: '',
    price: 'lambdaGbSecond',
    quantity: gigabyteSeconds(memoryMb, BigInt(Math.ceil(billedMs)) * MILLION),
  });
  return Number(seconds + costNanos({ item: '', price: 'lambdaRequest', quantity: quantity(MILLION) })) / NANOS_PER_DOLLAR;
};

// Without a quota, the CPU time is spread over the share of a core.
const waitsFor = ({ memoryMb, isThrottled }: Size, cpuMs: number): number => (isThrottled ? 0 : cpuMs / coreShare(memoryMb) - cpuMs);

interface Figures {
  chat: { cpuMs: number; billedMs: number };
  stream: { cpuMs: number; billedMs: number };
}

const figuresOf = (size: Size): Figures => {
  const chatCpuMs = median(size.chats.map(({ cpuMs }) => cpuMs));
  const chatAddedMs = median(size.chats.map(({ ms, modelMs, cpuMs }) => ms - modelMs + waitsFor(size, cpuMs)));
  const { short, long } = size.streams;
  const cpuOf = (streams: Size['streams']['long']): number => Math.min(...streams.map(({ cpuMs }) => cpuMs));
  const [few, many] = [short[0]?.tokens ?? Number.NaN, long[0]?.tokens ?? Number.NaN];
  const tokenCpuMs = (cpuOf(long) - cpuOf(short)) / (many - few);
  // The last token is as late as the first one, so the time that is added does not grow with the length of a stream.
  const streamAddedMs = Math.min(...long.map(({ ms, modelMs, cpuMs }) => ms - modelMs + waitsFor(size, cpuMs)));
  return {
    chat: { cpuMs: chatCpuMs, billedMs: CHAT_MS + chatAddedMs },
    stream: { cpuMs: cpuOf(short) + tokenCpuMs * (STREAM_TOKENS - few), billedMs: STREAM_MS + streamAddedMs },
  };
};

const HEAD = [
  'Memory, MB',
  'core',
  'init ms (CPU)',
  'first request ms (CPU)',
  'first token later, ms p50 / p99',
  'chat: CPU ms',
  'billed ms',
  '$ a million',
  'stream of 40 s: CPU ms',
  'billed ms',
  '$ a million',
  'wake-ups a second',
  'RSS MiB, highest',
  'headroom MB',
  'largest request: status, RSS MiB',
];

const toCells = (size: Size): string[] => {
  const { memoryMb, starts, firstTokens, wakeUpsPerSecond, residentMiB, largest } = size;
  const { chat, stream } = figuresOf(size);
  const ms = (value: number): string => value.toFixed(0);
  const ofStarts = (of: (start: Size['starts'][number]) => number): string => ms(median(starts.map(of)));
  const added = (share: number): string =>
    ms(
      percentile(
        firstTokens.map(({ addedMs, cpuMs }) => addedMs + waitsFor(size, cpuMs)),
        share,
      ),
    );
  return [
    String(memoryMb),
    coreShare(memoryMb).toFixed(2),
    `${ofStarts((start) => start.ms)} (${ofStarts((start) => start.cpuMs)})`,
    `${ofStarts((start) => start.firstMs + waitsFor(size, start.firstCpuMs))} (${ofStarts((start) => start.firstCpuMs)})`,
    `${added(0.5)} / ${added(0.99)}`,
    chat.cpuMs.toFixed(1),
    ms(chat.billedMs),
    millionUsd(memoryMb, chat.billedMs).toFixed(2),
    ms(stream.cpuMs),
    ms(stream.billedMs),
    millionUsd(memoryMb, stream.billedMs).toFixed(2),
    wakeUpsPerSecond.toFixed(1),
    `${ms(residentMiB.now)}, ${ms(residentMiB.peak)}`,
    ms(memoryMb - residentMiB.peak),
    largest ? `${largest.status}, ${ms(largest.peakMiB)}` : 'dies',
  ];
};

/** The table by memory, with how each column was found. */
export const toMemoryReport = (sizes: readonly Size[]): string => {
  const [{ chats, isThrottled } = { chats: [], isThrottled: false }] = sizes;
  return [
    toTable([HEAD, ...sizes.map(toCells)]),
    '',
    `\`inference\` with one request at a time, frozen in between while all caches become cold, in ${chats.length} alternating rounds. CPU is what the kernel counts for all threads of the process.`,
    isThrottled
      ? "Times are measured in a CPU group with the size's share of a core in periods of 20 ms. Init has no quota, as on Lambda."
      : 'This process may not create CPU groups, so nothing was throttled: times are measured without a quota, and what the CPU time takes longer at its share of a core is added.',
    `Billed: ${CHAT_MS} ms and ${STREAM_MS} ms of the model, and what the function adds to the time of the model itself. The stream's CPU is that of streams of 30 and 150 tokens at 30 a second, continued to ${STREAM_TOKENS}.`,
    'Wake-ups: voluntary context switches of all threads while a stream waits for its model. Headroom: the memory without the highest RSS, before the largest request, whose body has 4.5 MB.',
  ].join('\n');
};
