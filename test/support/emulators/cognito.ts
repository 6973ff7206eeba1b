import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { answerTrigger, type TriggerEvent } from '../../../functions/auth-challenge/answer-trigger.ts';
import type { UserPool, UserPoolClient } from '../../../infra/assembly/local-app.ts';
import { type Cognito, type CognitoOptions, startCognito } from '../../../infra/local/cognito/emulator.ts';
import { createProcessList } from '../../../infra/local/processes/process-list.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const PASSWORDS_AND_TICKETS = ['ALLOW_ADMIN_USER_PASSWORD_AUTH', 'ALLOW_CUSTOM_AUTH'];

const clientOf = (id: string, authFlows: readonly string[], accessTokenSeconds: number): UserPoolClient => ({
  id,
  authFlows,
  accessTokenSeconds,
  idTokenSeconds: accessTokenSeconds,
  refreshTokenSeconds: 30 * 86_400,
});

/** The ids of the pool's clients. */
export const clientIds = {
  api: 'abcdefghijklmnopqrstuvwxyz',
  machine: 'machineclientofthetestpool',
  browser: 'browserclientofthetestpool',
};

export const pool: UserPool = {
  id: 'us-east-1_abcdefghi',
  logicalId: 'Users',
  clients: [
    clientOf(clientIds.api, [...PASSWORDS_AND_TICKETS, 'ALLOW_REFRESH_TOKEN_AUTH'], 3_600),
    clientOf(clientIds.machine, ['ALLOW_CUSTOM_AUTH'], 900),
    { ...clientOf(clientIds.browser, PASSWORDS_AND_TICKETS, 900), rotationGraceSeconds: 60 },
  ],
  triggers: { define: 'define', create: 'create', verify: 'verify' },
  hasTotp: true,
  passwords: {
    minLength: 12,
    requiresLowercase: true,
    requiresUppercase: true,
    requiresDigits: true,
    requiresSymbols: true,
    temporaryValiditySeconds: 7 * 86_400,
  },
};

export interface TestCognito extends Cognito {
  /** Moves the emulator's clock forward, but not the clock that tokens are issued with. */
  passMs(ms: number): void;
  /** Tickets for sign-ins, in memory. */
  tickets: { issue(subject: string): string; redeem(ticket: string, subject: string): Promise<boolean> };
  /** The latest code or temporary password sent to an address, if any. */
  lastMailTo(address: string): Promise<string | undefined>;
}

/** Starts the emulator with one pool, in a temporary folder or a given one. */
export const startTestCognito = async (options: Partial<CognitoOptions> = {}): Promise<TestCognito> => {
  const folder = temporaryFolder();
  const processes = createProcessList();
  let aheadMs = 0;
  const valid = new Map<string, string>();
  const tickets: TestCognito['tickets'] = {
    issue(subject) {
      const ticket = randomUUID();
      valid.set(ticket, subject);
      return ticket;
    },
    redeem: async (ticket, subject) => valid.get(ticket) === subject && valid.delete(ticket),
  };
  const cognito = await startCognito({
    pools: [pool],
    stateFolder: folder.path,
    logFolder: path.join(folder.path, 'logs'),
    ephemeral: true,
    processes,
    onChange: () => undefined,
    log: () => undefined,
    invoke: (_arn, event) => answerTrigger({ tickets, now: () => Date.now() + aheadMs }, event as TriggerEvent),
    now: () => Date.now() + aheadMs,
    ...options,
  });
  return {
    ...cognito,
    tickets,
    passMs(ms) {
      aheadMs += ms;
    },
    async lastMailTo(address) {
      const lines = await readFile(path.join(folder.path, 'logs', 'mail.log'), 'utf8').catch(() => '');
      const mails = lines.split('\n').flatMap((line) => (line ? [JSON.parse(line) as { to: string; code: string }] : []));
      return mails.findLast(({ to }) => to === address)?.code;
    },
    async close() {
      await cognito.close();
      processes.close();
      await folder[Symbol.asyncDispose]();
    },
  };
};
