import type { Body } from '../ask.ts';
import { BASE, type Check, reply } from '../check.ts';
import type { Call, Reply } from '../reply.ts';
import { accepted, fails, type Verdict, works } from '../verdict.ts';
import { isObject } from './format.ts';

const NAME = 'water_level';
const waterLevel = {
  name: NAME,
  description: 'The water level at a place on a river, in metres.',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};
const tools = [{ type: 'function', function: waterLevel }];
const named = { type: 'function', function: { name: NAME } };

/** Enough tokens for a model that thinks before it calls a tool. */
const ROOM = { max_tokens: 512 };
const ASKING: Body = {
  ...ROOM,
  messages: [{ role: 'user', content: `How high is the water in Hamburg? Call ${NAME} to find out.` }],
};
/** A request for which no model calls a tool by itself. */
const NOT_ASKING: Body = { ...ROOM, messages: BASE.messages };
const weather = { type: 'function', function: { ...waterLevel, name: 'weather', description: 'The weather at a place.' } };
const ASKING_TWICE: Body = {
  ...ROOM,
  messages: [{ role: 'user', content: `How high is the water in Hamburg, and how warm is it? Call ${NAME} and weather at once.` }],
  tools: [...tools, weather],
};

const callFault = (call: Call): string | undefined => {
  if (call.name !== NAME) return `a call of '${call.name}', which is no tool of the request`;
  return isObject(call.arguments) ? undefined : 'the arguments of the call are not a JSON object';
};

const callsOf = ({ calls, functionCall }: Reply): Call[] => (functionCall ? [functionCall] : calls);

/** @param otherwise the verdict if no call was made */
const calls =
  (otherwise: Verdict) =>
  (replies: readonly Reply[]): Verdict => {
    const made = callsOf(reply(replies, 0));
    if (made.length === 0) return otherwise;
    const fault = made.map(callFault).find((found) => found !== undefined);
    return fault ? fails(fault) : works;
  };

const mustCall = calls(fails('no call was made'));
const mayCall = calls(accepted);
const mustNotCall = (replies: readonly Reply[]): Verdict => {
  const said = reply(replies, 0);
  if (callsOf(said).length > 0) return fails('a call was made all the same');
  return said.text === '' ? fails('neither a call nor a message was made') : works;
};

const asDeprecated =
  (judge: Check['judge']): Check['judge'] =>
  (replies, facts) =>
    reply(replies, 0).calls.length > 0 ? fails('the call is not in its deprecated form') : judge(replies, facts);

const choice = (variant: string, asking: Body, tool_choice: unknown, judge: Check['judge']): Check => ({
  field: 'tool_choice',
  variant,
  bodies: () => [{ ...asking, tools, tool_choice }],
  judge,
});

/** Checks of function calls, in the current and the deprecated form. */
export const toolChecks: readonly Check[] = [
  { field: 'tools', bodies: () => [{ ...ASKING, tools }], judge: mayCall },
  choice('none', ASKING, 'none', mustNotCall),
  choice('auto', ASKING, 'auto', mayCall),
  choice('required', NOT_ASKING, 'required', mustCall),
  choice('a function', NOT_ASKING, named, mustCall),
  {
    field: 'parallel_tool_calls',
    bodies: () => [true, false].map((parallel_tool_calls) => ({ ...ASKING_TWICE, parallel_tool_calls })),
    judge: (replies) => {
      const [many, one] = [reply(replies, 0).calls.length, reply(replies, 1).calls.length];
      if (one > 1) return fails(`${one} calls at once where that was switched off`);
      return many > 1 ? works : accepted;
    },
  },
  { field: 'functions', bodies: () => [{ ...ASKING, functions: [waterLevel] }], judge: asDeprecated(mayCall) },
  {
    field: 'function_call',
    variant: 'none',
    bodies: () => [{ ...ASKING, functions: [waterLevel], function_call: 'none' }],
    judge: mustNotCall,
  },
  {
    field: 'function_call',
    variant: 'a function',
    bodies: () => [{ ...NOT_ASKING, functions: [waterLevel], function_call: { name: NAME } }],
    judge: asDeprecated(mustCall),
  },
];
