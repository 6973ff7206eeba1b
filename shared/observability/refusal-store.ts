import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Database } from '../database/database.ts';
import { queryItems } from '../database/query.ts';
import { createRecordTable, type RecordKey } from '../database/record-table.ts';
import { MAX_WRITES, transact, type Write } from '../database/transaction.ts';
import { PreconditionFailed } from '../http/errors.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../time/units.ts';
import { dayOf, timeOf } from '../time/utc.ts';

/** A request that the gateway answered with an error. */
export interface RefusedRequest {
  /** The id of its line in the log, which is the same in each delivery. */
  lineId: string;
  /** Null, as is `keyId`: no key was authenticated. */
  organization: string | null;
  keyId: string | null;
  /** The error's code. */
  code: string;
}

/** How many requests of a key were refused with a code in a minute. */
export interface RefusalCount {
  /** The start of the minute, in ms since the epoch (UTC). */
  startMs: number;
  /** Null: no key was authenticated. */
  keyId: string | null;
  code: string;
  count: number;
}

/** Lines of one log stream and one minute. */
export interface LogMinute {
  stream: string;
  startMs: number;
}

/** Minutes that start in [fromMs, toMs). `organization` null: requests without an authenticated key. */
export interface RefusalQuery {
  organization: string | null;
  fromMs: number;
  toMs: number;
}

const MINUTES_A_ROW = 10;
const ROW_MS = MINUTES_A_ROW * MINUTE_MS;

// As long as totals by ten minutes, counted from the end of the day.
const RETENTION_DAYS = 90;
// Longer than any delivery is retried: CloudWatch Logs retries for 24 hours, then Lambda for six.
const LINES_KEPT_MS = 2 * DAY_MS;
// An environment serves one request at a time, so it refuses fewer in a minute. More lines would not fit into an item.
const MAX_LINES = 40_000;
const LINE_BYTES = 8;
// Log streams are spread over this many rows of a count, because concurrent transactions on the same row conflict.
const LANES = 8;
// Another delivery of the same lines at the same time ends soon.
const MAX_COMMIT_ATTEMPTS = 5;
// One write is the row of counted lines.
const MAX_COUNTS = MAX_WRITES - 1;
const MAX_DAYS = 400;
// A day of an organization with 20 keys that are all refused with four codes all the time, in all lanes.
const MAX_DAY_PAGES = 100;

const NO_KEY = '(none)';

const END_OF_DAY = '24:00';
const floorTo = (ms: number, spanMs: number): number => Math.floor(ms / spanMs) * spanMs;

const expiresMsOf = (startMs: number): number => floorTo(startMs, DAY_MS) + (1 + RETENTION_DAYS) * DAY_MS;

/** False if the counts of a minute may have been deleted. */
export const areRefusalsKept = (startMs: number, nowMs: number): boolean => expiresMsOf(startMs) > nowMs;

const accountPrefix = (organization: string | null): string => `refusals#${organization ?? 'platform'}#`;
const accountOf = (organization: string | null, ms: number): string => accountPrefix(organization) + dayOf(ms);

/** Returns true if an item of the table has counts of an organization's refused requests. */
export const isRefusalOf = (organization: string, account: string): boolean => account.startsWith(accountPrefix(organization));

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const linesRecordKey = ({ stream, startMs }: LogMinute): RecordKey => ({
  account: `refusals-counted#${hashOf(stream).toString('base64url').slice(0, 22)}`,
  record: new Date(startMs).toISOString().slice(0, 16),
});

const Lines = z.object({ lines: z.instanceof(Uint8Array), version: z.int() });
const lineHash = (id: string): string => hashOf(id).toString('hex', 0, LINE_BYTES);

// Version 0: there is no row.
interface CountedLines {
  lines: Buffer;
  version: number;
}

const isCounted = ({ lines }: CountedLines): ((hash: string) => boolean) => {
  const hashes = new Set<string>();
  for (let at = 0; at < lines.length; at += LINE_BYTES) hashes.add(lines.toString('hex', at, at + LINE_BYTES));
  return (hash) => hashes.has(hash);
};

interface Group {
  refusal: RefusedRequest;
  hashes: string[];
}

// At most as many groups as fit into a transaction.
const nextGroups = (refusals: ReadonlyMap<string, RefusedRequest>, counted: CountedLines): Group[] => {
  const groups = new Map<string, Group>();
  const skips = isCounted(counted);
  for (const [hash, refusal] of refusals) {
    if (skips(hash)) continue;
    const name = JSON.stringify([refusal.organization, refusal.keyId, refusal.code]);
    const group = groups.get(name);
    if (group) group.hashes.push(hash);
    else if (groups.size < MAX_COUNTS) groups.set(name, { refusal, hashes: [hash] });
  }
  return [...groups.values()];
};

/** The log of an environment has more lines in a minute than a row can list. */
export class TooManyLines extends Error {
  constructor(stream: string) {
    super(`Log stream ${stream} has more than ${MAX_LINES} refused requests in a minute. The rest is not counted.`);
    this.name = 'TooManyLines';
  }
}

const Counts = z.looseObject({ record: z.string() });
const Count = z.int().default(0);

// The key is `16:40#key_…#rate_limit_exceeded#3`: a time, a key, a code and a lane.
const readRow = (item: unknown, dayMs: number): RefusalCount[] => {
  const row = Counts.parse(item);
  const [time = '', key, code = ''] = row.record.split('#');
  const startMs = dayMs + Date.parse(`1970-01-01T${time}Z`);
  return Array.from({ length: MINUTES_A_ROW }, (_, minute) => ({
    startMs: startMs + minute * MINUTE_MS,
    keyId: key === NO_KEY || key === undefined ? null : key,
    code,
    count: Count.parse(row[`m${minute}`]),
  })).filter(({ count }) => count > 0);
};

