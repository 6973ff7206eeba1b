import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import type { GpuEvent } from '../../../shared/usage/gpu-event.ts';
import { addGroup, type ChargeGroup, type ChargeGroups, gpuGroup, usageGroup } from './charge-group.ts';
import type { Source } from './day-file.ts';
import { addProject, type ProjectSum, type ProjectSums, projectOfUsage } from './project-sums.ts';
import { addServices, createServiceCount, type ServiceSums } from './service-sums.ts';

// Lines are compressed in chunks, so that a day with millions of events needs little memory.
const CHUNK_CHARACTERS = 1024 * 1024;

/** The part of an event that an invoice counts. */
export interface CountedEvent {
  id: string;
  atMs: number;
  group: ChargeGroup;
  /** Undefined for GPU time, which is in no project. */
  project?: ProjectSum;
  /** Undefined for GPU time. */
  usage?: UsageEvent;
}

export const countUsage = (event: UsageEvent): CountedEvent => ({
  id: event.request_id,
  atMs: event.admitted_at,
  group: usageGroup(event),
  project: projectOfUsage(event),
  usage: event,
});
export const countGpu = (event: GpuEvent): CountedEvent => ({ id: event.id, atMs: event.started_at, group: gpuGroup(event) });

const lineOf = (source: string, { id, atMs, group, project: of }: CountedEvent): string => {
  const names = [group.model, group.deployment, group.deployment_name, group.instance_type, group.price_version, group.rerate_from];
  const sums = [group.prompt_tokens, group.cached_tokens, group.completion_tokens, group.instance_seconds];
  // Lines of events without a project are as release 0.1.0 wrote them.
  const project = of?.project == null ? [] : [of.project];
  return JSON.stringify([source, id, atMs, ...names, ...[...sums, group.cost_nanos, group.prepaid_nanos].map(String), ...project]);
};

/** A counted event, in the form that verification compares. */
export interface CountedLine {
  source: string;
  id: string;
  line: string;
}

/** The sums to which a count adds. */
export interface CountedSums {
  groups: ChargeGroups;
  projects: ProjectSums;
  services: ServiceSums;
}

/**
 * Adds up the events of an API key or deployment on a day, one after the other, and collects their lines.
 * @param promised the models with a promise
 */
export const createSourceCount = (
  source: string,
  { groups, projects, services }: CountedSums,
  promised: ReadonlySet<string> = new Set(),
) => {
  const serviceCount = promised.size > 0 ? createServiceCount(promised) : undefined;
  const hash = createHash('sha256');
  const compressed: Uint8Array[] = [];
  let text = '';
  let last: CountedEvent | undefined;
  const sums = { events: 0, cost_nanos: 0n, prepaid_nanos: 0n };
  const compress = (): void => {
    if (text !== '') compressed.push(gzipSync(text));
    text = '';
  };
  return {
    /** Counts an event. @returns its line */
    add: (counted: CountedEvent): string => {
      const line = lineOf(source, counted);
      hash.update(`${line}\n`);
      text += `${line}\n`;
      if (text.length >= CHUNK_CHARACTERS) compress();
      addGroup(groups, counted.group);
      if (counted.project) addProject(projects, counted.project);
      if (counted.usage) serviceCount?.add(counted.usage);
      sums.events++;
      sums.cost_nanos += counted.group.cost_nanos;
      sums.prepaid_nanos += counted.group.prepaid_nanos;
      last = counted;
      return line;
    },

    /** Ends the count. Returns undefined if there was no event. */
    end: (): { source: Source; compressed: Uint8Array[] } | undefined => {
      if (!last) return undefined;
      compress();
      if (serviceCount) addServices(services, serviceCount.end());
      return { source: { id: source, ...sums, last_event: last.id, sha256: hash.digest('hex') }, compressed };
    },
  };
};

/** Parses the decompressed lines of a file of counted events. */
export const readCounted = (content: Uint8Array): CountedLine[] =>
  gunzipSync(content)
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [source, id] = JSON.parse(line) as [string, string];
      return { source, id, line };
    });
