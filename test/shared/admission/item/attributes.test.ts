import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const read = (file: string): string => readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8');

const attributesOf = (file: string): string[] => {
  const [, body = ''] = /^export interface (?:Limiter|Key)Item[^\n]*\{\n(.*?)^\}/ms.exec(read(file)) ?? [];
  return [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, name]) => name as string);
};

test('explains each attribute of a limiter item in docs/admission.md', () => {
  const attributes = ['limiter-item', 'key-item'].flatMap((name) => attributesOf(`shared/admission/item/${name}.ts`));
  const [, table = ''] = /^## Attributes of a limiter item\n(.*?)^## /ms.exec(read('docs/admission.md')) ?? [];
  const explained = [...table.matchAll(/`([a-z]\w*)`/g)].map(([, name]) => name);
  expect(attributes).toContain('fl');
  expect(attributes.filter((name) => !explained.includes(name))).toEqual([]);
});
