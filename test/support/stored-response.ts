import type { StoredResponse } from '../../shared/responses/response-store.ts';
import { newId } from './new-id.ts';

/** The message of the stored response. */
export const answer = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Ho' }],
};

/** A stored response of one message, with changes. */
export const stored = (change: Partial<StoredResponse> = {}, output: unknown[] = [answer]): StoredResponse => ({
  response: { id: newId('response'), object: 'response', output: output as StoredResponse['response']['output'] },
  input: [{ type: 'message', role: 'user', content: 'Hi' }],
  before: [],
  depth: 1,
  ...change,
});
