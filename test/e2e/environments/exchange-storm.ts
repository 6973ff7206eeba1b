import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OAuth2Server } from 'oauth2-mock-server';
import { type Answer, type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { sized } from '../../support/sized.ts';
import { environments } from './run.ts';

const ORGANIZATIONS = sized(1, 5);
const JOBS_OF_ORGANIZATION = sized(140, 200);
const JOBS_AT_ONCE = sized(40, 100);
// The limit of one service account in a minute.
const MAX_SIGN_INS = 120;
// Fewer than a user can send in a minute, because their first one needs two.
const MAX_LOGINS = 50;

let run: TestRun;
let control: Control;
let github: OAuth2Server;
beforeAll(async () => {
  run = await environments.start();
  control = controlOf(run);
  github = new OAuth2Server();
  await github.issuer.keys.generate('RS256');
  await github.start(0, '127.0.0.1');
});
afterAll(() => github.stop());

interface Workflow {
  client_id: string;
  federation_rule: string;
}

const createWorkflow = async ({ token }: SignedIn): Promise<Workflow> => {
  const { id: client_id } = await control.done('POST', '/v1/service-accounts', { token, body: { name: 'ci', role: 'member' } });
  const rule = { issuer: String(github.issuer.url), audience: run.control_url, claims: { repository_id: '7' } };
  const { id } = await control.done('POST', `/v1/service-accounts/${client_id}/federation-rules`, { token, body: rule });
  return { client_id, federation_rule: id };
};

const exchangeFor = async (workflow: Workflow): Promise<Answer> => {
  const subject_token = await github.issuer.buildToken({
    scopesOrTransform: (_, payload) => {
      const { iat } = payload;
      Object.assign(payload, { sub: 'repo:acme/web', aud: run.control_url, jti: randomUUID(), repository_id: '7', exp: Number(iat) + 600 });
    },
  });
  const body = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    ...{ subject_token, ...workflow },
  };
  return control.call('POST', '/v1/auth/token', { body });
};

interface Timed extends Answer {
  ms: number;
}

const timed = async (call: () => Promise<Answer>): Promise<Timed> => {
  const startMs = performance.now();
  return { ...(await call()), ms: performance.now() - startMs };
};

const medianMs = (answers: readonly Timed[]): number => answers.map(({ ms }) => ms).sort((a, b) => a - b)[answers.length >> 1] ?? 0;

const storm = async (workflows: readonly Workflow[]): Promise<Timed[]> => {
  const jobs = Array.from({ length: JOBS_OF_ORGANIZATION }, () => workflows).flat();
  const replies: Timed[] = [];
  const work = async (): Promise<void> => {
    for (let workflow = jobs.pop(); workflow; workflow = jobs.pop()) {
      const current = workflow;
      replies.push(await timed(() => exchangeFor(current)));
    }
  };
  await Promise.all(Array.from({ length: JOBS_AT_ONCE }, work));
  return replies;
};

describe('a storm of token exchanges', () => {
  test('lets a person with the same address log in, and answers each job with a token or a 429', async () => {
    const workflows: Workflow[] = [];
    const people: SignedIn[] = [];
    for (let number = 0; number < ORGANIZATIONS; number++) {
      const { id: organization } = await control.createOrganization();
      const person = await control.createUser({ role: 'owner', organization });
      people.push(person);
      workflows.push(await createWorkflow(person));
    }
    let isOver = false;
    const over = storm(workflows).finally(() => {
      isOver = true;
    });
    const logins: Timed[] = [];
    while (!isOver && logins.length < people.length * MAX_LOGINS) {
      const { email, password } = people[logins.length % people.length] as SignedIn;
      logins.push(await timed(() => control.call('POST', '/v1/auth/login', { body: { email, password } })));
    }
    const exchanges = await over;

    expect(new Set(logins.map(({ status }) => status))).toEqual(new Set([200]));
    expect(exchanges).toHaveLength(ORGANIZATIONS * JOBS_OF_ORGANIZATION);
    const signedIn = exchanges.filter(({ status }) => status === 200);
    expect(signedIn.length).toBeGreaterThanOrEqual(ORGANIZATIONS * MAX_SIGN_INS);
    for (const { status, headers, body: refusal } of exchanges.filter((answer) => !signedIn.includes(answer)))
      expect([status, refusal.error, headers.get('retry-after')]).toEqual([
        429,
        'temporarily_unavailable',
        expect.stringMatching(/^[1-9]/),
      ]);
    // In the queue of the exchanges, a login would take as long as they do.
    expect(medianMs(logins)).toBeLessThan(medianMs(exchanges) / 2);
  });
});
