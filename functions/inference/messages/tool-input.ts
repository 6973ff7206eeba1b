import { parseKeepingNumbers } from '../../../shared/http/json/json-numbers.ts';
import { isJsonObject } from '../chat/json-object.ts';

const OPAQUE = { fields: new Set(['tool']), keys: new Set(['input']) };

/**
 * The input of a tool call from its arguments. Numbers keep their form. Arguments that aren't a JSON object are passed
 * under `_raw`, as they are to models.
 */
export const readToolInput = (text: string): Record<string, unknown> => {
  if (text.trim() === '') return {};
  if (!isJsonObject(text)) return { _raw: text };
  return (parseKeepingNumbers(`{"tool":{"input":${text}}}`, OPAQUE) as { tool: { input: Record<string, unknown> } }).tool.input;
};

/**
 * Finds the end of a call's arguments, however they are split. A JSON object is complete with its last bracket; text
 * after it is left out.
 */
export const createToolInput = () => {
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let isComplete = false;

  // Returns true after the last bracket.
  const read = (character: string): boolean => {
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (character === '\\') isEscaped = true;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else return false;
    return depth <= 0 && !isInString;
  };

  return {
    /** Returns the part of the text that belongs to the arguments. */
    take: (text: string): string => {
      if (isComplete) return '';
      for (let index = 0; index < text.length; index++) {
        if (!read(text[index] as string)) continue;
        isComplete = true;
        return text.slice(0, index + 1);
      }
      return text;
    },
    isComplete: (): boolean => isComplete,
  };
};
