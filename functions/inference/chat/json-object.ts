import { MAX_DEPTH, MAX_VALUES, measureJson } from '../../../shared/http/json/json-size.ts';

/** True for the text of a JSON object of a size that can be read: other arguments of a call are passed under `_raw`. */
export const isJsonObject = (text: string): boolean => {
  try {
    const { depth, values } = measureJson(text);
    const value: unknown = depth <= MAX_DEPTH && values <= MAX_VALUES && JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};
