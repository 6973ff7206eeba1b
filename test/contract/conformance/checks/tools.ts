import type { Body } from '../ask.ts';
import { BASE, type Check, reply } from '../check.ts';
import type { Call, Reply } from '../reply.ts';
import { accepted, fails, notShown, type Verdict, works } from '../verdict.ts';
import { isObject } from './format.ts';

const NAME = 'water_level';
const waterLevel = {
  name: NAME,
  description: 'The water level at a place on a river, in metres.',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};
const tools = [{ type: 'function', function: waterLevel }];
const named = { type: 'function', function: { name: NAME } };

// Enough tokens for a model that thinks before it calls a tool.
const ROOM = { max_tokens: 512 };
const TOOL_NEEDED: Body = {
  ...ROOM,
  messages: [{ role: 'user', content: `How high is the water in Hamburg? Call ${NAME} to find out.` }],
};
// No model calls a tool for this by itself.
const NO_TOOL_NEEDED: Body = { ...ROOM, messages: BASE.messages };
const weather = { type: 'function', function: { ...waterLevel, name: 'weather', description: 'The weather at a place.' } };
const TWO_TOOLS_NEEDED: Body = {
  ...ROOM,
  messages: [{ role: 'user', content: `How high is the water in Hamburg, and how warm is it? Call ${NAME} and weather at once.` }],
  tools: [...tools, weather],
};

const callFault = (call: Call): string | undefined => {
  if (call.name !== NAME) return `a call of '${call.name}', which is not a tool of the request`;
  return isObject(call.arguments) ? undefined : 'the arguments of the call are not a JSON object';
};

const callsOf = ({ calls, functionCall }: Reply): Call[] => (functionCall ? [functionCall] : calls);

// `otherwise` is the verdict if no tool was called.
const calls =
  (otherwise: Verdict) =>
  (replies: readonly Reply[]): Verdict => {
    const made = callsOf(reply(replies, 0));
    if (made.length === 0) return otherwise;
    const fault = made.map(callFault).find((found) => found !== undefined);
    if (fault && reply(replies, 0).finishReason === 'length') return notShown('the call was cut off');
    return fault ? fails(fault) : works;
  };

const mustCall = calls(fails('no tool was called'));
const mayCall = calls(accepted);
const mustNotCall = (replies: readonly Reply[]): Verdict => {
  const answer = reply(replies, 0);
  if (callsOf(answer).length > 0) return fails('a tool was called anyway');
  return answer.text === '' ? fails('the answer has neither a call nor a message') : works;
};

const asDeprecated =
  (judge: Check['judge']): Check['judge'] =>
  (replies, facts) =>
    reply(replies, 0).calls.length > 0 ? fails('the call is not in its deprecated form') : judge(replies, facts);

const choice = (variant: string, request: Body, tool_choice: unknown, judge: Check['judge']): Check => ({
  field: 'tool_choice',
  variant,
  bodies: () => [{ ...request, tools, tool_choice }],
  judge,
});

/** Checks of function calls, in the current and the deprecated form. */
export const toolChecks: readonly Check[] = [
  { field: 'tools', bodies: () => [{ ...TOOL_NEEDED, tools }], judge: mayCall },
  choice('none', TOOL_NEEDED, 'none', mustNotCall),
  choice('auto', TOOL_NEEDED, 'auto', mayCall),
  choice('required', NO_TOOL_NEEDED, 'required', mustCall),
  choice('a function', NO_TOOL_NEEDED, named, mustCall),
  {
    field: 'parallel_tool_calls',
    bodies: () => [true, false].map((parallel_tool_calls) => ({ ...TWO_TOOLS_NEEDED, parallel_tool_calls })),
    judge: (replies) => {
      const [many, one] = [reply(replies, 0).calls.length, reply(replies, 1).calls.length];
      if (one > 1) return fails(`${one} parallel calls, although they are switched off`);
      return many > 1 ? works : accepted;
    },
  },
  { field: 'functions', bodies: () => [{ ...TOOL_NEEDED, functions: [waterLevel] }], judge: asDeprecated(mayCall) },
  {
    field: 'function_call',
    variant: 'none',
    bodies: () => [{ ...TOOL_NEEDED, functions: [waterLevel], function_call: 'none' }],
    judge: mustNotCall,
  },
  {
    field: 'function_call',
    variant: 'a function',
    bodies: () => [{ ...NO_TOOL_NEEDED, functions: [waterLevel], function_call: { name: NAME } }],
    judge: asDeprecated(mustCall),
  },
];
