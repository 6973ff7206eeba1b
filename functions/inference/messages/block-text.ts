import type { TextualBlock, ToolResult } from './blocks.ts';

/** Joins two texts; undefined or '' adds nothing. */
export const joined = (one: string | undefined, separator: string, other: string): string =>
  one && other ? `${one}${separator}${other}` : one || other;

const lines = (texts: readonly (string | null | undefined)[]): string => texts.filter(Boolean).join('\n');

const textOfBlock = (block: TextualBlock): string => {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'document':
      return lines([block.title, block.context, block.source.type === 'text' ? block.source.data : textOf(block.source.content)]);
    case 'search_result':
      return lines([block.title, block.source, textOf(block.content)]);
    case 'tool_reference':
      return block.tool_name;
  }
};

/** The text of blocks, joined as in a chat message. Empty ones are left out: some runtimes reject them. */
export const textOf = (blocks: readonly TextualBlock[]): string => lines(blocks.map(textOfBlock));

/** The text of a tool's result. A chat has no field for a failure, so the text says it. */
export const resultText = ({ content, is_error }: ToolResult): string => {
  const text = textOf(content ?? []);
  return is_error ? joined('Error', ': ', text) : text;
};
