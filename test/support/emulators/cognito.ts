import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { UserPool } from '../../../infra/assembly/local-app.ts';
import { type Cognito, type CognitoOptions, startCognito } from '../../../infra/local/cognito/emulator.ts';
import { createProcessList } from '../../../infra/local/processes/process-list.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export const pool: UserPool = {
  id: 'us-east-1_abcdefghi',
  logicalId: 'Users',
  client: { id: 'abcdefghijklmnopqrstuvwxyz', accessTokenSeconds: 3_600, idTokenSeconds: 3_600, refreshTokenSeconds: 30 * 86_400 },
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
  /** The latest code or temporary password sent to an address, if any. */
  lastMailTo(address: string): Promise<string | undefined>;
}

/** Starts the emulator with one pool, in a temporary folder or a given one. */
export const startTestCognito = async (options: Partial<CognitoOptions> = {}): Promise<TestCognito> => {
  const folder = temporaryFolder();
  const processes = createProcessList();
  let aheadMs = 0;
  const cognito = await startCognito({
    pools: [pool],
    stateFolder: folder.path,
    logFolder: path.join(folder.path, 'logs'),
    ephemeral: true,
    processes,
    onChange: () => undefined,
    log: () => undefined,
    now: () => Date.now() + aheadMs,
    ...options,
  });
  return {
    ...cognito,
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
