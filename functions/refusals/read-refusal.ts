import * as z from 'zod';
import { prefixes, RANDOM_CHARACTERS } from '../../shared/ids/id.ts';
import type { RefusedRequest } from '../../shared/observability/refusal-store.ts';
import { MINUTE_MS } from '../../shared/time/units.ts';
import type { BatchLine } from './log-batch.ts';

// Bounds the number of codes, whatever else a line has.
const CODE = /^[a-z0-9_]{1,64}$/;
const OTHER_CODE = '(other)';

const Line = z.object({
  timestamp: z.iso.datetime(),
  status: z.int().min(400).max(599),
  code: z.string().nullish(),
  /** Absent or null if no key was authenticated. */
  key_id: z
    .string()
    .regex(new RegExp(`^${prefixes.key}[0-9A-Za-z]{1,${RANDOM_CHARACTERS}}$`))
    .nullish(),
  org_id: z
    .string()
    .regex(new RegExp(`^${prefixes.organization}[0-9A-Za-z_-]{1,64}$`))
    .nullish(),
});

// An error without a code has its status as its code, such as `http_400`.
const codeOf = (code: string | null | undefined, status: number): string => {
  if (code == null) return `http_${status}`;
  return CODE.test(code) ? code : OTHER_CODE;
};

const parseLine = (text: string): z.output<typeof Line> | undefined => {
  try {
    return Line.parse(JSON.parse(text));
  } catch {
    // The line is a bug; it is counted as unreadable, and not repeated here, because its content is unknown.
    return undefined;
  }
};

/** Reads the log line of a refused request; undefined if it is not one. */
export const readRefusal = ({ id, text }: BatchLine): { startMs: number; refusal: RefusedRequest } | undefined => {
  const line = parseLine(text);
  if (!line) return undefined;
  const organization = line.org_id ?? null;
  const atMs = Date.parse(line.timestamp);
  return {
    startMs: atMs - (atMs % MINUTE_MS),
    refusal: { lineId: id, organization, keyId: organization && (line.key_id ?? null), code: codeOf(line.code, line.status) },
  };
};
