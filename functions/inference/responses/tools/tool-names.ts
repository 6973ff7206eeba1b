import { createHash } from 'node:crypto';
import type { FunctionDefinition } from '../../chat/tool.ts';
import { type FlatTool, flatten } from './flatten.ts';
import type { NamedTool, ResponseTool } from './tool-kinds.ts';

const MAX_NAME = 64;
const HASH_CHARACTERS = 12;

/** The functions of a request's tools, and their names. */
export interface ToolNames {
  /** In the order in which the request has the tools. */
  functions: readonly FunctionDefinition[];
  /** The name of a tool's function. A tool that the request does not have gets the name that it had by itself. */
  encode: (tool: NamedTool) => string;
  /** The tool with this name of a function. */
  find: (name: string) => NamedTool | undefined;
}

const clean = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, '_');

// Codex' default namespace: its clients know these tools without a namespace.
const namespaceOf = ({ namespace }: NamedTool): string | undefined => (namespace === 'functions' ? undefined : namespace || undefined);

const idOf = (tool: NamedTool): string => [tool.kind, namespaceOf(tool) ?? '', tool.name].join('\0');

const fullNameOf = (tool: NamedTool): string => {
  const namespace = namespaceOf(tool);
  return namespace === undefined ? tool.name : `${namespace}__${tool.name}`;
};

const hashedName = (tool: NamedTool, attempt = 0): string => {
  const hash = createHash('sha256')
    .update(`${idOf(tool)}\0${attempt}`)
    .digest('hex')
    .slice(0, HASH_CHARACTERS);
  return `${clean(fullNameOf(tool)).slice(0, MAX_NAME - HASH_CHARACTERS - 1)}_${hash}`;
};

const isFunctionName = (name: string): boolean => name.length <= MAX_NAME && clean(name) === name;

const nameAlone = (tool: NamedTool): string => (isFunctionName(fullNameOf(tool)) ? fullNameOf(tool) : hashedName(tool));

const isPlain = (tool: NamedTool): boolean => tool.kind === 'function' && namespaceOf(tool) === undefined;

const namesOf = (tools: readonly NamedTool[]): Map<string, string> => {
  const count = new Map<string, number>();
  for (const tool of tools) count.set(fullNameOf(tool), (count.get(fullNameOf(tool)) ?? 0) + 1);
  const keepsName = (tool: NamedTool): boolean => isFunctionName(fullNameOf(tool)) && (isPlain(tool) || count.get(fullNameOf(tool)) === 1);
  const taken = new Set(tools.filter(keepsName).map(fullNameOf));
  const names = new Map<string, string>();
  for (const tool of tools) {
    let name = keepsName(tool) ? fullNameOf(tool) : hashedName(tool);
    for (let attempt = 1; !keepsName(tool) && taken.has(name); attempt++) name = hashedName(tool, attempt);
    taken.add(name);
    names.set(idOf(tool), name);
  }
  return names;
};

/**
 * Names the functions of a request's tools: unique, and at most 64 letters, digits, underscores and dashes. A name
 * depends on the set of tools, not on their order, so that prompts keep their cached prefix. Functions without a
 * namespace keep their names.
 * @param tools those of the request, then those that its input loads; of two with the same names the first counts
 */
export const createToolNames = (tools: readonly ResponseTool[]): ToolNames => {
  const flat = new Map<string, FlatTool>();
  for (const tool of flatten(tools)) if (!flat.has(idOf(tool.named))) flat.set(idOf(tool.named), tool);
  const offered = [...flat.values()];
  const names = namesOf(offered.map(({ named }) => named));
  const encode = (tool: NamedTool): string => names.get(idOf(tool)) ?? nameAlone(tool);
  const found = new Map(
    offered.map(({ named }): [string, NamedTool] => {
      const namespace = namespaceOf(named);
      return [encode(named), { kind: named.kind, name: named.name, ...(namespace !== undefined && { namespace }) }];
    }),
  );
  return {
    functions: offered.map(({ named, definition }) => ({ ...definition, name: encode(named) })),
    encode,
    find: (name) => found.get(name),
  };
};
