import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../..');

/** A page of the documentation and its text. */
export type Page = readonly [name: string, text: string];

/** All pages that people read: those of `docs/`, and those that lie in the root. */
export const readPages = (): Page[] =>
  [...globSync('*.md', { cwd: root }), ...globSync('docs/**/*.md', { cwd: root })].map((name) => [name, readPage(name)]);

export const readPage = (name: string): string => readFileSync(path.join(root, name), 'utf8');

/** The contents of a page's blocks of code, and of its backticks. */
export const codeOf = (text: string): string[] =>
  [...text.matchAll(/```\w*\n([\s\S]*?)```|`([^`\n]+)`/g)].map(([, block, span]) => block ?? span ?? '');

const proseOf = (text: string): string => text.replace(/```\w*\n[\s\S]*?```|`[^`\n]+`/g, '');

/** The targets of a page's links, with their anchors, but those to other sites. */
export const linksOf = (text: string): string[] =>
  [...proseOf(text).matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$|(?:href|src)="([^"]+)"/gm)]
    .map(([, inline, defined, html]) => inline ?? defined ?? html ?? '')
    .filter((link) => !/^(https?|mailto):/.test(link));

/** The anchors that GitHub gives to a page's headings. */
export const anchorsOf = (text: string): string[] => {
  const seen = new Map<string, number>();
  return [...text.replace(/```\w*\n[\s\S]*?```/g, '').matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = words.replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '').replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
};

/** The rows of the table behind a heading, each with its cells; the first row has the names of the columns. */
export const tableOf = (text: string, heading: string): string[][] => {
  const [, section = ''] = text.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const lines = /(?:^\|.*\|$\n?)+/m.exec(section)?.[0].trimEnd().split('\n') ?? [];
  const rows = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return rows.filter((_, i) => i !== 1);
};
