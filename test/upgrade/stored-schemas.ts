import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';

const ROOT = path.join(import.meta.dirname, '../..');

// Files that read rows or messages with schemas, besides the stores.
const OTHER_READERS = [
  'functions/billing/handle-event.ts',
  'functions/deployments/events.ts',
  'functions/telemetry/message.ts',
  'functions/tokenizer/handler.ts',
  'functions/rollup/request-rows.ts',
  'shared/billing/billing-tasks.ts',
  'shared/billing/organization-directory.ts',
  'shared/notifications/outbox.ts',
  'shared/observability/request-partitions.ts',
  'shared/payload-log/exchange.ts',
  'shared/payload-log/waiting-payloads.ts',
  'shared/usage/settlement-queue.ts',
];

// Another release's rows or messages are read with it.
interface ReadSchema {
  file: string;
  name: string;
  schema: z.ZodType;
}

/** The files that read what is stored or queued. */
export const readers = (): string[] => {
  const all = ['functions', 'shared'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  return [...all.filter((file) => /\bstore\.ts$/.test(file)), ...OTHER_READERS].sort();
};

export const sourceOf = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** The schemas that a reader imports. Its own ones are in its source. */
export const importedSchemas = async (file: string): Promise<ReadSchema[]> => {
  const source = sourceOf(file);
  const parsed = new Set([...source.matchAll(/\b([A-Z]\w+)\.(?:safeParse|parse)\(/g)].map(([, name]) => name));
  const named = [...source.matchAll(/^import \{([^}]+)\} from '(\.[^']+)';$/gm)].map(([, names = '', from = '']) => ({
    from,
    names: names.split(',').flatMap((name) => (/^\s*type /.test(name) ? [] : [name.trim().split(' as ')[0] ?? ''])),
  }));
  const later = [...source.matchAll(/\bimport\('(\.[^']+)'\)/g)].map(([, from = '']) => ({ from, names: [...parsed].map(String) }));
  const found: ReadSchema[] = [];
  for (const { from, names } of [...named, ...later]) {
    const module = await import(path.resolve(ROOT, path.dirname(file), from));
    for (const name of names) if (module[name] instanceof z.ZodType) found.push({ file, name, schema: module[name] });
  }
  return found;
};

interface Definition {
  type: string;
  shape?: Record<string, z.ZodType>;
  catchall?: z.ZodType;
}

/** Where in a schema an object rejects unknown attributes, as paths. */
export const strictPlaces = (schema: z.ZodType, place = '', seen = new Set<z.ZodType>()): string[] => {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const { shape = {}, catchall, ...others } = schema._zod.def as unknown as Definition & Record<string, unknown>;
  const inner = Object.values(others).flatMap((value) => [value].flat().filter((item) => item instanceof z.ZodType));
  return [
    ...(catchall instanceof z.ZodNever ? [place === '' ? '(itself)' : place] : []),
    ...Object.entries(shape).flatMap(([name, property]) => strictPlaces(property, `${place}.${name}`, seen)),
    ...inner.flatMap((item) => strictPlaces(item, place, seen)),
  ];
};
