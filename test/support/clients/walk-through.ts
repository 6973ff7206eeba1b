import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { expect } from '@jest/globals';
import { shareTestRun, startTestRun, type TestRun } from './local-run.ts';

interface Step {
  command: string;
  printed: string | undefined;
}

/** The shell blocks of a document, each with the block of output right behind it. */
export const stepsOf = (markdown: string): Step[] => {
  const blocks = [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, text = '']) => ({ language, text }));
  return blocks.flatMap(({ language, text }, i) => {
    const next = blocks[i + 1];
    return language === 'sh'
      ? [{ command: text, printed: next?.language === 'json' ? compact(next.text) : next?.language === 'text' ? next.text : undefined }]
      : [];
  });
};

// JSON in the document may be laid out for reading.
const compact = (text: string): string => text.replace(/([{[,:])\s+/g, '$1').replace(/\s+([}\]])/g, '$1');

/** Matches what the document prints; `…` stands for any text of one line, or alone on a line for any lines. */
export const patternOf = (printed: string): RegExp =>
  new RegExp(
    `^${printed
      .trim()
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/^…$/gm, '[\\s\\S]*?')
      .replaceAll('…', '[^\\n]*?')}$`,
  );

const DOCS = path.join(import.meta.dirname, '../../../docs');
const MARK = '=====';
// Its .curlrc lets `curl -s` print the errors of connections.
const CURL_HOME = path.join(import.meta.dirname, 'curl');

// The output of each step, and at the end what follows the last mark.
const printedIn = (output: string): string[] => output.split(MARK).map((text) => text.trim());

/** A local run with a folder of its own, in which a reader of the documents would type. */
export const startWalk = async (...flags: string[]) => openWalk(await startTestRun(...flags));

/** The same in the local run that suites share, for documents whose steps can be repeated in one run. */
export const shareWalk = async () => openWalk(await shareTestRun());

const openWalk = (run: TestRun) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-walk-'));
  symlinkSync(run.state, path.join(folder, '.sluice'));
  symlinkSync(DOCS, path.join(folder, 'docs'));

  /**
   * Runs a script as a person types it, in one shell; what it printed.
   * @param act called when the script has printed the mark, with all output; its end is a line on file descriptor 3
   */
  const shell = (script: string, variables: NodeJS.ProcessEnv = {}, act?: (output: string) => Promise<void>): Promise<string> =>
    new Promise((resolve, reject) => {
      // A program that reads its input finds none. BASH_ENV would name a startup file.
      const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        env: {
          ...process.env,
          CURL_HOME,
          ...variables,
          BASH_ENV: undefined,
          PATH: `${path.dirname(process.execPath)}:${variables.PATH ?? process.env.PATH}`,
        },
      });
      let output = '';
      const next = child.stdio[3] as Writable;
      child.stdout?.on('data', (text: Buffer) => {
        output += text.toString();
        if (!act || !output.endsWith(`${MARK}\n`)) return;
        act(output).then(
          () => next.write('\n'),
          (error: unknown) => {
            child.kill();
            reject(error);
          },
        );
      });
      child.stderr?.on('data', (text: Buffer) => {
        output += text.toString();
      });
      child.once('error', reject);
      child.once('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`The walk-through ended with ${code}:\n${output}`))));
    });

  return {
    run,
    folder,
    shell,
    /**
     * Types every command of a document, and expects what it says that they print, and that they write only under
     * `.sluice/`. Returns the number of steps.
     * @param act called after each step with what it printed: a person acts elsewhere before they type the next one
     */
    follow: async (document: string, variables?: NodeJS.ProcessEnv, act?: (printed: string) => Promise<void>): Promise<number> => {
      const steps = stepsOf(readFileSync(document, 'utf8'));
      const end = `\necho; echo ${MARK}\n${act ? 'read -r <&3\n' : ''}`;
      const afterStep = act && ((all: string) => act(printedIn(all).at(-2) ?? ''));
      const printed = printedIn(await shell(steps.map(({ command }) => command + end).join(''), variables, afterStep));
      for (const [i, { command, printed: expected }] of steps.entries()) {
        if (expected === undefined) throw new Error(`A step doesn't show what it prints:\n${command}`);
        expect(printed[i]).toMatch(patternOf(expected));
      }
      expect(readdirSync(folder)).toEqual(['.sluice', 'docs']);
      return steps.length;
    },
    close: async (): Promise<void> => {
      await run.close();
      for (const written of [folder, path.join(run.state, 'walk')]) rmSync(written, { recursive: true, force: true });
    },
  };
};

export type Walk = Awaited<ReturnType<typeof startWalk>>;
