import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createDeployment } from '../../../../functions/control/deployments/create-deployment.ts';
import type { DeploymentResource } from '../../../../functions/control/deployments/deployment-resource.ts';
import { DeploymentUpdate, NewDeployment } from '../../../../functions/control/deployments/new-deployment.ts';
import { scheduleCostOf } from '../../../../functions/control/deployments/schedule-cost.ts';
import { updateDeployment } from '../../../../functions/control/deployments/update-deployment.ts';
import { type ScheduleWindow, WEEKDAYS } from '../../../../shared/deployments/schedule.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../shared/time/units.ts';
import { type ManagedDeployments, NOW_MS, useManagedDeployments } from '../../../support/fixtures/managed-deployments.ts';

let managed: ManagedDeployments;
let organization: string;
let owner: Actor;
useManagedDeployments((tenant) => {
  ({ managed, organization, owner } = tenant);
});

const OFFICE = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00', time_zone: 'Europe/Berlin' };
const dayOf = (ms: number) => WEEKDAYS[new Date(ms).getUTCDay()];
const clockOf = (ms: number) => new Date(ms).toISOString().slice(11, 16);
const MINUTE_NOW_MS = Math.floor(NOW_MS / MINUTE_MS) * MINUTE_MS;
const HOUR_AGO_MS = MINUTE_NOW_MS - HOUR_MS;
// Opened an hour ago, for four hours.
const openWindow = () => ({
  days: [dayOf(HOUR_AGO_MS)],
  from: clockOf(HOUR_AGO_MS),
  to: clockOf(HOUR_AGO_MS + 4 * HOUR_MS),
  time_zone: 'UTC',
});

const estimate = async (fields: object) =>
  (await createDeployment(managed.deps, owner, managed.bodyOf(owner, { ...fields, validate_only: true }))).estimate;
const update = (id: string, fields: object): Promise<DeploymentResource> =>
  updateDeployment(managed.deps, owner, { id }, validate(DeploymentUpdate, fields));

describe('the schedule of a deployment', () => {
  test('is kept, shown with its open and its next window, and in the audit log', async () => {
    const created = await managed.create(owner, { copies: { max: 2 }, schedule: [{ ...openWindow(), min_copies: 2 }] });
    expect(created).toMatchObject({
      schedule: [{ ...openWindow(), min_copies: 2 }],
      current_window: { starts_at: HOUR_AGO_MS / 1_000, ends_at: (HOUR_AGO_MS + 4 * HOUR_MS) / 1_000, min_copies: 2 },
      next_window: { starts_at: (HOUR_AGO_MS + 7 * DAY_MS) / 1_000 },
    });
    const replaced = await update(created.id, { schedule: [OFFICE] });
    expect(replaced).toMatchObject({ schedule: [{ ...OFFICE, min_copies: 1 }], version: 2 });
    expect(await managed.log(organization, created.id)).toContainEqual(
      expect.objectContaining({
        action: 'deployment.updated',
        changes: { schedule: { from: [{ ...openWindow(), min_copies: 2 }], to: [{ ...OFFICE, min_copies: 1 }] } },
      }),
    );
    expect(managed.reconciled).toEqual([created.id, created.id]);
  });

  test('is empty by default, and removed with null or an empty list', async () => {
    const { id, ...created } = await managed.create(owner);
    expect(created).toMatchObject({ schedule: [], current_window: null, next_window: null });
    for (const none of [null, []]) {
      await update(id, { schedule: [OFFICE] });
      expect(await update(id, { schedule: none })).toMatchObject({ schedule: [], next_window: null });
      expect(await managed.stored(id)).not.toHaveProperty('schedule');
    }
  });

  test('stays as it is in other updates, and is not a change if it is sent again', async () => {
    const { id } = await managed.create(owner, { schedule: [OFFICE] });
    expect(await update(id, { scale_to_zero_after_seconds: 60 })).toMatchObject({ schedule: [OFFICE], version: 2 });
    expect(await update(id, { schedule: [OFFICE] })).toMatchObject({ version: 2 });
  });

  test('lets a window of the new one begin by its own time if it is replaced during an early start', async () => {
    const { id } = await managed.create(owner, { schedule: [OFFICE] });
    const opensMs = NOW_MS + HOUR_MS;
    await managed.observe(id, (row) => ({ ...row, scheduled: { copies: 1, starts_at: opensMs }, unpaid_window: opensMs }));
    await update(id, { schedule: [{ ...OFFICE, from: '07:00' }] });
    const row = await managed.stored(id);
    expect([row.scheduled, row.unpaid_window]).toEqual([{ copies: 1, starts_at: NOW_MS }, undefined]);
  });

  test.each([
    ['no day', { days: [] }, 'schedule[0].days'],
    ['a day twice', { days: ['mon', 'mon'] }, 'schedule[0].days'],
    ['an unknown day', { days: ['monday'] }, 'schedule[0].days[0]'],
    ['a time that is none', { from: '8:00' }, 'schedule[0].from'],
    ['a beginning at the end of the day', { from: '24:00' }, 'schedule[0].from'],
    ['an end after the end of the day', { to: '24:01' }, 'schedule[0].to'],
    ['no length', { from: '18:00' }, 'schedule[0].to'],
    ['an unknown time zone', { time_zone: 'Mars/Olympus' }, 'schedule[0].time_zone'],
    ['an offset as time zone', { time_zone: '+02:00' }, 'schedule[0].time_zone'],
    ['no copy', { min_copies: 0 }, 'schedule[0].min_copies'],
    ['a field that does not exist', { until: 1 }, 'schedule[0]'],
  ])('is rejected with a window that has %s', async (_, fields, param) => {
    const faulty = { schedule: [{ ...OFFICE, ...fields }] };
    expect(() => validate(NewDeployment, { ...managed.bodyOf(owner), ...faulty })).toThrow(
      expect.objectContaining({ status: 400, param: expect.stringContaining(param.slice(0, 11)) }),
    );
    expect(NewDeployment.safeParse({ ...managed.bodyOf(owner), ...faulty }).error?.issues[0]?.path.join('.')).toBe(
      param.replaceAll('[', '.').replaceAll(']', ''),
    );
  });

  test('is rejected with more windows than 14, or more copies in one than the deployment can have', async () => {
    expect(NewDeployment.safeParse(managed.bodyOf(owner, { schedule: Array(14).fill(OFFICE) })).success).toBe(true);
    expect(() => managed.bodyOf(owner, { schedule: Array(15).fill(OFFICE) })).toThrow('at most 14');
    const three = [OFFICE, { ...OFFICE, min_copies: 3 }];
    await expect(managed.create(owner, { copies: { max: 2 }, schedule: three })).rejects.toMatchObject({
      status: 400,
      param: 'schedule[1].min_copies',
    });
    const { id } = await managed.create(owner, { copies: { max: 3 }, schedule: three });
    await expect(update(id, { copies: { max: 2 } })).rejects.toMatchObject({ status: 400, param: 'copies.max' });
    expect(await update(id, { copies: { max: 2 }, schedule: [OFFICE] })).toMatchObject({ copies: { max: 2 } });
  });

  test('doesn’t keep a creation without one from being repeated', async () => {
    const first = await managed.create(owner);
    expect((await managed.create(owner)).id).toBe(first.id);
    await expect(managed.create(owner, { schedule: [OFFICE] })).rejects.toMatchObject({ code: 'deployment_exists' });
  });
});

