import { readFileSync } from 'node:fs';

const PAGE = new URL('../../../../docs/operations.md', import.meta.url);

/** An entry of the runbook. */
export interface RunbookEntry {
  name: string;
  /** The text below the heading, without the query. */
  text: string;
  /** A query of CloudWatch Logs Insights, whose first command names the log groups of the stacks `sluice-…`. */
  query: string | undefined;
}

const QUERY = /^```text\n(SOURCE logGroups\(.*?)\n```\n?/ms;

/** The entry with a heading of the third level in docs/operations.md; undefined if there is none. */
export const readEntry = (name: string, page: string = readFileSync(PAGE, 'utf8')): RunbookEntry | undefined => {
  const lines = page.split('\n');
  const start = lines.indexOf(`### ${name}`);
  if (start === -1) return undefined;
  const length = lines.slice(start + 1).findIndex((line) => /^#{1,3} /.test(line));
  const body = lines.slice(start + 1, length === -1 ? undefined : start + 1 + length).join('\n');
  return { name, text: body.replace(QUERY, '').trim(), query: QUERY.exec(body)?.[1] };
};

/** The query for the stacks with another prefix than `sluice`, such as `sluice-dev`. */
export const queryFor = (query: string, prefix: string): string => query.replaceAll("'sluice-", `'${prefix}-`);
