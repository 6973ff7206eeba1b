import { type CustomTool, type ForeignTool, isForeign, type NamedTool, type NamespaceTool, type ResponseTool } from './tool-kinds.ts';

/** A tool as a function whose name is not encoded yet. */
export interface FlatTool {
  named: NamedTool;
  definition: {
    description?: string | null | undefined;
    parameters?: Record<string, unknown> | null | undefined;
    strict?: boolean | null | undefined;
  };
}

const joined = (...texts: (string | null | undefined)[]): string | undefined => texts.filter(Boolean).join('\n\n') || undefined;

const customDefinition = ({ description, format }: CustomTool): FlatTool['definition'] => {
  const grammar =
    format?.type === 'grammar' && format.definition
      ? `The text must match this grammar${format.syntax ? ` (${format.syntax})` : ''}:\n${format.definition}`
      : undefined;
  return {
    description: joined(description, 'Pass the whole text as the string `input`.', grammar),
    parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'], additionalProperties: false },
  };
};

// The fields of the action of a `local_shell_call`.
const SHELL_PARAMETERS = {
  type: 'object',
  properties: {
    command: { type: 'array', items: { type: 'string' }, description: 'The program and its arguments.' },
    working_directory: { type: 'string' },
    timeout_ms: { type: 'integer' },
    env: { type: 'object', additionalProperties: { type: 'string' } },
    user: { type: 'string' },
  },
  required: ['command'],
};

const namespaceFunctions = ({ name: namespace, description, tools }: NamespaceTool): FlatTool[] =>
  tools
    .flatMap((tool) => (isForeign(tool) ? [] : [tool]))
    .map((tool, index) => {
      const kind = tool.type;
      const definition = kind === 'custom' ? customDefinition(tool) : definitionOf(tool);
      // Once, because descriptions of namespaces can be long.
      const described = index === 0 ? joined(description, definition.description) : definition.description;
      return { named: { kind, name: tool.name, namespace }, definition: { ...definition, description: described } };
    });

const definitionOf = ({ description, parameters, strict }: FlatTool['definition']): FlatTool['definition'] => ({
  description,
  parameters,
  strict,
});

const toolFunctions = (tool: Exclude<ResponseTool, ForeignTool>): FlatTool[] => {
  switch (tool.type) {
    case 'function':
      return [{ named: { kind: 'function', name: tool.name }, definition: definitionOf(tool) }];
    case 'custom':
      return [{ named: { kind: 'custom', name: tool.name }, definition: customDefinition(tool) }];
    case 'namespace':
      return namespaceFunctions(tool);
    case 'tool_search':
      return [{ named: { kind: 'tool_search', name: 'tool_search' }, definition: definitionOf(tool) }];
    case 'local_shell': {
      const definition = { description: "Runs a command on the user's computer.", parameters: SHELL_PARAMETERS };
      return [{ named: { kind: 'local_shell', name: 'local_shell' }, definition }];
    }
  }
};

/** The tools as functions, those of a namespace in its place, without those that do not run here. */
export const flatten = (tools: readonly ResponseTool[]): FlatTool[] =>
  tools.flatMap((tool): FlatTool[] => (isForeign(tool) ? [] : toolFunctions(tool)));

/** The types of the tools that do not run here. */
export const foreignTypes = (tools: readonly ResponseTool[]): string[] =>
  tools.flatMap((tool) => (isForeign(tool) ? [tool.foreign] : tool.type === 'namespace' ? foreignTypes(tool.tools as ResponseTool[]) : []));
