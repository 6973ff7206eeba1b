import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

const TIMEOUT_MS = 240_000;

/** A line of `codex exec --json`. */
export interface CodexEvent {
  type: string;
  item?: { type: string; text?: string; status?: string; [field: string]: unknown };
  error?: { message: string };
}

interface CodexSettings {
  binary: string;
  /** The home directory: its `.codex` has the settings. */
  home: string;
  /** The folder in which Codex works. */
  folder: string;
  profile: string;
  apiKey: string;
}

/**
 * Runs `codex exec` without the test's environment, and returns what it printed as JSON. It is killed after two
 * minutes.
 * @param words the prompt, or a command with its prompt, such as `resume --last`
 * @param overrides settings that replace those of the profile, such as `model="mine"`
 */
export const runCodex = async (
  { binary, home, folder, profile, apiKey }: CodexSettings,
  words: readonly string[],
  ...overrides: string[]
) => {
  const settings = ['approval_policy="never"', ...overrides].flatMap((override) => ['-c', override]);
  // Not every machine lets Codex make its sandbox, and the script of the test says what it runs.
  const parameters = ['exec', '--json', '--profile', profile, '--skip-git-repo-check', '--sandbox', 'danger-full-access'];
  const child = spawn(binary, [...parameters, ...settings, ...words], {
    cwd: folder,
    env: { HOME: home, PATH: '/usr/local/bin:/usr/bin:/bin', SLUICE_API_KEY: apiKey },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  const [code, printed, log] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  const events = printed.split('\n').filter((line) => line.startsWith('{'));
  return { code, log, events: events.map((line) => JSON.parse(line) as CodexEvent) };
};
