import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Control, controlOf, type SignedIn } from '../../support/control.ts';
import { startTestRun, type TestRun } from '../../support/local-run.ts';

/** Environments of each function. */
const ENVIRONMENTS = 2;
/** As long as a refused login takes, and several times as long as a call of a signed-in user. */
const WAITED_MS = 800;

let run: TestRun;
let control: Control;
let admin: SignedIn;
beforeAll(async () => {
  run = await startTestRun('--environments', String(ENVIRONMENTS));
  control = controlOf(run);
  admin = await control.asAdmin();
});
afterAll(async () => {
  await run.close();
});

/** How long a call of a signed-in user takes, in ms. */
const timeOfCall = async (): Promise<number> => {
  const startMs = performance.now();
  await control.done('GET', '/v1/me', { token: admin.token });
  return performance.now() - startMs;
};

test('nobody who is logged in waits behind strangers with wrong passwords', async () => {
  await timeOfCall();
  const attempts = Array.from({ length: 4 * ENVIRONMENTS }, (_, i) =>
    control.call('POST', '/v1/auth/login', { body: { email: `stranger-${i}@example.com`, password: 'Wrong-password-1' } }),
  );
  let isOver = false;
  const over = Promise.all(attempts).then((answers) => {
    isOver = true;
    return answers;
  });
  const times: number[] = [];
  while (!isOver) times.push(await timeOfCall());
  expect(Math.max(...times)).toBeLessThan(WAITED_MS);
  expect((await over).map(({ status }) => status)).toContain(401);
});
