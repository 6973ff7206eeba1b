import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RerateResource } from '../../../../../functions/control/billing/rerates/rerate-resource.ts';
import { executeRerate, listRerates, retrieveRerate } from '../../../../../functions/control/billing/rerates/rerates.ts';
import { createBillingTasks } from '../../../../../shared/billing/billing-tasks.ts';
import { transact } from '../../../../../shared/database/transaction.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/emulators/database.ts';
import { newId } from '../../../../support/fixtures/new-id.ts';
import { DAY, NOW, rerating } from '../../../billing/rerate/rerate-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const setUp = () => {
  const organization = newId('organization');
  return { organization, ...rerating(database, `model-${organization}`) };
};

describe('creating a rerate', () => {
  test('finds two surcharges of an organization’s adapter, also after it was deleted', async () => {
    const { organization, create, control } = setUp();
    const surcharges = (['before', 'after'] as const).map((version, i) => ({
      ...{ version, effective_at: i, prompt_nanos: i, completion_nanos: i },
      is_surcharge: true as const,
    }));
    await transact(database.database, [database.models.toRetire(organization, 'legal', surcharges)]);
    control.models = database.models;
    const versions = { from_version: 'before', to_version: 'after' };
    expect(await create({ organization, model: 'legal', ...versions })).toMatchObject({ model: 'legal', organization, ...versions });
    await expect(create({ organization: newId('organization'), model: 'legal', ...versions })).rejects.toMatchObject({ status: 400 });
  });

  test('returns the earlier one for the same idempotency key, and sends its task again', async () => {
    const { organization, create, queue } = setUp();
    const key = newId('key');
    const first = await create({ organization }, key);
    expect(RerateResource.parse(first)).toEqual(first);
    expect(await create({ organization }, key)).toEqual(first);
    expect(queue.length).toBe(2);
    const dayBefore = Date.parse(DAY) / 1_000 - 86_400;
    for (const other of [{ reason: 'Another reason.' }, { start_time: dayBefore }, { end_time: Date.parse(DAY) / 1_000 + 3_600 }])
      await expect(create({ organization, ...other }, key)).rejects.toMatchObject({ status: 422, code: 'idempotency_key_reused' });
  });

  test('returns 503 if the queue can’t be reached, and begins when the request is repeated', async () => {
    const { organization, create, queue, control } = setUp();
    const key = newId('key');
    const { billingTasks } = control;
    control.billingTasks = createBillingTasks({ send: () => Promise.reject(new Error('connect ECONNREFUSED')) });
    await expect(create({ organization }, key)).rejects.toMatchObject({ status: 503, code: 'service_unavailable' });
    control.billingTasks = billingTasks;
    await create({ organization }, key);
    expect(queue.length).toBe(1);
  });

  test('rejects the idempotency key of a preview for an execution, and that of an execution for a preview', async () => {
    const { organization, create, queue, drain, control, admin } = setUp();
    const reused = { status: 422, code: 'idempotency_key_reused' };
    const [previewKey, executionKey] = [newId('key'), newId('key')];
    const preview = await create({ organization, dry_run: true }, previewKey);
    await create({ organization, dry_run: false }, executionKey);
    await drain();
    await expect(create({ organization, dry_run: false }, previewKey)).rejects.toMatchObject(reused);
    await expect(create({ organization, dry_run: true }, executionKey)).rejects.toMatchObject(reused);
    expect(queue.length).toBe(0);
    await executeRerate(control, { ...admin, origin: { ...admin.origin, nowMs: NOW + 1 } }, preview.id);
    expect(await create({ organization, dry_run: true }, previewKey)).toMatchObject({ id: preview.id, state: 'executing' });
    await expect(create({ organization, dry_run: false }, previewKey)).rejects.toMatchObject(reused);
  });

  test.each([
    ['an unknown old version', { from_version: 'no-such' }, 'from_version'],
    ['an unknown new version', { to_version: 'no-such' }, 'to_version'],
    ['a version of a model for an instance type', { model: undefined, instance_type: 'ml.g5.xlarge' }, 'from_version'],
    ['an unknown model', { model: 'no-such' }, 'from_version'],
    ['usage that can still end', { end_time: NOW / 1_000 - 3_599 }, 'end_time'],
    ['more than a year', { start_time: Date.parse(DAY) / 1_000 - 366 * 86_400 }, 'end_time'],
  ])('rejects %s', async (_, fields, param) => {
    const { organization, create, queue } = setUp();
    await expect(create({ organization, ...fields })).rejects.toMatchObject({ status: 400, param });
    expect(queue.length).toBe(0);
  });

  test.each([
    { model: undefined },
    { instance_type: 'ml.g5.xlarge' },
    { to_version: 'wrong' },
    { end_time: Date.parse(DAY) / 1_000 },
    { reason: ' ' },
  ])('rejects the fields %j', (fields) => {
    expect(() => setUp().bodyOf(fields)).toThrow();
  });

  test('can name a version of a model that was deleted', async () => {
    const { organization, create } = setUp();
    expect(await create({ organization, from_version: 'dear', to_version: 'right' })).toMatchObject({ from_version: 'dear' });
  });
});

describe('the audit log', () => {
  test('has an entry of the execution, and none of the preview', async () => {
    const { organization, create, drain, control, admin } = setUp();
    const entries = async () => (await control.audit.list(organization, { limit: 10 })).data.map(({ action }) => action);
    const { id } = await create({ organization, dry_run: true });
    await drain();
    expect(await entries()).toEqual([]);
    await executeRerate(control, admin, id);
    expect(await entries()).toEqual(['rerate.executed']);
    await executeRerate(control, admin, id);
    expect(await entries()).toEqual(['rerate.executed']);
  });
});

test('lists rerates, newest first, page by page', async () => {
  const { organization, create, control } = setUp();
  const ids = [(await create({ organization })).id, (await create({ organization })).id].sort().reverse();
  const listed: string[] = [];
  let after: string | undefined;
  do {
    const { data, next } = await listRerates(control, { limit: 1, after });
    listed.push(...data.map(({ id }) => id));
    after = next ?? undefined;
  } while (after !== undefined);
  expect(listed.filter((id) => ids.includes(id))).toEqual(ids);
});

test('returns 404 for an unknown id', async () => {
  const { control, admin } = setUp();
  const missing = { status: 404, code: 'rerate_not_found' };
  await expect(retrieveRerate(control, 'rr_none')).rejects.toMatchObject(missing);
  await expect(executeRerate(control, admin, 'rr_none')).rejects.toMatchObject(missing);
});
