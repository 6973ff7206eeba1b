import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Departure } from './plan.ts';

const MAX_COLUMNS = 120;
const MAX_COMMENT_LINES = 3;
const MAX_TITLE = 100;
const VAGUE_START = /^(?:What|Whether|Who|Of)\b/;
const CUT_START = /^(?:of|that|with|before|after)\b/;
const PRIVATE = /^(?:async |declare )?(?:const|let|function|class|abstract class|interface|type|enum)\b/;
const TITLE = /^[ \t]*(?:(?:test|it)(?:\.only|\.skip|\.failing)?\(|.*\]\)\(|.*\)\)\(|\]\)\()\s*(['"`])(.*?)\1,?\s*/gm;

interface Comment {
  line: number;
  text: string;
  lines: readonly string[];
  /** The first line of code after it. */
  next: string;
  isDoc: boolean;
}

const textOf = (lines: readonly string[]): string =>
  lines
    .map((line) => line.replace(/^\s*(?:\/\*\*?|\*\/|\*|\/\/)\s?/, '').replace(/\*\/\s*$/, ''))
    .join(' ')
    .trim();

const commentsOf = (source: string): Comment[] => {
  const all = source.split('\n');
  const comments: Comment[] = [];
  for (let start = 0; start < all.length; start++) {
    const first = all[start]?.trim() ?? '';
    if (!first.startsWith('//') && !first.startsWith('/*')) continue;
    let end = start;
    if (first.startsWith('//')) while (all[end + 1]?.trim().startsWith('//')) end++;
    else while (end < all.length - 1 && !all[end]?.includes('*/')) end++;
    const lines = all.slice(start, end + 1);
    comments.push({ line: start + 1, lines, text: textOf(lines), next: all[end + 1] ?? '', isDoc: first.startsWith('/**') });
    start = end;
  }
  return comments;
};

const faultsOfComment = ({ lines, text, next, isDoc }: Comment): string[] => [
  ...(VAGUE_START.test(text) ? ['begins with What, Whether, Who or Of: name the thing'] : []),
  ...(lines.some((line) => line.length > MAX_COLUMNS) ? [`has a line of more than ${MAX_COLUMNS} columns`] : []),
  ...(isDoc && PRIVATE.test(next) ? ['documents a private name: rename it, or say why in a comment with //'] : []),
  ...(!isDoc && lines.length > MAX_COMMENT_LINES ? [`has more than ${MAX_COMMENT_LINES} lines`] : []),
];

const faultsOfTitle = (title: string): string[] => [
  ...(CUT_START.test(title) ? ['begins with half a sentence: name the unit in describe, and begin with a verb'] : []),
  ...(title.length > MAX_TITLE ? [`has ${title.length} characters, at most ${MAX_TITLE} are expected`] : []),
];

/** Comments and test titles that a reader has to guess at. */
export const unclearSentences = (root: string, files: readonly string[]): Departure[] =>
  files
    .filter((file) => /^(?:functions|shared|infra|console|test)\/.*\.(?:tsx?|mjs)$/.test(file))
    .flatMap((file) => {
      const source = readFileSync(path.join(root, file), 'utf8');
      const ofComments = commentsOf(source).flatMap((comment) =>
        faultsOfComment(comment).map((fault) => ({ rule: 'comments-say-why', message: `${file}:${comment.line} ${fault}.` })),
      );
      const ofTitles = [...source.matchAll(TITLE)].flatMap(({ 2: title = '', index }) =>
        faultsOfTitle(title).map((fault) => ({
          rule: 'titles-stand-alone',
          message: `${file}:${source.slice(0, index).split('\n').length} ${fault}.`,
        })),
      );
      return [...ofComments, ...ofTitles];
    });
