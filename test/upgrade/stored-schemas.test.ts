import { expect, test } from '@jest/globals';
import * as z from 'zod';
import { importedSchemas, readers, sourceOf, strictPlaces } from './stored-schemas.ts';

// Schemas of requests and of writes are not read with: the file reads with another schema that is made of them.
const isReadAsAnother = (source: string, name: string): boolean =>
  !new RegExp(`\\b${name}\\.(?:safeParse|parse)\\((?!model\\))`).test(source) &&
  (new RegExp(`ignoringUnknown\\((?:schema|${name})\\b`).test(source) || new RegExp(`\\bStored${name}\\b`).test(source));

test.each(readers())('%s ignores attributes that a later release may write', async (file) => {
  const source = sourceOf(file);
  const imported = (await importedSchemas(file)).filter(({ name }) => !isReadAsAnother(source, name));
  const strict = imported.flatMap(({ name, schema }) => strictPlaces(schema).map((place) => `${name}${place}`));
  expect({ strict, own: source.match(/strictObject/g) }).toEqual({ strict: [], own: null });
});

test('finds objects that reject unknown attributes, however deep', () => {
  const Strict = z.strictObject({ a: z.string() }).refine(() => true);
  const schema = z.object({
    list: z.array(Strict).min(1),
    pair: z.tuple([z.string()], Strict).optional(),
    either: z.union([z.string(), z.object({ inner: Strict.default({ a: '' }) })]),
    named: z.record(z.string(), Strict.nullable()).transform((value) => value),
    loose: z.looseObject({ b: z.string() }),
  });
  expect(strictPlaces(z.object({ itself: z.object({}) }))).toEqual([]);
  expect(strictPlaces(Strict)).toEqual(['(itself)']);
  for (const [name, place] of [
    ['list', '.list'],
    ['pair', '.pair'],
    ['either', '.either.inner'],
    ['named', '.named'],
  ] as const)
    expect(strictPlaces(z.object({ [name]: schema.shape[name] }))).toEqual([place]);
  expect(strictPlaces(z.object({ loose: schema.shape.loose }))).toEqual([]);
});
