import { isWhiteSpace, stripEnd, stripStart } from './text.ts';

/** A part of a template: text, or the code of a tag without its marks. */
export type SourcePiece = { text: string } | { isOutput: boolean; code: string };

const TAG = /\{(?:%|\{|#)/g;
const RAW = /\{%[-+]?\s*raw\s*(-?)%\}/y;
const END_RAW = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g;
const OPENING = '([{';
const CLOSING = ')]}';

// The index after the closing quote.
const endOfLiteral = (source: string, start: number): number => {
  for (let at = start + 1; at < source.length; at++) {
    if (source[at] === '\\') at++;
    else if (source[at] === source[start]) return at + 1;
  }
  throw new Error('A string has no end.');
};

// The index of the closing mark. Braces of dictionaries and marks in strings don't close a tag.
const endOfTag = (source: string, start: number, mark: string): number => {
  let depth = 0;
  for (let at = start; at < source.length; ) {
    const character = source[at] as string;
    if (depth === 0 && source.startsWith(mark, at)) return at;
    if (character === '"' || character === "'") at = endOfLiteral(source, at);
    else {
      if (OPENING.includes(character)) depth++;
      else if (CLOSING.includes(character)) depth--;
      at++;
    }
  }
  throw new Error(`A tag has no end: '${source.slice(start, start + 80).trim()}'`);
};

// Removes the white space of a text's last line if the line has nothing else.
const stripMargin = (text: string, isAtLineStart: boolean): string => {
  const lineStart = text.lastIndexOf('\n') + 1;
  if (lineStart === 0 && !isAtLineStart) return text;
  return [...text.slice(lineStart)].every(isWhiteSpace) ? text.slice(0, lineStart) : text;
};

const SIGNS = '-+';
const signAt = (source: string, at: number): string => (SIGNS.includes(source[at] ?? ' ') ? (source[at] as string) : '');

// `generation` marks the model's own text, which transformers uses for training: it is a scope of its own and prints
// its content.
const withoutGeneration = (code: string): string =>
  code.replace(/^\s*generation\s*$/, 'filter string').replace(/^\s*endgeneration\s*$/, 'endfilter');

/**
 * Splits a template into texts and tags, with the white space that Jinja leaves with `trim_blocks` and
 * `lstrip_blocks`: a tag that is no output takes the margin before it and the line break after it with it, and the
 * signs - and + change that (jinja2/lexer.py).
 * @throws Error for a tag without an end
 */
export const splitSource = (template: string): SourcePiece[] => {
  const source = template.replaceAll(/\r\n?/g, '\n').replace(/\n$/, '');
  const pieces: SourcePiece[] = [];
  let at = 0;
  let isAtLineStart = true;
  const putText = (text: string, isOutput: boolean, sign: string): void => {
    const left = sign === '-' ? stripEnd(text) : isOutput || sign === '+' ? text : stripMargin(text, isAtLineStart);
    if (left !== '') pieces.push({ text: left });
  };
  /** Continues after a tag's closing mark. */
  const skip = (end: number, sign: string, trimsLine: boolean): void => {
    at = end;
    if (sign === '-') at = source.length - stripStart(source.slice(end)).length;
    else if (trimsLine && sign !== '+' && source[end] === '\n') at++;
    isAtLineStart = source[at - 1] === '\n';
  };
  while (at < source.length) {
    TAG.lastIndex = at;
    const start = TAG.exec(source)?.index ?? source.length;
    const text = source.slice(at, start);
    if (start === source.length) {
      putText(text, true, '');
      break;
    }
    const sign = signAt(source, start + 2);
    const isOutput = source[start + 1] === '{';
    putText(text, isOutput, sign);
    RAW.lastIndex = start;
    const raw = RAW.exec(source);
    if (raw) {
      skip(RAW.lastIndex, raw[1] as string, false);
      END_RAW.lastIndex = at;
      const end = END_RAW.exec(source);
      if (!end) throw new Error('A raw block has no end.');
      putText(source.slice(at, end.index), false, end[1] as string);
      skip(END_RAW.lastIndex, end[2] as string, true);
      continue;
    }
    const codeStart = start + 2 + sign.length;
    if (source[start + 1] === '#') {
      const end = source.indexOf('#}', codeStart);
      if (end < 0) throw new Error('A comment has no end.');
      skip(end + 2, signAt(source, end - 1), true);
      continue;
    }
    const end = endOfTag(source, codeStart, isOutput ? '}}' : '%}');
    const closing = end > codeStart ? signAt(source, end - 1) : '';
    const code = source.slice(codeStart, end - closing.length);
    pieces.push({ isOutput, code: isOutput ? code : withoutGeneration(code) });
    skip(end + 2, closing, !isOutput);
  }
  return pieces;
};
