import * as z from 'zod';
import { firstFault } from '../../../../shared/http/first-fault.ts';
import { Label } from '../../../../shared/http/label.ts';
import { AnySchema, FunctionName } from '../../chat/tool.ts';

const MAX_TOOLS = 128;
/** The most functions that the tools of one request can have. */
export const MAX_FUNCTIONS = 512;
const MAX_ISSUES = 1;

export const FunctionTool = z.looseObject({
  type: z.literal('function'),
  name: FunctionName,
  description: z.string().nullish(),
  parameters: AnySchema.nullish(),
  strict: z.boolean().nullish(),
});
export type FunctionTool = z.output<typeof FunctionTool>;

/** A tool whose input is free text, which a grammar can describe. */
export const CustomTool = z.looseObject({
  type: z.literal('custom'),
  name: Label.min(1),
  description: z.string().nullish(),
  format: z
    .looseObject({ type: z.enum(['text', 'grammar']), syntax: z.string().max(64).nullish(), definition: z.string().nullish() })
    .nullish(),
});
export type CustomTool = z.output<typeof CustomTool>;

// Their names are encoded, so they can have other characters.
const NamespaceFunction = FunctionTool.extend({ name: Label.min(1) });

// Clients ask for a search of tools that they run themselves.
const ToolSearchTool = z.looseObject({
  type: z.literal('tool_search'),
  execution: z.literal('client'),
  description: z.string().nullish(),
  parameters: AnySchema.nullish(),
});
export type ToolSearchTool = z.output<typeof ToolSearchTool>;

const LocalShellTool = z.looseObject({ type: z.literal('local_shell') });
type LocalShellTool = z.output<typeof LocalShellTool>;

// A built-in tool of OpenAI or of a client can't run here. It is dropped, and listed in `x-sluice-ignored`.
export interface ForeignTool {
  foreign: string;
}

/** A tool of a namespace. */
export type NamespaceMember = z.output<typeof NamespaceFunction> | CustomTool | ForeignTool;

/** Tools that share a description and a prefix of their names. */
export interface NamespaceTool {
  type: 'namespace';
  name: string;
  description?: string | null | undefined;
  tools: NamespaceMember[];
}

/** A tool of a request. */
export type ResponseTool = FunctionTool | CustomTool | NamespaceTool | ToolSearchTool | LocalShellTool | ForeignTool;

const AnyTool = z.looseObject({ type: z.string().max(64) });
type AnyTool = z.output<typeof AnyTool>;

// Only the type of an unknown tool is kept.
const toolOf = <Tool>(schemaOf: (tool: AnyTool) => z.ZodType<Tool> | undefined) =>
  AnyTool.transform((tool, context): Tool | ForeignTool => {
    const schema = schemaOf(tool);
    if (!schema) return { foreign: tool.type };
    const { data, error } = schema.safeParse(tool);
    if (!error) return data;
    for (const { path, message } of error.issues.slice(0, MAX_ISSUES))
      context.issues.push({ code: 'custom', path: [...path], message, input: tool });
    return z.NEVER;
  });

type Schemas<Tool> = Readonly<Record<string, z.ZodType<Tool>>>;

// A type is the caller's text, and every object inherits properties such as `constructor`.
const schemaOfType = <Tool>(schemas: Schemas<Tool>, type: string): z.ZodType<Tool> | undefined =>
  Object.hasOwn(schemas, type) ? schemas[type] : undefined;

const memberSchemas: Schemas<z.output<typeof NamespaceFunction> | CustomTool> = {
  function: NamespaceFunction,
  custom: CustomTool,
};

/** A namespace as a request has it. */
export const NamespaceOfTools = z.looseObject({
  type: z.literal('namespace'),
  name: Label.min(1),
  description: z.string().nullish(),
  tools: firstFault(z.array(toolOf(({ type }) => schemaOfType(memberSchemas, type))).max(MAX_FUNCTIONS)),
});

const schemas: Schemas<Exclude<ResponseTool, ForeignTool>> = {
  function: FunctionTool,
  custom: CustomTool,
  namespace: NamespaceOfTools,
  local_shell: LocalShellTool,
};

const Tool = toolOf((tool) =>
  tool.type === 'tool_search' && tool.execution === 'client' ? ToolSearchTool : schemaOfType(schemas, tool.type),
);

export const ResponseTools = firstFault(z.array(Tool).max(MAX_TOOLS));

/** The tools that a valid item has. */
export const parseTools = (tools: readonly unknown[]): ResponseTool[] =>
  tools.flatMap((tool) => {
    const { data } = Tool.safeParse(tool);
    return data ? [data] : [];
  });

/** The tools of an item of the input. */
export const LoadedTools = firstFault(z.array(Tool).max(MAX_FUNCTIONS));

export const ResponseToolChoice = z.union(
  [
    z.enum(['auto', 'none', 'required']),
    z.looseObject({ type: z.enum(['function', 'custom']), name: Label.min(1), namespace: Label.nullish() }),
  ],
  {
    error: `expected 'auto', 'none', 'required' or { "type": "function", "name": … }`,
  },
);

export type ResponseToolChoice = z.output<typeof ResponseToolChoice>;

/** True for a tool that does not run here. */
export const isForeign = <Tool extends object>(tool: Tool | ForeignTool): tool is ForeignTool => 'foreign' in tool;

/** The kinds of tools that become functions. */
export type ToolKind = 'function' | 'custom' | 'tool_search' | 'local_shell';

/** A tool by the names that its client knows. */
export interface NamedTool {
  kind: ToolKind;
  name: string;
  namespace?: string | undefined;
}
