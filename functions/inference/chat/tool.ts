import * as z from 'zod';
import { firstFault } from '../../../shared/http/first-fault.ts';
import { anyObject } from './any-object.ts';

const MAX_TOOLS = 128;

/** The name of a function, or of a schema. */
export const FunctionName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'expected 1 to 64 letters, digits, underscores or dashes');

/** A JSON Schema. Only the runtime reads it. */
export const AnySchema = anyObject('expected a JSON Schema object');

/** A function that the model may call (interface 2.2). */
export const FunctionDefinition = z.looseObject({
  name: FunctionName,
  description: z.string().nullish(),
  parameters: AnySchema.nullish(),
  strict: z.boolean().nullish(),
});
export type FunctionDefinition = z.output<typeof FunctionDefinition>;

const Tool = z.looseObject({
  type: z.literal('function', { error: "expected 'function': only function tools are supported" }),
  function: FunctionDefinition,
});

export const Tools = firstFault(z.array(Tool).max(MAX_TOOLS));

export const ToolChoice = z.union(
  [
    z.enum(['auto', 'none', 'required']),
    z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: FunctionName }).nullish() }),
  ],
  { error: `expected 'auto', 'none', 'required' or { "type": "function", "function": { "name": … } }` },
);

export const Functions = firstFault(z.array(FunctionDefinition).max(MAX_TOOLS));

export const FunctionCall = z.union([z.enum(['auto', 'none']), z.looseObject({ name: FunctionName })], {
  error: `expected 'auto', 'none' or { "name": … }`,
});

interface ToolRequest {
  tools?: z.output<typeof Tools> | null | undefined;
  tool_choice?: z.output<typeof ToolChoice> | null | undefined;
  parallel_tool_calls?: boolean | null | undefined;
  functions?: FunctionDefinition[] | null | undefined;
  function_call?: z.output<typeof FunctionCall> | null | undefined;
}

/** True if a request uses the deprecated `functions`; its response then has `function_call`. */
export const isLegacy = ({ functions }: ToolRequest): boolean => (functions?.length ?? 0) > 0;

/** The functions that the model may call. */
export const functionsOf = ({ tools, functions }: ToolRequest): FunctionDefinition[] =>
  tools?.length ? tools.map((tool) => tool.function) : (functions ?? []);

type Choice = 'auto' | 'none' | 'required' | { name: string };

const choiceOf = ({ tool_choice, function_call }: ToolRequest): Choice | undefined => {
  if (tool_choice != null) {
    if (typeof tool_choice === 'string') return tool_choice;
    return tool_choice.function ? { name: tool_choice.function.name } : 'required';
  }
  if (function_call == null || typeof function_call === 'string') return function_call ?? undefined;
  return { name: function_call.name };
};

/** The first contradiction between tool fields: the field and the reason. */
export const toolFault = (request: ToolRequest): { path: string[]; message: string } | undefined => {
  const functions = functionsOf(request);
  if (request.tools?.length && request.functions?.length)
    return { path: ['functions'], message: 'functions is the deprecated name of tools: send only one of them' };
  const path = [request.tool_choice == null && request.function_call != null ? 'function_call' : 'tool_choice'];
  const choice = choiceOf(request);
  if (choice === undefined || choice === 'auto' || choice === 'none') return undefined;
  if (functions.length === 0) return { path, message: 'only valid with tools: add tools or leave this field out' };
  if (choice !== 'required' && functions.every(({ name }) => name !== choice.name))
    return { path, message: `expected the name of one of the tools, got '${choice.name}'` };
  return undefined;
};

/** A tool as a runtime gets it. */
export interface UpstreamTool {
  type: 'function';
  function: { name: string; description?: string; parameters?: Record<string, unknown>; strict?: boolean };
}

/** Converts the tool fields for a runtime, with current names; empty if the request has no tools. */
export const toUpstreamTools = (request: ToolRequest): { tools?: UpstreamTool[]; tool_choice?: unknown; parallel_tool_calls?: boolean } => {
  const functions = functionsOf(request);
  if (functions.length === 0) return {};
  const choice = choiceOf(request);
  // vLLM 0.32 enforces the schema of a forced call only if its tool is strict; older versions always do.
  const isForced = (name: string): boolean => choice === 'required' || (typeof choice === 'object' && choice.name === name);
  // The deprecated `function_call` can hold only one call.
  const parallel = isLegacy(request) ? false : request.parallel_tool_calls;
  return {
    tools: functions.map(({ name, description, parameters, strict: asked }) => {
      const strict = isForced(name) || asked;
      return {
        type: 'function',
        function: {
          name,
          ...(description != null && { description }),
          ...(parameters && { parameters }),
          ...(strict != null && { strict }),
        },
      };
    }),
    ...(choice && { tool_choice: typeof choice === 'string' ? choice : { type: 'function', function: choice } }),
    ...(parallel != null && { parallel_tool_calls: parallel }),
  };
};
