import { readFileSync } from 'node:fs';

const PAGE = new URL('../../../../docs/runbook.md', import.meta.url);

/** An entry of the runbook. */
export interface RunbookEntry {
  name: string;
  /** The text below the heading, without the command and the query. */
  text: string;
  /** The text after its first paragraph, which has the severity, the fact and the impact. */
  advice: string;
  /** The line that names the command that runs the query, and the log groups. */
  command: string | undefined;
  /** A query of CloudWatch Logs Insights, whose first command names the log groups of the stacks `sluice-…`. */
  query: string | undefined;
}

const QUERY = /^(`npm run admin -- why [^\n]*)\n\n```text\n(SOURCE logGroups\(.*?)\n```\n?/ms;

/** The entry with a heading of the third level in docs/runbook.md; undefined if there is none. */
export const readEntry = (name: string, page: string = readFileSync(PAGE, 'utf8')): RunbookEntry | undefined => {
  const lines = page.split('\n');
  const start = lines.indexOf(`### ${name}`);
  if (start === -1) return undefined;
  const length = lines.slice(start + 1).findIndex((line) => /^#{1,3} /.test(line));
  const body = lines.slice(start + 1, length === -1 ? undefined : start + 1 + length).join('\n');
  const text = body.replace(QUERY, '').trim();
  const [, command, query] = QUERY.exec(body) ?? [];
  return { name, text, advice: text.split('\n\n').slice(1).join('\n\n'), command, query };
};

/** The query for the stacks with another prefix than `sluice`, such as `sluice-dev`. */
export const queryFor = (query: string, prefix: string): string => query.replaceAll("'sluice-", `'${prefix}-`);
