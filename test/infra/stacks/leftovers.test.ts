import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { stackNames, templatesWith } from '../../support/assembly/templates.ts';

const [, section = ''] = readFileSync(path.join(import.meta.dirname, '../../../docs/deploy.md'), 'utf8').split('## Remove Sluice');

test('docs/deploy.md lists everything that is left over when the stacks are deleted, and its stack', async () => {
  const templates = await templatesWith({ customerManagedKey: true, auditCopies: { days: 400 } });
  const retained = [...stackNames, 'keys' as const].flatMap((stack) => {
    const resources: { Type: string; DeletionPolicy?: string }[] = Object.values(templates(stack).toJSON().Resources);
    return resources.filter(({ DeletionPolicy = 'Delete' }) => DeletionPolicy !== 'Delete').map(({ Type }) => ({ stack, Type }));
  });
  expect(retained.length).toBeGreaterThan(10);
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  for (const { stack, Type } of retained) {
    const [, service = '', resource = ''] = /^(AWS::\w+)(::\w+)$/.exec(Type) ?? [];
    const lists = (row: string) => row.includes(`\`sluice-${stack}\``) && row.includes(service) && row.includes(`${resource}\``);
    expect({ Type, stack, isListed: rows.some(lists) }).toEqual({ Type, stack, isListed: true });
  }
});