/**
 * Counts of refused requests in the table `Observability`, by minute, key and code. The only code that knows their
 * keys. A row has the counts of ten minutes, in the attributes `m0` to `m9`.
 *
 * Log lines are delivered at least once. The lines of a log stream's minute that have been counted are stored in one
 * more row, which changes in the same transaction as the counts, so each line is counted once in whatever batches it
 * is delivered.
 */
export const createRefusalStore = (database: Database, table: string) => {
  const rows = createRecordTable(database, table);

  const readLines = async (recordKey: RecordKey): Promise<CountedLines> => {
    const row = await rows.get(recordKey);
    if (!row) return { lines: Buffer.alloc(0), version: 0 };
    const { lines, version } = Lines.parse(row);
    return { lines: Buffer.from(lines), version };
  };

  const toWriteLines = (recordKey: RecordKey, { lines, version }: CountedLines, startMs: number): Write =>
    rows.toSave(recordKey, { lines, version, expires_at: Math.ceil((startMs + LINES_KEPT_MS) / SECOND_MS) });

  const toCount = ({ refusal, hashes }: Group, { stream, startMs }: LogMinute): Write => {
    const lane = (hashOf(stream)[0] as number) % LANES;
    const record = [timeOf(floorTo(startMs, ROW_MS)), refusal.keyId ?? NO_KEY, refusal.code, lane].join('#');
    const minute = (startMs % ROW_MS) / MINUTE_MS;
    return {
      item: {
        Update: {
          TableName: table,
          Key: { account: accountOf(refusal.organization, startMs), record },
          UpdateExpression: 'SET expires_at = :expires ADD #minute :count',
          ExpressionAttributeNames: { '#minute': `m${minute}` },
          ExpressionAttributeValues: {
            ':expires': expiresMsOf(startMs) / 1_000,
            ':count': hashes.length,
          },
        },
      },
    };
  };

  // Undefined: another delivery of the same lines came first.
  const countGroups = async (at: LogMinute, counted: CountedLines, groups: readonly Group[]): Promise<CountedLines | undefined> => {
    const added = groups.flatMap(({ hashes }) => hashes);
    const lines = Buffer.concat([counted.lines, Buffer.from(added.join(''), 'hex')]);
    if (lines.length > MAX_LINES * LINE_BYTES) throw new TooManyLines(at.stream);
    try {
      const { version } = counted;
      await transact(database, [
        toWriteLines(linesRecordKey(at), { lines, version }, at.startMs),
        ...groups.map((group) => toCount(group, at)),
      ]);
      return { lines, version: version + 1 };
    } catch (error) {
      if (error instanceof PreconditionFailed) return undefined;
      throw error;
    }
  };

  return {
    /**
     * Counts the refusals of a log stream's minute, each line once.
     * @returns how many had not been counted before
     * @throws TooManyLines, after which those that don't fit are not counted; 503 if other deliveries of the same
     * lines, or too many counts of the same row, are in the way
     */
    count: async (at: LogMinute, refusals: readonly RefusedRequest[]): Promise<number> => {
      const byHash = new Map(refusals.map((refusal) => [lineHash(refusal.lineId), refusal]));
      const recordKey = linesRecordKey(at);
      let counted = await readLines(recordKey);
      for (let total = 0, tries = 1; ; ) {
        const groups = nextGroups(byHash, counted);
        if (groups.length === 0) return total;
        const next = await countGroups(at, counted, groups);
        if (next) total += groups.reduce((sum, { hashes }) => sum + hashes.length, 0);
        else if (tries++ === MAX_COMMIT_ATTEMPTS) throw new PreconditionFailed();
        counted = next ?? (await readLines(recordKey));
      }
    },

    /**
     * Lists an organization's refusals, in the order of ten minutes, key and code; a minute of a key and a code can
     * come in several parts.
     * @throws RangeError if the range is longer than 400 days; Error if a row is invalid
     */
    list: async function* ({ organization, fromMs, toMs }: RefusalQuery): AsyncGenerator<RefusalCount> {
      if (toMs - fromMs > MAX_DAYS * DAY_MS) throw new RangeError(`Refusals can be listed for at most ${MAX_DAYS} days.`);
      for (let dayMs = floorTo(fromMs, DAY_MS); dayMs < toMs; dayMs += DAY_MS) {
        const items = queryItems(
          database,
          {
            TableName: table,
            KeyConditionExpression: 'account = :account AND #record BETWEEN :from AND :to',
            ExpressionAttributeNames: { '#record': 'record' },
            ExpressionAttributeValues: {
              ':account': accountOf(organization, dayMs),
              ':from': timeOf(floorTo(Math.max(fromMs, dayMs), ROW_MS)),
              // Exclusive, because the rows of this time continue with `#`.
              ':to': toMs > dayMs + DAY_MS - ROW_MS ? END_OF_DAY : timeOf(Math.ceil(toMs / ROW_MS) * ROW_MS),
            },
          },
          MAX_DAY_PAGES,
        );
        for await (const item of items)
          for (const count of readRow(item, dayMs)) if (count.startMs >= fromMs && count.startMs < toMs) yield count;
      }
    },
  };
};

export type RefusalStore = ReturnType<typeof createRefusalStore>;
