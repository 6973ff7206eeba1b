import * as z from 'zod';
import { type BilledDay, billedFileKey } from '../../../shared/billing/billed-month.ts';
import { type BillingFiles, getFile, putFile, sha256Of } from '../../../shared/billing/billing-files.ts';
import { canonicalJson } from '../../../shared/billing/canonical-json.ts';
import { ChargeGroup } from './charge-group.ts';
import { ProjectSum } from './project-sums.ts';
import { ServiceSum } from './service-sums.ts';

/** The events of an API key or a deployment on a day. */
export const Source = z.object({
  /** The id of the key or deployment. */
  id: z.string(),
  events: z.int(),
  cost_nanos: ChargeGroup.shape.cost_nanos,
  prepaid_nanos: ChargeGroup.shape.prepaid_nanos,
  last_event: z.string(),
  /** SHA-256 (hex) of its events' lines, each with a line feed: see `counted-events.ts`. */
  sha256: z.string(),
});
export type Source = z.output<typeof Source>;

/** The file of a billed day, with the sums of its events. Bigints are stored as text. */
export const DayFile = z.object({
  organization: z.string(),
  day: z.string(),
  /** The groups that invoices charge. */
  groups: z.array(ChargeGroup),
  /** The sums of requests by project; absent if none of them was in a project. */
  projects: z.array(ProjectSum).optional(),
  /** The requests of models with a promise for the month; absent if there were none. */
  services: z.array(ServiceSum).optional(),
  /** The API keys and deployments, in the order of their ids. */
  sources: z.array(Source),
  /** The file that lists each counted event: compressed lines of JSON. */
  counted: z.object({ key: z.string(), sha256: z.string(), bytes: z.int() }),
});
export type DayFile = z.output<typeof DayFile>;

/** The month of a UTC day. */
export const monthOfDay = (day: string): string => day.slice(0, 7);

const countedKey = (organization: string, day: string, sha256: string): string =>
  `billed/${organization}/${monthOfDay(day)}/${sha256}.jsonl.gz`;

/** The events read for one day, added up. */
export interface DayRead extends Omit<DayFile, 'counted'> {
  /** The lines of its events, compressed. */
  counted: Uint8Array;
}

const sumOf = (groups: readonly ChargeGroup[], name: 'cost_nanos' | 'instance_seconds'): bigint =>
  groups.reduce((sum, group) => sum + group[name], 0n);

/**
 * Stores the result of reading a day in two files; a day without events has none. Keys contain the content's hash, so
 * storing the same content again changes nothing.
 */
export const storeDay = async (files: BillingFiles, read: DayRead): Promise<BilledDay> => {
  const { organization, day, groups, projects = [], services = [], sources } = read;
  const usage = groups.filter(({ deployment }) => deployment === null);
  const gpu = groups.filter(({ deployment }) => deployment !== null);
  const sums = {
    events: usage.reduce((sum, { events }) => sum + events, 0),
    cost_nanos: sumOf(usage, 'cost_nanos'),
    gpu_seconds: sumOf(gpu, 'instance_seconds'),
    gpu_cost_nanos: sumOf(gpu, 'cost_nanos'),
  };
  if (sources.length === 0) return { ...sums, sha256: null };
  const hash = sha256Of(read.counted);
  const counted = await putFile(files, countedKey(organization, day, hash), read.counted, 'application/gzip');
  const parts = { ...(projects.length > 0 && { projects }), ...(services.length > 0 && { services }) };
  const content = Buffer.from(canonicalJson({ organization, day, groups, ...parts, sources, counted }));
  const sha256 = sha256Of(content);
  await files.put(billedFileKey(organization, monthOfDay(day), sha256), content, 'application/json');
  return { ...sums, sha256 };
};

/** Loads the file of a billed day; undefined if the day had no events. @throws Error if its hash differs */
export const loadDay = async (
  files: BillingFiles,
  organization: string,
  day: string,
  { sha256 }: Pick<BilledDay, 'sha256'>,
): Promise<DayFile | undefined> => {
  if (sha256 === null) return undefined;
  const content = await getFile(files, { key: billedFileKey(organization, monthOfDay(day), sha256), sha256 });
  return DayFile.parse(JSON.parse(content.toString()));
};
