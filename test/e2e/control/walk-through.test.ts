import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { shareWalk, type Walk } from '../../support/clients/walk-through.ts';

const DOCUMENT = path.join(import.meta.dirname, '../../../docs/control-plane.md');

let walk: Walk;
beforeAll(async () => {
  walk = await shareWalk();
});
afterAll(() => walk.close());

describe('docs/control-plane.md', () => {
  test('prints the output that it shows', async () => {
    expect(await walk.follow(DOCUMENT)).toBeGreaterThan(9);
  });
});

describe('docs/walk-through.sh', () => {
  test.each([undefined, '0'])('runs without the startup files of the shell, also if SHLVL is %s', async (SHLVL) => {
    const startup = path.join(walk.folder, '.bashrc');
    writeFileSync(startup, 'echo "read the startup file, prompt $PS1"\n');
    expect(await walk.shell('echo done', { SHLVL, PS1: undefined, HOME: walk.folder, BASH_ENV: startup })).toBe('done\n');
  });

  test('shows the error of the API when a step fails', async () => {
    const script = '. docs/walk-through.sh; curl -s $control/v1/organizations/org_none -H "$admin" | field name';
    await expect(walk.shell(script)).rejects.toThrow("organization_not_found: The organization 'org_none' does not exist");
  });

  test('ends a wait for something that does not come, and shows the last reply', async () => {
    const script = '. docs/walk-through.sh; me() { curl -s $control/v1/me -H "$admin"; }; wait_times=2; wait_for nothing $walk/me.json me';
    await expect(walk.shell(script)).rejects.toThrow(/No nothing after 2 replies\. The last one:\n\{"id":"user_/);
  });

  test('says how to start a local run when there is none', async () => {
    const script = 'mkdir elsewhere && cd elsewhere && ln -s ../docs docs && . docs/walk-through.sh';
    await expect(walk.shell(script)).rejects.toThrow('No local run: start one with "npm start" in another terminal');
  });
});