describe('the price of a schedule', () => {
  test('is that of its hours in a month of 730, on the preferred type, before anything is created', async () => {
    expect((await estimate({}))?.schedule).toBeNull();
    // 50 of 168 hours, at $1.41.
    expect((await estimate({ schedule: [OFFICE] }))?.schedule).toEqual({ minutes_per_week: 3_000, price_per_month: '306.339285714' });
    expect((await estimate({ schedule: [OFFICE], instance_types: ['ml.g6.xlarge', 'ml.g5.xlarge'] }))?.schedule?.price_per_month).toBe(
      '217.261904762',
    );
    expect((await estimate({ copies: { min: 2 }, schedule: [{ ...OFFICE, to: '08:01', days: ['mon'] }] }))?.schedule).toEqual({
      minutes_per_week: 1,
      // 2 × 1.41 ÷ 60 × 730 ÷ 168
      price_per_month: '0.20422619',
    });
    expect(managed.reconciled).toEqual([]);
  });
});

const ZONES = { UTC: 0, 'Asia/Kathmandu': 345, 'America/St_Johns': -210, 'Pacific/Kiritimati': 840, 'Pacific/Pago_Pago': -660 } as const;
// None of these zones changes its clocks around this time.
const WINTER_MS = Date.UTC(2026, 10, 26, 12);
const anyWindow = fc
  .record({
    days: fc.uniqueArray(fc.constantFrom(...WEEKDAYS), { minLength: 1 }),
    from: fc.integer({ min: 0, max: 1_439 }),
    length: fc.integer({ min: 1, max: 1_440 }),
    time_zone: fc.constantFrom(...(Object.keys(ZONES) as (keyof typeof ZONES)[])),
    min_copies: fc.integer({ min: 1, max: 9 }),
  })
  .filter(({ from, length }) => length < 1_440 || from === 0);
const text = (minutes: number): string => `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

test('the price equals a computation that asks for each minute of a week which windows are open', () => {
  const property = fc.property(fc.array(anyWindow, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 3 }), (drawn, least) => {
    const schedule = drawn.map(({ from, length, ...rest }): ScheduleWindow => {
      const end = from + length;
      return { ...rest, from: text(from), to: text(end > 1_440 ? end - 1_440 : end) };
    });
    let minutes = 0;
    let instanceMinutes = 0;
    for (let minute = 0; minute < 7 * 1_440; minute++) {
      const copies = drawn.flatMap(({ days, from, length, time_zone, min_copies }) => {
        const local = minute + ZONES[time_zone];
        const isOpen = days.some((day) => {
          const since = (((local - WEEKDAYS.indexOf(day) * 1_440 - from) % 10_080) + 10_080) % 10_080;
          return since < length;
        });
        return isOpen ? [min_copies] : [];
      });
      if (copies.length === 0) continue;
      minutes++;
      instanceMinutes += Math.ceil(Math.max(least, ...copies) / 2);
    }
    const rates = { leastCopies: least, instancesFor: (copies: number) => Math.ceil(copies / 2), hourNanos: 60n * 168n * 1_000_000_000n };
    expect(scheduleCostOf(schedule, rates, WINTER_MS)).toEqual({
      minutes_per_week: minutes,
      price_per_month: String(instanceMinutes * 730),
    });
  });
  fc.assert(property, { seed: 20_261_126, numRuns: 60 });
});
