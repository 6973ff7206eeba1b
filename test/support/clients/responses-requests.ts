import { type ResponsesRequest, responsesRequest } from '../../../functions/inference/responses/request.ts';
import { validate } from '../../../shared/http/validate.ts';

/** A request as the route parses it. */
export const read = (body: Record<string, unknown>): ResponsesRequest => validate(responsesRequest, { model: 'm', input: 'Hi', ...body });

/** The field and the message of a rejected request's error. */
export const refusal = (body: Record<string, unknown>): { param: string | null; message: string; status: number } => {
  try {
    read(body);
  } catch (error) {
    return error as ReturnType<typeof refusal>;
  }
  throw new Error('The request was accepted.');
};

export const user = (content: unknown) => ({ role: 'user', content });
export const called = (call_id: string, name = 'f', args = '{}') => ({ type: 'function_call', call_id, name, arguments: args });
export const result = (call_id: string, output: unknown = 'done') => ({ type: 'function_call_output', call_id, output });
export const thought = (text: string) => ({ type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text }] });
